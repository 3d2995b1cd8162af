// Snapshots of a store for swift-configuration: each is one state of the store, despite concurrent writers.

import Configuration
import Foundation
import KeptStorage
import KeptValues
import Synchronization
import Testing

/// A custom storage that cannot list its keys.
private final class Drawer: SimpleStorage {
  private let values = Mutex<[KeyName: Value]>([:])

  func get(_ key: KeyName) -> Value? { values.withLock { $0[key] } }
  func set(_ key: KeyName, to value: Value) { values.withLock { $0[key] = value } }
  func remove(_ key: KeyName) { values.withLock { $0[key] = nil } }
  func listen(_ changed: @escaping @Sendable (KeyName?) -> Void) {}
}

extension ConfigSnapshot {
  fileprivate func int(_ key: AbsoluteConfigKey) throws -> Int? {
    guard case .int(let number) = try value(forKey: key, type: .int).value?.content else { return nil }
    return number
  }
}

@Suite(.timeLimit(.minutes(30))) struct `A snapshot` {
  @Test func `stays as it was`() throws {
    let store = Store(storage: MemoryStorage())
    let provider = StoreProvider(store)
    try store.set(1, forKey: "a")
    let snapshot = provider.snapshot()
    try store.set(2, forKey: "a")
    try store.set(3, forKey: "b")
    #expect(try snapshot.int("a") == 1 && snapshot.int("b") == nil)
    #expect(try provider.snapshot().int("a") == 2 && provider.snapshot().int("b") == 3)
    try store.remove("a")
    #expect(try provider.snapshot().int("a") == nil)
  }

  @Test(arguments: [true, false])
  func `is one state, also while another thread writes`(inMemory: Bool) throws {
    let folder = try SharedFolder()
    let store = inMemory ? Store(storage: MemoryStorage()) : try Store.open(folder.location)
    let provider = StoreProvider(store)
    // On its own thread: a loop that reads without a pause would starve tasks.
    let thread = Thread {
      for number in 1...200 {
        try? store.transaction { transaction in
          for key in ["a", "b", "c"] { try transaction.set(.int(Int64(number)), forKey: key) }
        }
      }
    }
    thread.start()
    while !thread.isFinished {
      let snapshot = provider.snapshot()
      let state = try snapshot.int("a")
      #expect(try snapshot.int("b") == state && snapshot.int("c") == state)
    }
    #expect(try provider.snapshot().int("a") == 200)
  }

  @Test func `shows at once what another process has written, and a changed layer`() throws {
    let folder = try SharedFolder()
    let store = try Store.open(folder.location)
    let provider = StoreProvider(store, includingDefaults: true)
    for number in 1...3 {
      try folder.writeElsewhere("a", "\(number)")
      #expect(try provider.snapshot().int("a") == number && provider.snapshot().int("b") == nil)
    }
    try store.register(7, for: Key("b", default: 0))
    #expect(try provider.snapshot().int("b") == 7)
    try store.remove("a")
    #expect(try provider.snapshot().int("a") == nil && provider.snapshot().int("b") == 7)
  }

  @Test func `of a storage that cannot list its keys says so with each value`() throws {
    let store = Store(storage: SimpleStorageAdapter(Drawer()))
    try store.set(1, forKey: "a")
    #expect { try StoreProvider(store).snapshot().int("a") } throws: { StoreError.Code.unsupported ~= $0 }
    #expect(try StoreProvider(store).value(forKey: "a", type: .int).value == 1)
  }
}

@Suite(.timeLimit(.minutes(30))) struct `A watcher of snapshots` {
  @Test func `sees the transaction of another process as a whole`() async throws {
    let folder = try SharedFolder()
    let provider = StoreProvider(try Store.open(folder.location))
    try await provider.watchSnapshot { updates in
      var states = States(updates)
      let first = try await states.take()
      #expect(try first.int("a") == nil)
      try folder.writeElsewhere("a", "1", "b", "2")
      let second = try await states.take()
      #expect(try second.int("a") == 1 && second.int("b") == 2)
      #expect(try first.int("a") == nil)
    }
  }

  @Test func `through a reader sees the providers together`() async throws {
    let store = Store(storage: MemoryStorage())
    let below = InMemoryProvider(values: ["a": 1, "b": 2])
    try await ConfigReader(providers: [StoreProvider(store), below]).watchSnapshot { updates in
      var states = States(updates)
      let first = try await states.take()
      #expect(first.int(forKey: "a") == 1)
      try store.set(10, forKey: "a")
      let second = try await states.take()
      #expect(second.int(forKey: "a") == 10 && second.int(forKey: "b") == 2)
    }
  }

  @Test func `of a closed store reports that once`() async throws {
    let store = Store(storage: MemoryStorage())
    store.close()
    try await StoreProvider(store).watchSnapshot { updates in
      var states = States(updates)
      let first = try await states.take()
      #expect { try first.int("a") } throws: { StoreError.Code.closed ~= $0 }
      #expect(await states.isOver())
    }
  }
}
