// What a LocalStorage refuses, each with a code and a message, and without losing data.

import Foundation
@testable import KeptEngine
@testable import KeptSystem
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

  private func makeFile(_ name: String, _ text: String) throws -> String {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
    return "\(path)/\(name)"
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

  @Test func `a store of the format before, and leaves it as it is`() throws {
    let database = try makeFile("values.sqlite", "SQLite format 3")
    let error = #expect(throws: StoreError.self) { try LocalStorage(path: path) }
    #expect(error?.code == .unsupported)
    #expect(error?.message.contains("earlier format (values.sqlite)") == true)
    #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["values.sqlite"])
    #expect(try String(contentsOfFile: database, encoding: .utf8) == "SQLite format 3")
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

  @Test func `a file that is not a checkpoint, and sets it aside`() throws {
    let text = String(repeating: "this is not a checkpoint. ", count: 100)
    _ = try makeFile("values", text)
    let note = try #require(try LocalStorage(path: path).salvaged())
    #expect(try String(contentsOfFile: "\(note.quarantine)/values", encoding: .utf8) == text)
  }

  @Test func `to wait for another writer for longer than the timeout`() throws {
    let storage = try LocalStorage(path: path, busyTimeoutMilliseconds: 10)
    let other = try LocalStorage(path: path)
    let lock = other.engine.pulse
    try #require(lock.tryLockForWriting())
    #expect(code { try storage.commit(key("a"), .set(1)) } == .busy)
    #expect(try storage.value(key("a")) == nil, "readers do not wait")
    lock.unlockForWriting()
    #expect(try storage.commit(key("a"), .set(1)).revision == 1, "writing works again")
    try #require(lock.tryLockForWriting())
    other.engine.close()
    #expect(try storage.commit(key("a"), .set(2)).revision == 2, "nothing waits for a writer that has ended")
    withExtendedLifetime((storage, other)) {}
  }
}
