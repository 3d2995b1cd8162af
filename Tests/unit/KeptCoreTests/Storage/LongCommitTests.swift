// Commits of many keys next to other writers: they keep every promise of a commit, also if others commit between their
// preparation and their turn.

import Foundation
@testable import KeptEngine
import KeptSchema
import KeptSecrets
import KeptSystem
import KeptValues
import Testing

@testable import KeptCore

@Suite struct LongCommitTests {
  private let folder: TemporaryFolder
  private var path: String { StorageUnderTest.local.path(in: folder) }
  init() throws { folder = try TemporaryFolder() }

  /// What happens while a commit is prepared: its time is asked for then, without a lock.
  ///
  /// It is asked for once more if others have committed, before the lock is taken.
  private final class Meanwhile: Sendable {
    let next = Monitor<[@Sendable () -> Void]>([])

    func run() {
      let body = next.update { $0.isEmpty ? nil : $0.removeFirst() }
      body?()
    }
  }
  private let meanwhile = Meanwhile()

  /// Opens the store; only the tests make its checkpoints.
  private func open(_ now: @escaping @Sendable () -> Int64 = { MonotonicTime.nanosecondsSince1970 }) throws
    -> LocalStorage
  {
    let storage = try LocalStorage(StoreFolder(path: path), busyTimeoutMilliseconds: 5000, now: now)
    storage.readers.maintenance.end()
    return storage
  }

  private func openWithMeanwhile() throws -> LocalStorage {
    try open { [meanwhile] in
      meanwhile.run()
      return MonotonicTime.nanosecondsSince1970
    }
  }

  // More than BulkChanges has at least.
  private static let count = 4200
  private func name(_ number: Int) throws -> KeyName { try KeyName("key.\(number)") }

  private func batch(_ value: Value = 1) throws -> Batch {
    var batch = Batch()
    for number in 0..<Self.count { batch.edit(try name(number), .set(value)) }
    return batch
  }

  /// Commits to another storage while the next commit is prepared.
  private func meanwhile(_ batch: Batch, to other: LocalStorage) {
    meanwhile.next.update {
      $0.append {
        do { _ = try other.commit(batch) } catch { Issue.record(error) }
      }
    }
  }

  private func edit(_ key: String, _ edit: Batch.Edit) throws -> Batch {
    var batch = Batch()
    batch.edit(try KeyName(key), edit)
    return batch
  }

  /// The batches that others commit in between, and what the long one refers to.
  static let others = ["another key", "a key", "the same value", "a declaration", "a secret", "many keys", "a version"]

