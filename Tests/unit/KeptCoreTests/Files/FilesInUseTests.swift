// Files that are open through SQLite and files that are open otherwise, when both are the same file.

import Foundation
@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite struct `A file that is read outside SQLite` {
  let folder: TemporaryFolder
  let path: String
  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/store"
    let storage = try LocalStorage(path: path)
    try storage.commit(key("a"), .set(1))
    storage.close()
  }

  private var database: String { path + "/values.sqlite" }

  @Test(arguments: ["values.sqlite", "other name"]) func `keeps the store closed during the read`(name: String)
    throws
  {
    let file = path + "/" + name
    if file != database { try FileManager.default.linkItem(atPath: database, toPath: file) }
    let outcome = try ForeignFile.open(file, anything) { _, _ throws(StoreError) in
      code { try SQLiteConnection(path: database, busyTimeoutMilliseconds: 100) }
    }
    guard case .read(let code) = outcome else {
      Issue.record("not opened")
      return
    }
    #expect(code == .busy)
    if file != database { unlink(file) }
    #expect(try LocalStorage(path: path).value(key("a")) == 1)
  }

  @Test func `may be the file of a store that was closed, and not of one that is open`() throws {
    guard case .read = try ForeignFile.open(database, anything, { _, _ in }) else {
      Issue.record("not opened")
      return
    }
    let storage = try LocalStorage(path: path)
    for name in ["values.sqlite", "pulse", "journal"] {
      #expect(code { try ForeignFile.open(path + "/" + name, anything) { _, _ in } } == .invalid)
    }
    storage.close()
    guard case .read = try ForeignFile.open(database, anything, { _, _ in }) else {
      Issue.record("not opened")
      return
    }
  }

  @Test func `that is exchanged for one of an open store takes no lock away`() throws {
    let storage = try LocalStorage(path: path)
    try storage.commit(key("a"), .set(2))
    let other = folder.path + "/other"
    try Data("{}".utf8).write(to: URL(fileURLWithPath: other))
    let outcome = try ForeignFile.open(other) { _ throws(StoreError) in
      unlink(other)
      link(database, other)
    } _: { _, _ in
    }
    guard case .exchanged = outcome else {
      Issue.record("not exchanged")
      return
    }
    // While this process holds its locks, no process can open the database exclusively.
    let alone = "sqlite3 '\(database)' 'PRAGMA journal_mode = DELETE' 2>&1 || true"
    #expect(try run("/bin/sh", "-c", alone).contains("locked"))
    storage.close()
  }

  private func anything(_ file: FileStatus) throws(StoreError) {}
}

@Suite struct `A file with the inode number of a database that was removed` {
  // No file has it.
  private let identity = FileIdentity(device: .max, inode: UInt64.random(in: 0 ... .max))
  private let removed = "/no such folder/values.sqlite"

  @Test func `is allowed once the database is closed`() throws {
    let number = try FilesInUse.enter(removed, [identity], waiting: 0)
    Thread { FilesInUse.leave(number) }.start()
    try FilesInUse.checkForeign(identity, "export.json")
  }

  @Test func `is refused while the database stays open`() throws {
    let number = try FilesInUse.enter(removed, [identity], waiting: 0)
    defer { FilesInUse.leave(number) }
    let error = #expect(throws: StoreError.self) { try FilesInUse.checkForeign(identity, "export.json") }
    #expect(error?.code == .invalid)
  }
}
