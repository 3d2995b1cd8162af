// Transactions that list keys, and restores, next to writers that do not stop: they succeed at once.

import Foundation
import KeptSchema
import KeptSystem
import KeptValues
import Testing

@testable import KeptCore

@Suite struct `A transaction that lists keys` {
  private let folder: TemporaryFolder
  private let store: Store

  init() throws {
    folder = try TemporaryFolder()
    store = try Store.open(folder.path + "/store")
    for key in ["list.a", "list.b"] { try store.set(1, forKey: key) }
  }

  /// Calls `change` after the first listing of the first attempt; returns how many attempts there were.
  private func attempts(edits: Int, reading key: String? = nil, _ change: () throws -> Void) throws -> Int {
    var attempts = 0
    try store.transaction { transaction in
      attempts += 1
      let keys = try transaction.keys(prefix: "list.")
      if let key { _ = try transaction.value(forKey: key) }
      if attempts == 1 { try change() }
      if attempts == 1, try store.keys(prefix: "list.") == keys {
        #expect(try transaction.keys(prefix: "list.") == keys)
      }
      for number in 0..<edits { try transaction.set(.int(Int64(attempts)), forKey: "edit.\(number)") }
    }
    return attempts
  }

  // The second number makes a long commit.
  @Test(arguments: [1, 1500]) func `is not run again for values that it does not read`(_ edits: Int) throws {
    #expect(try attempts(edits: edits) { try store.set(2, forKey: "list.a") } == 1)
    #expect(try store.value(forKey: "list.a") == 2)
  }

  @Test(arguments: [1, 1500]) func `is run again if a key was added or removed`(_ edits: Int) throws {
    #expect(try attempts(edits: edits) { try store.set(2, forKey: "list.c") } == 2)
    #expect(try attempts(edits: edits) { try store.reset("list.c") } == 2)
  }

  @Test(arguments: [1, 1500]) func `is run again for a value that it has read`(_ edits: Int) throws {
    #expect(try attempts(edits: edits, reading: "list.a") { try store.set(2, forKey: "list.a") } == 2)
  }
}

@Suite struct `A restore` {
  /// What happens when the commit is prepared: its time is asked for then, without a lock.
  private let meanwhile = Monitor<(@Sendable () -> Void)?>(nil)

  @Test func `replaces what another writer commits at the same time, and sets it aside`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/store"
    let storage = try LocalStorage(StoreFolder(path: path), busyTimeoutMilliseconds: 5000) { [meanwhile] in
      meanwhile.update { next in
        defer { next = nil }
        return next
      }?()
      return MonotonicTime.nanosecondsSince1970
    }
    let other = try Store(storage: LocalStorage(path: path))
    let store = Store(storage: storage)
    try other.set(1, forKey: "kept")
    try other.set(1, forKey: "changed")
    try store.backup(to: folder.path + "/backup")
    try other.set(1, forKey: "before")
    meanwhile.update {
      $0 = {
        do {
          try other.transaction { transaction in
            try transaction.set(2, forKey: "changed")
            try transaction.set(2, forKey: "new")
            try transaction.declare(Declaration(json: #"{"type":"string"}"#), forKey: "declared")
          }
        } catch { Issue.record(error) }
      }
    }
    let restored = try store.restore(from: folder.path + "/backup")
    #expect(meanwhile.read { $0 == nil })
    for handle in [store, other] {
      #expect(try handle.keys() == ["changed", "kept"] && handle.value(forKey: "changed") == 1)
      #expect(try handle.declaration(forKey: "declared") == nil)
    }
    let aside = Store(storage: MemoryStorage())
    try aside.restore(from: #require(restored.quarantine))
    #expect(try aside.keys() == ["before", "changed", "kept", "new"] && aside.value(forKey: "changed") == 2)
    withExtendedLifetime([store, other]) {}
  }
}