  // The second argument says whether it happens after the long one was brought up to date without the lock.
  @Test(arguments: others, [false, true])
  func `a commit in between is followed as if it had been first`(_ kind: String, _ isLate: Bool) throws {
    let (storage, other) = (try openWithMeanwhile(), try open())
    try other.replace(nil, by: .plain(), nil)
    let model = MemoryStorage()
    func both(_ batch: Batch) throws { _ = (try other.commit(batch), try model.commit(batch)) }
    try both(edit("key.3", .set(0)))
    var between = Batch()
    switch kind {
    case "another key": between = try edit("another", .set(5))
    case "a key": between = try edit("key.3", .remove)
    case "the same value":
      between = try edit("key.3", .set(1))
      between.edit(try name(4), .set(1))
    case "a declaration":
      between.declare(try name(3), try Declaration(json: #"{"type":"integer","maximum":1}"#))
    case "a secret":
      between = try edit("key.3", .set(77))
      between.declare(try name(3), try Declaration(json: #"{"type":"integer","secret":true}"#))
    case "many keys": between = try batch(2)
    default: between.schemaVersion = 3
    }
    var long = try batch()
    if kind == "a version" { long.schemaVersion = 4 }
    if isLate {
      let first = try edit("key.2", .set(1))
      meanwhile(first, to: other)
      _ = try model.commit(first)
    }
    meanwhile(between, to: other)
    let commit = try storage.commit(long)
    _ = try model.commit(between)
    let expected = try model.commit(long)
    #expect(meanwhile.next.read(\.isEmpty))
    #expect(commit.revision == expected.revision)
    // A model remembers removals. Outside of #expect, which would describe all of it.
    let changes = expected.changes.map { change in
      StoredChange(key: change.key, old: change.old?.isThere == true ? change.old : nil, new: change.new)
    }
    let areSame = commit.changes == changes
    #expect(areSame)
    for storage in [storage, other] {
      let (found, model) = (try storage.entries(in: [.prefix("")]), try model.entries(in: [.prefix("")]))
      #expect(found.revision == model.revision && found.unreadable.isEmpty)
      let areSame = found.entries == model.entries.inOrder(of: \.key.exact)
      #expect(areSame)
    }
    #expect(try storage.schemaVersion() == model.schemaVersion())
    #expect(try storage.engine.read { $0.erases } == (kind == "a secret"))
    withExtendedLifetime([storage, other]) {}
  }

  @Test func `others can write until it is ready, and it follows them with a look at the keys that they have changed`()
    throws
  {
    let (storage, other) = (try openWithMeanwhile(), try open())
    _ = try other.commit(batch())
    let pulse = storage.engine.pulse
    let seen = Monitor<[(key: KeyName, isLocked: Bool)]>([])
    var long = Batch()
    long.completion = Completion(scope: "key.", base: nil) { key, stored, batch throws(StoreError) in
      seen.update { $0.append((key, pulse.words.owner != 0)) }
      if try stored().hasValue { batch.edit(key, .remove) }
    }
    meanwhile(try edit("key.early", .set(1)), to: other)
    meanwhile(try edit("key.late", .set(1)), to: other)
    let commit = try storage.commit(long)
    #expect(meanwhile.next.read(\.isEmpty))
    #expect(seen.read { $0.filter(\.isLocked).map(\.key.text) } == ["key.late"])
    #expect(seen.read(\.count) == Self.count + 2)
    #expect(commit.revision == 4 && commit.changes.count == Self.count + 2)
    for storage in [storage, other] { #expect(try storage.keys(prefix: "") == []) }
  }

  @Test func `a condition that a commit in between breaks is a conflict`() throws {
    let (storage, other) = (try openWithMeanwhile(), try open())
    _ = try other.commit(edit("key.3", .set(0)))
    let conditions: [Condition] = [
      .revision(try name(3), 1), .unchanged(try name(3), after: 1), .unchangedPrefix("key", after: 1),
    ]
    for condition in conditions {
      let revision = try storage.revision()
      var long = try batch()
      long.conditions = [condition]
      if revision == 1 {
        meanwhile(try edit("key.3", .set(9)), to: other)
      }
      #expect(code { try storage.commit(long) } == .conflict)
      #expect(try other.revision() == 2)
    }
    var long = try batch()
    long.conditions = [.unchangedPrefix("key", after: 2), .schemaVersion(0)]
    meanwhile(try edit("another", .set(9)), to: other)
    #expect(try storage.commit(long).revision == 4)
  }

  @Test func `a declaration in between refuses a value that does not fit`() throws {
    let (storage, other) = (try openWithMeanwhile(), try open())
    var declaration = Batch()
    declaration.declare(try name(3), try Declaration(json: #"{"type":"string"}"#))
    meanwhile(declaration, to: other)
    #expect(code { try storage.commit(batch()) } == .wrongType)
    #expect(try other.keys(prefix: "") == [])
  }

  @Test func `a checkpoint in between changes nothing`() throws {
    let (storage, other) = (try openWithMeanwhile(), try open())
    _ = try other.commit(edit("key.3", .set(1)))
    meanwhile.next.update {
      $0.append { do { try other.engine.checkpoint() } catch { Issue.record(error) } }
    }
    let commit = try storage.commit(batch())
    #expect(commit.revision == 2 && commit.changes.count == Self.count - 1)
    #expect(try other.entries(in: [.prefix("key")]).entries.count == Self.count)
  }

  @Test func `a long commit that changes nothing makes no revision`() throws {
    let (storage, other) = (try openWithMeanwhile(), try open())
    _ = try other.commit(batch())
    meanwhile(try edit("another", .set(5)), to: other)
    let commit = try storage.commit(batch())
    #expect(commit.revision == 2 && commit.changes.isEmpty && commit.time == nil)
    #expect(try other.revision() == 2)
  }

  @Test func `readers find what it has changed, and what has changed since`() throws {
    let (one, other) = (try openWithMeanwhile(), try open())
    _ = try one.commit(batch(1))
    try one.engine.checkpoint()
    let stores = [Store(storage: one), Store(storage: other)]
    for store in stores { #expect(try store.value(forKey: "key.3") == 1) }
    _ = try one.commit(batch(2))
    func put(_ value: Value, _ number: Int) throws -> Revision? {
      try name(number).withPrepared { one.put(value, for: $0, .shared, tag: nil) }
    }
    // The image has 1, which is not the present value.
    #expect(try put(1, 4) != 2)
    _ = try other.commit(edit("key.5", .remove))
    for _ in 0..<2 {
      for (index, store) in stores.enumerated() {
        #expect(try store.value(forKey: "key.3") == 2, "\(index)")
        #expect(try store.value(forKey: "key.5") == nil)
        #expect(try store.value(forKey: "nothing") == nil)
        #expect(try name(3).withPrepared { store.known($0) } == .some(2), "it is in memory")
      }
    }
    try other.engine.checkpoint()
    for store in stores {
      // A block stays in memory once it is needed again.
      for _ in 0..<2 { #expect(try store.value(forKey: "key.3") == 2) }
      #expect(try name(3).withPrepared { store.known($0) } == .some(2))
      #expect(try store.value(forKey: "key.5") == nil)
    }
    withExtendedLifetime([one, other]) {}
  }

  @Test func `after more removals than the index remembers, no removed value is read`() throws {
    let count = 17_000
    let storage = try open()
    let store = Store(storage: storage)
    func commit(_ numbers: Range<Int>, _ edit: Batch.Edit) throws {
      var batch = Batch()
      for number in numbers { batch.edit(try name(number), edit) }
      _ = try storage.commit(batch)
    }
    try commit(0..<count, .set(1))
    try storage.engine.checkpoint()
    #expect(try store.value(forKey: "key.0") == 1)
    // Too few at once for a long commit.
    for start in stride(from: 0, to: count, by: 500) { try commit(start..<start + 500, .remove) }
    for number in 0..<count { #expect(try store.value(forKey: "key.\(number)") == nil) }
  }

  @Test func `observers receive it in the order of the commits`() throws {
    let (storage, other) = (try openWithMeanwhile(), try open())
    let store = Store(storage: storage)
    let seen = Monitor<[Revision]>([])
    let observer = try store.observe(.prefix("")) { notice in seen.update { $0.append(notice.revision) } }
    meanwhile(try edit("another", .set(5)), to: other)
    _ = try store.commit(batch())
    _ = try store.commit(edit("another", .set(6)))
    seen.wait { $0.last == 3 ? () : nil }
    #expect(seen.read { $0 == $0.sorted() })
    withExtendedLifetime((store, observer, other)) {}
  }
}
