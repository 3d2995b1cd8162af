// The other processes that have a store open.

import Foundation
import KeptValues
import Testing

@testable import KeptCore

@Suite struct `The processes of a store` {
  let folder: TemporaryFolder
  let place: StorePlace
  init() throws {
    folder = try TemporaryFolder()
    try Store.open(folder.path + "/store").close()
    place = try StorePlace(folder.path + "/store")
  }

  @Test func `are those that have a file of it open, until they end`() throws {
    #expect(try place.processes().isEmpty)
    let child = try ChildProcess(opening: folder.path + "/store")
    #expect(try child.ask("revision") == "0")
    let writer = try #require(try place.processes().first)
    #expect(try place.processes().count == 1)
    #expect((writer.pid, writer.name, writer.isWriting) == (child.pid, "kept-test-child", true))
    let since = try #require(writer.since)
    #expect(abs(Date.now.timeIntervalSince1970 - Double(since.seconds)) < 3600)
    #expect(writer.description == "kept-test-child (\(child.pid))")
    try child.finish()
    #expect(try place.processes().isEmpty)
  }

  @Test func `do not write if they have it open only for reading`() throws {
    let reader = Process()
    reader.executableURL = URL(fileURLWithPath: "/usr/bin/tail")
    reader.arguments = ["-f", "/dev/null"]
    reader.standardInput = try FileHandle(
      forReadingFrom: URL(fileURLWithPath: folder.path + "/store/journal.0"))
    try reader.run()
    defer {
      // Foundation starts programs with most signals blocked.
      kill(reader.processIdentifier, SIGKILL)
      reader.waitUntilExit()
    }
    let found = try place.processes()
    #expect(found.map(\.pid) == [reader.processIdentifier])
    #expect(found.map(\.isWriting) == [false])
  }

  @Test func `do not include this one, nor those of another store`() throws {
    let store = try Store.open(folder.path + "/store")
    defer { store.close() }
    let child = try ChildProcess(opening: folder.path + "/store2")
    #expect(try child.ask("revision") == "0")
    #expect(try place.processes().isEmpty)
    try child.finish()
  }
}
