// A commit that is too long for any ring is planned before the write lock is taken, and its changes are written into
// the database. Commits that others make in between are neither lost nor overlooked.

import CSQLite
@testable import KeptSchema
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite(.timeLimit(.minutes(30))) struct `A commit of very many keys` {
  private static let keys = 20_000

  let folder: TemporaryFolder
  let storage: LocalStorage
  /// Commits like another process.
  let other: LocalStorage

  init() throws {
    folder = try TemporaryFolder()
    storage = try LocalStorage(path: folder.path + "/store")
    other = try LocalStorage(path: folder.path + "/store")
  }

  private func name(_ number: Int) throws -> KeyName { try key("k\(number)") }

  private func value(_ number: Int, _ round: Int) -> Value {
    .string("\(number) of \(round) " + String(repeating: "x", count: 120))
  }

  private func batch(_ round: Int) throws -> Batch {
    var batch = Batch()
    for number in 0..<Self.keys { batch.edit(try name(number), .set(value(number, round))) }
    return batch
  }

  @Test func `is one commit, which others read as a whole, also after the store was closed`() throws {
    #expect(try storage.commit(batch(1)).revision == 1)
    #expect(try other.revision() == 1)
    #expect(try other.value(name(7)) == value(7, 1))
    storage.close()
    other.close()
    let again = try LocalStorage(path: folder.path + "/store")
    let stored = try again.entries(in: [.prefix("")])
    #expect(stored.entries.count == Self.keys)
    #expect(stored.entries.allSatisfy { $0.entry.revision == 1 })
  }

  @Test func `leaves keys alone that have the value already`() throws {
    _ = try storage.commit(batch(1))
    var second = try batch(2)
    second.edit(try name(3), .set(value(3, 1)))
    let commit = try storage.commit(second)
    #expect(commit.revision == 2 && commit.changes.count == Self.keys - 1)
    #expect(try other.entry(for: name(3))?.revision == 1)
    #expect(try other.entry(for: name(4)) == Entry(value: value(4, 2), revision: 2))
    #expect(try other.commit(second).changes.isEmpty)
  }

  @Test func `mends a value that cannot be read`() throws {
    _ = try storage.commit(batch(1))
    try storage.loader.settler.settle()
    try storage.loader.settler.withConnection { connection throws(StoreError) in
      try connection.run("UPDATE entry SET kind = 'nothing' WHERE key = 'k5'")
    }
    let writer = try LocalStorage(path: folder.path + "/store")
    #expect(throws: StoreError.self) { try writer.value(name(5)) }
    _ = try writer.commit(batch(1))
    #expect(try writer.entry(for: name(5)) == Entry(value: value(5, 1), revision: 2))
    #expect(try writer.entry(for: name(6))?.revision == 1)
  }

  @Test func `includes what others commit to other keys after it was planned`() throws {
    let hook = Hook { _ = try? other.commit(key("other"), .set(1)) }
    try hook.set(on: storage)
    #expect(try storage.commit(batch(1)).revision == 2)
    #expect(hook.hasRun)
    #expect(try storage.entry(for: key("other")) == Entry(value: 1, revision: 1))
    #expect(try other.entry(for: name(0)) == Entry(value: value(0, 1), revision: 2))
  }

  @Test func `is planned again where others have changed its keys`() throws {
    let hook = Hook { _ = try? other.commit(name(3), .set(value(3, 1))) }
    try hook.set(on: storage)
    let commit = try storage.commit(batch(1))
    #expect(hook.hasRun)
    #expect(commit.revision == 2 && commit.changes.count == Self.keys - 1)
    #expect(try storage.entry(for: name(3)) == Entry(value: value(3, 1), revision: 1))
    #expect(try other.entry(for: name(4))?.revision == 2)
  }

  @Test func `is a conflict where its condition no longer holds, and changes nothing`() throws {
    try storage.commit(key("read"), .set(1))
    let hook = Hook { _ = try? other.commit(key("read"), .set(2)) }
    try hook.set(on: storage)
    var batch = try batch(1)
    batch.conditions = [.unchanged(try key("read"), after: 1)]
    let conflict = #expect(throws: StoreError.self) { _ = try storage.commit(batch) }
    #expect(conflict?.code == .conflict)
    #expect(hook.hasRun)
    #expect(try other.keys(prefix: "").map(\.text) == ["read"])
    #expect(try other.revision() == 2)
  }

  @Test func `is a conflict first, and refused for its values only then`() throws {
    var declaring = Batch()
    declaring.declare(try name(3), try Declaration(json: #"{"type": "integer"}"#))
    _ = try other.commit(declaring)
    var batch = try batch(1)
    batch.conditions = [.revision(try name(4), 5)]
    let conflict = #expect(throws: StoreError.self) { _ = try storage.commit(batch) }
    #expect(conflict?.code == .conflict)
    batch.conditions = []
    let refusal = #expect(throws: StoreError.self) { _ = try storage.commit(batch) }
    #expect(refusal?.code == .wrongType)
    #expect(try other.keys(prefix: "").isEmpty)
  }
}

/// Runs once, when a store writes the changes of a large commit: after it was planned, and before it locks.
private final class Hook {
  private let run: () -> Void
  private(set) var hasRun = false

  init(_ run: @escaping () -> Void) { self.run = run }

  func set(on storage: LocalStorage) throws {
    try storage.loader.settler.withConnection { connection throws(StoreError) in
      // It is asked when the statement is prepared that writes the first change.
      _ = sqlite3_set_authorizer(
        connection.handle,
        { hook, action, table, _, _, _ in
          guard let hook, let table, action == SQLITE_INSERT, String(cString: table) == "body" else { return SQLITE_OK }
          let found = Unmanaged<Hook>.fromOpaque(hook).takeUnretainedValue()
          if !found.hasRun {
            found.hasRun = true
            found.run()
          }
          return SQLITE_OK
        }, Unmanaged.passUnretained(self).toOpaque())
    }
  }
}
