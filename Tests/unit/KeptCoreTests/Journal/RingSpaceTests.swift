// The disk space of the ring is given back when the last process closes the store, and only if the database has
// everything that was in it.

@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite struct `A closed store` {
  private static let commits = 2000
  private static let most = 64 << 10

  let folder: TemporaryFolder
  let storage: LocalStorage

  init() throws {
    folder = try TemporaryFolder()
    storage = try LocalStorage(path: folder.path + "/store")
    for number in 1...Self.commits { try set(number, in: storage) }
  }

  private var ring: String { folder.path + "/store/journal" }
  private var bytesOnDisk: Int { FileStatus(of: ring)?.bytesOnDisk ?? 0 }

  private func set(_ number: Int, in storage: LocalStorage) throws {
    var batch = Batch()
    batch.edit(try key("number"), .set(.int(Int64(number))))
    _ = try storage.commit(batch)
  }

  private func number(in storage: LocalStorage) throws -> Value? { try storage.value(try key("number")) }

  @Test func `keeps no space for the ring, and its length and its values stay`() throws {
    let length = FileStatus(of: ring)?.size
    #expect(bytesOnDisk > Self.most)
    storage.close()
    #expect(bytesOnDisk <= Self.most)
    #expect(FileStatus(of: ring)?.size == length)
    let again = try LocalStorage(path: folder.path + "/store")
    #expect(try again.revision() == Revision(Self.commits))
    #expect(try number(in: again) == .int(Int64(Self.commits)))
    try set(0, in: again)
    #expect(try again.revision() == Revision(Self.commits) + 1)
    again.close()
    #expect(try number(in: LocalStorage(path: folder.path + "/store")) == .int(0))
  }

  @Test func `keeps few frames, where a salvage finds values that a damaged database has lost`() throws {
    let path = folder.path + "/small"
    let small = try LocalStorage(path: path)
    try set(7, in: small)
    small.close()
    #expect(FileStatus(of: path + "/journal").map { $0.bytesOnDisk <= Self.most } == true)
    let damaging = try SQLiteConnection(path: path + "/values.sqlite", busyTimeoutMilliseconds: 0)
    try damaging.run("DROP TABLE entry")
    damaging.leaveLog()
    let salvaged = try LocalStorage(path: path)
    #expect(try salvaged.salvaged() != nil)
    #expect(try number(in: salvaged) == .int(7))
  }

  @Test func `keeps the ring while another process has the store open, which gives it back when it closes`() throws {
    let other = try LocalStorage(path: folder.path + "/store")
    storage.close()
    #expect(bytesOnDisk > Self.most)
    #expect(try number(in: other) == .int(Int64(Self.commits)))
    other.close()
    #expect(bytesOnDisk <= Self.most)
  }

  @Test func `keeps commits in the ring that could not be settled`() throws {
    let unsettled = try LocalStorage(path: folder.path + "/store", busyTimeoutMilliseconds: 0)
    storage.close()
    // As a program that the system stopped in the middle of writing the database.
    let blocking = try SQLiteConnection(path: folder.path + "/store/values.sqlite", busyTimeoutMilliseconds: 0)
    try blocking.run("BEGIN IMMEDIATE")
    try set(-1, in: unsettled)
    unsettled.close()
    #expect(bytesOnDisk > Self.most)
    try blocking.run("ROLLBACK")
    #expect(try number(in: LocalStorage(path: folder.path + "/store")) == .int(-1))
  }
}
