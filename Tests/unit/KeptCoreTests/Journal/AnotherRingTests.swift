// Another ring in place of one that was too small, contained a secret, or could not be synced.

import Foundation
@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite("Another ring of a journal")
final class AnotherRingTests {
  private let folder: TemporaryFolder
  private var path: String { folder.path + "/store" }

  init() throws { folder = try TemporaryFolder() }

  private func within(_ milliseconds: Int64) -> Int64 { MonotonicTime.milliseconds + milliseconds }

  enum State: CaseIterable { case begun, withoutHead }

  @Test(arguments: State.allCases) func `is made by the next writer where a process was killed while it made one`(
    state: State
  ) throws {
    let killed = try LocalStorage(path: path)
    let other = try LocalStorage(path: path)
    try killed.commit(key("a"), .set(1))
    try killed.commit(key("b"), .set(2))
    let journal = killed.loader.journal
    try killed.commitPath.settle()
    try journal.lockForWriting(until: within(5000))
    journal.beginMove()
    if state == .withoutHead {
      let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path + "/journal"))
      try file.write(contentsOf: Data(count: JournalHeader.ringOffset))
      try file.close()
    }
    journal.unlockForWriting()

    #expect(try other.value(key("a")) == 1, "readers go on")
    #expect(try killed.value(key("never read")) == nil)
    try other.commit(key("b"), .set(3))
    try other.flush()
    #expect(try killed.value(key("b")) == 3)
    #expect(try killed.keys(prefix: "").count == 2)
    other.close()
    killed.close()
    let reopened = try LocalStorage(path: path)
    #expect(try reopened.value(key("b")) == 3)
    #expect(try reopened.salvaged() == nil)
  }

  @Test func `that was truncated is damage, and nothing waits for it`() throws {
    let storage = try LocalStorage(path: path)
    let other = try LocalStorage(path: path)
    try storage.commit(key("a"), .set(1))
    #expect(truncate(path + "/journal", off_t(JournalHeader.ringOffset)) == 0)
    #expect(throws: StoreError.self) { try other.value(key("b")) }
    storage.close()
    other.close()
  }
}
