// A storage of four methods behind the adapter, in addition to the requirements on every storage.

@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

/// A dictionary, as a user of Kept would write it.
class Drawer: SimpleStorage, @unchecked Sendable {
  // The adapter makes one call at a time. `strangers` and the tests run between calls.
  var values: [KeyName: Value] = [:]
  var failure: StoreError?
  private var changed: (@Sendable (KeyName?) -> Void)?

  func get(_ key: KeyName) throws(StoreError) -> Value? {
    if let failure { throw failure }
    return values[key]
  }
  func set(_ key: KeyName, to value: Value) throws(StoreError) {
    if let failure { throw failure }
    values[key] = value
  }
  func remove(_ key: KeyName) throws(StoreError) {
    if let failure { throw failure }
    values[key] = nil
  }
  func listen(_ changed: @escaping @Sendable (KeyName?) -> Void) { self.changed = changed }

  /// Changes a value from outside.
  ///
  /// `named`: reports the key.
  func slip(_ key: KeyName, _ value: Value?, named: Bool = true) {
    values[key] = value
    changed?(named ? key : nil)
  }
}

final class ListingDrawer: Drawer, ListingStorage, @unchecked Sendable {
  func keys() throws(StoreError) -> [KeyName] { Array(values.keys) }
}

@Suite(.timeLimit(.minutes(30))) struct `A simple storage` {
  private let drawer = ListingDrawer()
  private let storage: SimpleStorageAdapter
  init() { storage = SimpleStorageAdapter(drawer) }

  @Test func `has its former contents at revision 1`() throws {
    drawer.values = [try key("a"): 1, try key("b"): 2]
    #expect(try storage.entry(for: key("a")) == Entry(value: 1, revision: 1))
    #expect(try storage.keys(prefix: "").map(\.text) == ["a", "b"])
    #expect(try storage.entry(for: key("b")) == Entry(value: 2, revision: 1))
    #expect(try storage.revision() == 1)
    #expect(try storage.commit(key("a"), .set(3), .revision(key("a"), 1)).revision == 2)
  }

  @Test func `conflicts where another writer has written`() throws {
    let a = try key("a")
    try storage.commit(a, .set(1))
    drawer.values[a] = 2
    #expect(conflict { try storage.commit(a, .set(3), .revision(a, 1)) })
    #expect(drawer.values[a] == 2)
    let base = try storage.revision()
    drawer.values[try key("ab")] = 1
    #expect(try !storage.keys(prefix: "").isEmpty)
    drawer.values[try key("ac")] = 1
    #expect(conflict { try storage.commit(a, .set(3), .unchangedPrefix("a", after: base)) })
    drawer.values[a] = nil
    #expect(conflict { try storage.commit(a, .set(3), .unchanged(a, after: base)) }, "a removal is a change")
  }

  @Test(arguments: [true, false]) func `notices what others write`(named: Bool) throws {
    let a = try key("a")
    try storage.commit(a, .set(1))
    #expect(try storage.wait(after: 0))
    drawer.slip(a, 2, named: named)
    #expect(try storage.wait(after: 1))
    #expect(
      try storage.changes(after: 1)
        == .changed(Delta([KeyedEntry(key: a, entry: Entry(value: 2, revision: 2))], upTo: 2)))
    drawer.slip(a, nil, named: named)
    #expect(try storage.wait(after: 2))
    #expect(
      try storage.changes(after: 2)
        == .changed(Delta([KeyedEntry(key: a, entry: Entry(value: nil, revision: 3))], upTo: 3)))
  }

  @Test func `delivers writes of others to observers of a store`() throws {
    let store = Store(storage: storage)
    let received = Monitor<[String]>([])
    let subscription = try store.observe(.prefix("")) { notice in
      received.update { $0 += notice.changes.map { "\($0.key)=\($0.new?.json ?? "-")" } }
    }
    try store.setJSON("1", forKey: "own")
    drawer.slip(try key("foreign"), 2)
    let _: Bool = received.wait { $0.count == 2 ? true : nil }
    #expect(received.read { $0 } == ["own=1", "foreign=2"])
    subscription.cancel()
    store.close()
  }

  @Test func `says which key could not be read or written, and does not treat it as absent`() throws {
    try storage.commit(key("a"), .set(1))
    drawer.failure = StoreError(.unavailable, "the drawer is stuck; pull harder")
    for body in [{ _ = try storage.entry(for: key("a")) }, { _ = try storage.commit(key("a"), .set(2)) }] {
      let error = #expect(throws: StoreError.self) { try body() }
      #expect(error?.code == .unavailable && error?.key == "a")
    }
    drawer.failure = nil
    #expect(try storage.entry(for: key("a")) == Entry(value: 1, revision: 1))
  }

  @Test func `adds up what many threads add through a store`() async throws {
    let store = Store(storage: storage)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<50 {
            let sum: Void? = try? store.transaction { transaction in
              let value = try transaction.json(forKey: "sum").flatMap { Int($0) } ?? 0
              try transaction.setJSON("\(value + 1)", forKey: "sum")
            }
            #expect(sum != nil)
          }
        }
      }
    }
    #expect(try store.json(forKey: "sum") == "200")
  }
}
