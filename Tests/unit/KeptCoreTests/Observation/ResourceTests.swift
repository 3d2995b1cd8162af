// Ended subscriptions leave no thread, descriptor or memory, and nothing is released too early.

import Foundation
@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

/// A storage in memory that counts the threads that wait on it, and that can be closed while its store is open.
private final class WatchedStorage: Storage {
  let memory = MemoryStorage()
  let waiting = Monitor(0)
  /// While it is true, waiting fails.
  let isAway = Monitor(false)
  /// How often it has failed.
  let failures = Monitor(0)
  /// While it is true, reads fail; afterwards the history is lost.
  let isUnreadable = Monitor(false)
  private let remembersFrom = Monitor<Revision>(0)
  /// Commits by others just before and just after the next read of the stored values.
  let concurrent = Monitor<(before: Batch.Edit, after: Batch.Edit)?>(nil)

  var abilities: StorageAbilities { memory.abilities }
  var generation: UInt64 { memory.generation }

  func wait(after revision: Revision) throws(StoreError) -> Bool {
    if isAway.read({ $0 }) {
      failures.update { $0 += 1 }
      throw StoreError(.unavailable, "the disk is away; put it back")
    }
    waiting.update { $0 += 1 }
    defer { waiting.update { $0 -= 1 } }
    return try memory.wait(after: revision)
  }

  func entry(for key: KeyName) throws(StoreError) -> Entry? { try memory.entry(for: key) }
  func keys(prefix: ExactString) throws(StoreError) -> [KeyName] { try memory.keys(prefix: prefix) }
  func entries(in scopes: [Scope]) throws(StoreError) -> StoredEntries {
    if isUnreadable.read({ $0 }) { throw StoreError(.unavailable, "the disk is away; put it back") }
    let edits = concurrent.update { edits in
      defer { edits = nil }
      return edits
    }
    if let edits { _ = try? memory.commit(key("p.a"), edits.before) }
    let entries = try memory.entries(in: scopes)
    if let edits { _ = try? memory.commit(key("p.a"), edits.after) }
    return entries
  }
  func revision() throws(StoreError) -> Revision { try memory.revision() }
  func commit(_ batch: Batch) throws(StoreError) -> Commit { try memory.commit(batch) }
  func changes(after revision: Revision) throws(StoreError) -> ChangesAfter {
    if isUnreadable.read({ $0 }) { remembersFrom.update { $0 = revision + 2 } }
    return revision < remembersFrom.read({ $0 }) ? .tooOld : try memory.changes(after: revision)
  }
  func interruptWaiting() { memory.interruptWaiting() }
  func flush() throws(StoreError) { try memory.flush() }
  func close() { memory.close() }
}

@Suite(.timeLimit(.minutes(30))) struct `A store that cannot wait for changes` {
  @Test func `reports that once, however often it fails, and again after it has recovered`() throws {
    let storage = WatchedStorage()
    let reports = Monitor<[StoreError]>([])
    let store = Store(
      storage: storage, options: StoreOptions(errorHandler: { error in reports.update { $0 += [error] } }))
    let subscription = try store.observe(.prefix("")) { _ in }
    for round in 1...2 {
      storage.waiting.wait { $0 > 0 ? () : nil }
      storage.isAway.update { $0 = true }
      storage.interruptWaiting()
      storage.failures.wait { $0 >= 3 * round ? () : nil }
      #expect(reports.read { $0.count } == round)
      storage.isAway.update { $0 = false }
    }
    subscription.cancel()
    store.close()
  }
}

