// Requirements on every storage that keeps declarations.

import Foundation
@testable import KeptSchema
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite(.timeLimit(.minutes(30))) struct `Every storage with declarations` {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private let volume = #"{"type":"integer","minimum":0,"maximum":100,"default":50}"#

  private func declare(_ name: String, _ schema: String?, in storage: any Storage) throws -> Commit {
    var batch = Batch()
    batch.declare(try key(name), try schema.map { try Declaration(json: $0) })
    return try storage.commit(batch)
  }

  @Test(arguments: StorageUnderTest.able(.declarations))
  func `gives a declaration with the entry, stored or not`(_ kind: StorageUnderTest) throws {
    let storage = try kind.open(in: folder)
    #expect(storage.abilities.contains(.declarations))
    try storage.commit(key("stored"), .set(7))
    for name in ["stored", "absent"] { _ = try declare(name, volume, in: storage) }
    let declaration = try Declaration(json: volume)
    #expect(try storage.entry(for: key("stored")) == Entry(value: 7, revision: 1, declaration: declaration))
    #expect(try storage.entry(for: key("absent")) == Entry(value: nil, revision: 0, declaration: declaration))
    #expect(try storage.keys(prefix: "").map(\.text) == ["stored"])
    #expect(try storage.declarations(prefix: "").map(\.key.text) == ["absent", "stored"])
    #expect(try storage.declarations(prefix: "s").map(\.declaration) == [declaration])
    let stored = try storage.entries(in: [.prefix("")])
    let (entries, revision) = (stored.entries, stored.revision)
    #expect(entries.count == 2 && entries.allSatisfy { $0.entry.declaration == declaration } && revision == 3)
  }

  @Test(arguments: StorageUnderTest.able(.declarations))
  func `counts a declaration as a commit that changes its key, and the same one as none`(
    _ kind: StorageUnderTest
  ) throws {
    let storage = try kind.open(in: folder)
    try storage.commit(key("a"), .set(1))
    let commit = try declare("a", volume, in: storage)
    #expect(commit.revision == 2 && commit.changes.map(\.key.text) == ["a"])
    #expect(try declare("a", volume, in: storage).changes.isEmpty)
    guard case .changed(let delta) = try storage.changes(after: 1) else {
      Issue.record("too old")
      return
    }
    #expect(try delta.entries.map(\.entry.declaration) == [Declaration(json: volume)] && delta.upTo == 2)
    #expect(try storage.entry(for: key("a"))?.revision == 1, "the value has its own revision")
    _ = try declare("a", nil, in: storage)
    #expect(try storage.entry(for: key("a")) == Entry(value: 1, revision: 1))
    #expect(try declare("a", nil, in: storage).changes.isEmpty)
    try storage.commit(key("a"), .remove)
    #expect(try storage.entry(for: key("a")) == nil)
  }

  @Test(arguments: StorageUnderTest.able(.declarations))
  func `refuses what does not fit, and the rest of its batch`(_ kind: StorageUnderTest) throws {
    let storage = try kind.open(in: folder)
    _ = try declare("a", volume, in: storage)
    for (value, code) in [(Value.int(101), StoreError.Code.invalid), (.string("loud"), .wrongType)] {
      var batch = Batch()
      batch.edit(try key("b"), .set(1))
      batch.edit(try key("a"), .set(value))
      let error = #expect(throws: StoreError.self) { try storage.commit(batch) }
      #expect(error?.code == code && error?.key == "a")
    }
    #expect(try storage.entry(for: key("b")) == nil)
    try storage.commit(key("a"), .set(3.0))
    #expect(try storage.value(key("a")) == .int(3), "what fits is stored in the key's own kind")
    #expect(try storage.commit(key("a"), .set(.int(3))).changes.isEmpty)
  }

  @Test(arguments: StorageUnderTest.able(.declarations))
  func `takes a value and its declaration in one batch`(_ kind: StorageUnderTest) throws {
    let storage = try kind.open(in: folder)
    var batch = Batch()
    batch.declare(try key("a"), try Declaration(json: volume))
    batch.edit(try key("a"), .set(101))
    #expect(throws: StoreError.self) { try storage.commit(batch) }
    #expect(try storage.entry(for: key("a")) == nil)
    batch.edit(try key("a"), .set(99))
    #expect(try storage.commit(batch).revision == 1)
    #expect(try storage.value(key("a")) == 99)
  }

  @Test(arguments: StorageUnderTest.able(.declarations))
  func `keeps a stored value that does not fit any more`(_ kind: StorageUnderTest) throws {
    let storage = try kind.open(in: folder)
    try storage.commit(key("a"), .set(500))
    let commit = try declare("a", volume, in: storage)
    #expect(commit.changes[0].new.value == 500 && commit.changes[0].new.shown == 50)
    #expect(try storage.entry(for: key("a"))?.shown == 50)
    #expect(throws: StoreError.self) { try declare("a", #"{"type":"string"}"#, in: storage) }
    _ = try declare("a", #"{"type":"integer"}"#, in: storage)
    #expect(try storage.entry(for: key("a"))?.shown == 500)
  }

  @Test(arguments: StorageUnderTest.withLocations)
  func `applies a declaration to every opener, and so its end`(_ kind: StorageUnderTest) throws {
    let (one, other) = (try kind.open(in: folder), try kind.open(in: folder))
    try other.commit(key("a"), .set(1))
    #expect(try other.value(key("a")) == 1)
    _ = try declare("a", volume, in: one)
    #expect(throws: StoreError.self) { try other.commit(key("a"), .set(101)) }
    _ = try declare("a", nil, in: one)
    try other.commit(key("a"), .set(101))
    #expect(try one.value(key("a")) == 101)
  }

  @Test(arguments: StorageUnderTest.able(.declarations))
  func `conflicts with a transaction that has read the key`(_ kind: StorageUnderTest) throws {
    let storage = try kind.open(in: folder)
    try storage.commit(key("a"), .set(1))
    _ = try declare("a", volume, in: storage)
    #expect(throws: StoreError.self) {
      try storage.commit(key("b"), .set(1), .unchanged(key("a"), after: 1))
    }
    try storage.commit(key("b"), .set(1), .revision(key("a"), 1))
  }

  @Test(arguments: StorageUnderTest.able(.declarations))
  func `keeps ten thousand declarations`(_ kind: StorageUnderTest) throws {
    let storage = try kind.open(in: folder)
    var batch = Batch()
    for number in 0..<10_000 {
      batch.declare(try key("key.\(number)"), try Declaration(json: #"{"type":"integer","default":\#(number)}"#))
    }
    #expect(try storage.commit(batch).changes.count == 10_000)
    #expect(try storage.entry(for: key("key.9999"))?.shown == 9999)
    #expect(try storage.declarations(prefix: "").count == 10_000)
  }
}
