// What a LocalStorage refuses, each with a code and a message, and without losing data.

import Foundation
@testable import KeptValues
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

  @Test func `a place where nothing can be made, though each folder only seems to be missing`() {
    let error = #expect(throws: StoreError.self) { try LocalStorage(path: "/proc/nowhere/store") }
    #expect(error?.code == .unavailable)
    #expect(error?.message.contains("could not create the folder /proc/nowhere") == true)
  }

  @Test func `the database of another program`() throws {
    try makeFolder()
    _ = try run("/usr/bin/sqlite3", path + "/values.sqlite", "create table theirs (a); insert into theirs values (1)")
    let error = #expect(throws: StoreError.self) { try LocalStorage(path: path) }
    #expect(error?.code == .unsupported)
    #expect(error?.message.contains("not a Kept store") == true)
    #expect(try run("/usr/bin/sqlite3", path + "/values.sqlite", "select * from theirs") == "1\n")
  }

  @Test(arguments: [0, 2, 99]) func `another format`(version: Int) throws {
    try LocalStorage(path: path).close()
    try shell(path + "/values.sqlite", "pragma user_version = \(version)")
    let error = #expect(throws: StoreError.self) { try LocalStorage(path: path) }
    #expect(error?.code == .unsupported)
    #expect(error?.message.contains("has format \(version), but this version of Kept knows format 1") == true)
    let reading = #expect(throws: StoreError.self) { try ReadOnlyStorage(StoreFolder(path: path)) }
    #expect(reading?.code == .unsupported)
    #expect(reading?.message == error?.message)
  }

  @Test(arguments: [(0x6969 as UInt32, "NFS"), (0xFE53_4D42, "SMB"), (0xFF53_4D42, "CIFS"), (0x00C3_6400, "Ceph")])
  func `a network file system, and makes no file there`(kind: UInt32, name: String) throws {
    let folder = StoreFolder(path: path, on: FileSystem(kind: kind))
    let error = #expect(throws: StoreError.self) { try LocalStorage(folder, busyTimeoutMilliseconds: 0) }
    #expect(error?.code == .unsupported)
    #expect(error?.message.contains("network file system (\(name))") == true)
    #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
  }

  @Test func `no disk of this machine`() throws {
    for path in ["/", "/dev/shm", folder.path] { try FileSystem(of: path).checkLocal(path) }
    #expect(code { try FileSystem(of: folder.path + "/nowhere") } == .unavailable)
  }

  @Test func `a file that is not a database, and sets it aside`() throws {
    try makeFolder()
    let text = String(repeating: "this is not a database. ", count: 100)
    try text.write(toFile: path + "/values.sqlite", atomically: false, encoding: .utf8)
    let note = try #require(try LocalStorage(path: path).salvaged())
    #expect(try String(contentsOfFile: "\(note.quarantine)/values.sqlite", encoding: .utf8) == text)
  }

  @Test func `to wait for another writer for longer than the timeout`() throws {
    let storage = try LocalStorage(path: path, busyTimeoutMilliseconds: 10)
    let other = try JournalLock.open(in: StoreFolder(path: path))
    let page = storage.loader.journal.page
    try #require(other.share() && other.takeWriting(page) != nil)
    #expect(code { try storage.commit(key("a"), .set(1)) } == .busy)
    #expect(try storage.value(key("a")) == nil, "readers do not wait")
    page.releaseWriting(other.holder)
    #expect(try storage.commit(key("a"), .set(1)).revision == 1, "writing works again")
    try #require(other.takeWriting(page) != nil)
    other.close()
    #expect(try storage.commit(key("a"), .set(2)).revision == 2, "nothing waits for a writer that has ended")
  }

  private func makeFolder() throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }
}