@Suite(.timeLimit(.minutes(30))) struct `The end of a store's use` {
  @Test func `leaks no thread, however often subscriptions come and go while nothing is committed`() throws {
    let storage = WatchedStorage()
    let store = Store(storage: storage)
    for _ in 0..<500 {
      let subscription = try store.observe(.prefix("")) { _ in }
      storage.waiting.wait { $0 > 0 ? () : nil }
      subscription.cancel()
    }
    // There are no commits, so nothing else wakes a forgotten thread.
    storage.waiting.wait { $0 == 0 ? () : nil }
    let subscription = try store.observe(.prefix("")) { _ in }
    storage.waiting.wait { $0 == 1 ? () : nil }
    subscription.cancel()
  }

  @Test func `keeps nothing of a store that is closed while others subscribe to it`() async throws {
    for _ in 0..<2000 {
      weak var shared: SharedStore?
      do {
        let storage = WatchedStorage()
        let store = Store(storage: storage)
        shared = store.shared
        await withTaskGroup(of: Void.self) { group in
          for _ in 0..<2 {
            group.addTask {
              for _ in 0..<3 {
                let subscription = try? store.observe(.prefix("")) { _ in }
                subscription?.cancel()
              }
            }
          }
          group.addTask { store.close() }
        }
      }
      // The last reference is held by a thread that is exiting.
      while shared != nil { await Task.yield() }
    }
  }

  @Test func `of a store without closing it ends its subscriptions`() throws {
    let ends = Monitor(0)
    weak var shared: SharedStore?
    do {
      let store = try Store.open("memory:")
      shared = store.shared
      let (subscription, begin) = try store.prepareToObserve(
        .prefix(""), initial: false, afterLastCall: { ends.update { $0 += 1 } }, { _ in })
      begin()
      withExtendedLifetime(subscription) {}
    }
    #expect(ends.read { $0 } == 1)
    while shared != nil { sched_yield() }
  }

  @Test func `of a store is not done while a token is held`() throws {
    let received = ReceivedNotices()
    let other = try Store.open("memory:token")
    func subscribe() throws -> Subscription { try Store.open("memory:token").observe(.prefix(""), received.add) }
    let subscription = try subscribe()
    try other.set(1, forKey: "a")
    #expect(received.first(1).map(\.origin) == [.process])
    subscription.cancel()
  }

  @Test func `of mail that a host never fetched closes its descriptor`() throws {
    weak var delivery: HostDelivery?
    do {
      var options = StoreOptions()
      options.isHostDriven = true
      let store = Store(storage: MemoryStorage(), options: options)
      delivery = try store.hostDelivery()
      let subscription = try store.observe(.prefix("")) { _ in }
      try store.set(1, forKey: "a")
      store.close()
      subscription.cancel()
    }
    #expect(delivery == nil)
  }

  @Test func `with values that could not be read when they were committed delivers none of them`() throws {
    let storage = WatchedStorage()
    let store = Store(storage: storage)
    let received = ReceivedNotices()
    let subscription = try store.observe(.prefix(""), received.add)
    storage.isUnreadable.update { $0 = true }
    try storage.commit(key("foreign"), .set(1))
    try store.set(2, forKey: "own")
    storage.isUnreadable.update { $0 = false }
    let notices = received.wait { notices in notices.last?.revision == 2 ? notices.flatMap(\.changes) : nil }
    #expect(notices.map(\.key.text).sorted() == ["foreign", "own"])
    #expect(received.all.last?.mayHaveMissed == true)
    subscription.cancel()
  }

  @Test func `of a key that comes back while its prefix is observed delivers no change`() throws {
    let storage = WatchedStorage()
    let store = Store(storage: storage)
    try store.set(1, forKey: "p.a")
    let ofKey = try store.observe(.key(key("p.a"))) { _ in }
    storage.concurrent.update { $0 = (before: .remove, after: .set(2)) }
    let received = ReceivedNotices()
    let ofPrefix = try store.observe(.prefix("p."), initial: true, received.add)
    #expect(received.first(1).first?.changes.map(\.new) == [2])
    ofKey.cancel()
    ofPrefix.cancel()
  }

  @Test func `of a storage under its store is reported to the error handler`() throws {
    let storage = WatchedStorage()
    let errors = Monitor<[StoreError.Code]>([])
    let store = Store(
      storage: storage, options: StoreOptions(errorHandler: { error in errors.update { $0.append(error.code) } }))
    let subscription = try store.observe(.prefix("")) { _ in }
    storage.close()
    #expect(errors.wait { $0.first } == .closed)
    subscription.cancel()
  }
}
