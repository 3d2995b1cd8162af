// What a LocalStorage refuses, each with a code and a sentence, and with nothing lost.

import Foundation
import Testing

@testable import KeptCore

@Suite struct `A LocalStorage refuses` {
  let folder: TemporaryFolder
  let path: String
  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/store"
  }

  @Test func `a path that is a file`() throws {
    try Data("text".utf8).write(to: URL(fileURLWithPath: path))
    #expect(code { try LocalStorage(path: path) } == .unavailable)
    #expect(code { try LocalStorage(path: path + "/below") } == .unavailable)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "text")
  }

  @Test func `somebody else's database`() throws {
    try makeFolder()
    _ = try run("/usr/bin/sqlite3", path + "/values.sqlite", "create table theirs (a); insert into theirs values (1)")
    let error = #expect(throws: StoreError.self) { try LocalStorage(path: path) }
    #expect(error?.code == .unsupported)
    #expect(error?.message.contains("not a store of Kept") == true)
    #expect(try run("/usr/bin/sqlite3", path + "/values.sqlite", "select * from theirs") == "1\n")
  }

  @Test func `a format of a later version`() throws {
    try LocalStorage(path: path).close()
    _ = try run("/usr/bin/sqlite3", path + "/values.sqlite", "pragma user_version = 99")
    let error = #expect(throws: StoreError.self) { try LocalStorage(path: path) }
    #expect(error?.code == .unsupported)
    #expect(error?.message.contains("format 99") == true)
  }

  @Test func `a file that is no database`() throws {
    try makeFolder()
    let text = String(repeating: "this is no database. ", count: 100)
    try text.write(toFile: path + "/values.sqlite", atomically: false, encoding: .utf8)
    #expect(code { try LocalStorage(path: path) } == .corrupt)
    #expect(try String(contentsOfFile: path + "/values.sqlite", encoding: .utf8) == text)
  }

  @Test func `to wait for another writer for longer than the time-out`() throws {
    let storage = try LocalStorage(path: path, busyTimeoutMilliseconds: 10)
    let other = try SQLiteConnection(path: path + "/values.sqlite", busyTimeoutMilliseconds: 0)
    try other.run("BEGIN IMMEDIATE")
    #expect(code { try storage.commit(key("a"), .set(1)) } == .busy)
    #expect(try storage.value(key("a")) == nil, "readers do not wait")
    try other.run("ROLLBACK")
    #expect(try storage.commit(key("a"), .set(1)).revision == 1, "writing works again")
  }

  private func makeFolder() throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }
}
