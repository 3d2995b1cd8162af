// The background work of an open store.

import Testing

@testable import KeptCore

@Suite("The maintenance of a store")
struct MaintenanceTests {
  // The first one checks that the folder is in place. An observer's thread may see the frame of a commit, and note it,
  // before the writer does: then the writer reported success for a commit to a folder that had been removed.
  @Test("counts a commit as the first, whatever frames and reads were noted before")
  func firstCommit() {
    let maintenance = MaintenanceThread(settle: { false }, look: {})
    defer { maintenance.end() }
    maintenance.noteUse()
    maintenance.noteFrames()
    #expect(!maintenance.hasCommit)
    maintenance.noteCommit()
    #expect(maintenance.hasCommit)
  }
}
