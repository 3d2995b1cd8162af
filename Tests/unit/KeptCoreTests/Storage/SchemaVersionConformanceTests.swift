// Requirements on every storage that keeps a schema version.

@testable import KeptValues
import Testing

@testable import KeptCore

@Suite(.timeLimit(.minutes(30))) struct `Every storage with a schema version` {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private func commit(_ version: UInt32?, _ conditions: Condition..., in storage: any Storage) throws -> Commit {
    var batch = Batch()
    batch.schemaVersion = version
    batch.conditions = conditions
    return try storage.commit(batch)
  }

  @Test(arguments: StorageUnderTest.able(.schemaVersion))
  func `has none until a batch gives it one, which is not a revision`(_ kind: StorageUnderTest) throws {
    let storage = try kind.open(in: folder)
    #expect(try storage.schemaVersion() == 0)
    try storage.commit(key("a"), .set(1))
    let commit = try self.commit(.max, in: storage)
    #expect(commit.revision == 1 && commit.changes.isEmpty)
    #expect(try storage.schemaVersion() == .max && storage.revision() == 1)
    #expect(try self.commit(2, in: storage).changes.isEmpty)
    #expect(try storage.schemaVersion() == 2)
  }

  @Test(arguments: StorageUnderTest.able(.schemaVersion))
  func `changes it with the rest of the batch, or not at all`(_ kind: StorageUnderTest) throws {
    let storage = try kind.open(in: folder)
    var batch = Batch()
    batch.schemaVersion = 3
    batch.edit(try key("a"), .set(1))
    batch.conditions = [.schemaVersion(0), .revision(try key("a"), 9)]
    #expect(code { try storage.commit(batch) } == .conflict)
    #expect(try storage.schemaVersion() == 0 && storage.value(key("a")) == nil)
    batch.conditions = [.schemaVersion(0)]
    #expect(try storage.commit(batch).changes.count == 1)
    #expect(try storage.schemaVersion() == 3 && storage.value(key("a")) == 1)
    #expect(code { try storage.commit(batch) } == .conflict)
    #expect(code { try commit(4, .schemaVersion(0), in: storage) } == .conflict)
    #expect(try storage.schemaVersion() == 3)
  }

  @Test(arguments: StorageUnderTest.unable(.schemaVersion))
  func `or it refuses a version that it would not keep`(_ kind: StorageUnderTest) throws {
    let storage = try kind.open(in: folder)
    #expect(code { try storage.schemaVersion() } == .unsupported)
    #expect(code { try commit(1, in: storage) } == .unsupported)
    #expect(code { try commit(nil, .schemaVersion(0), in: storage) } == .unsupported)
  }
}
