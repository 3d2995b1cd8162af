// Every commit of this process is delivered to observers, in order and as a whole, and nothing after cancellation.

import Foundation
@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

/// Collects notices and lets a test wait for them.
final class ReceivedNotices: Sendable {
  let notices = Monitor<[Notice]>([])

  func add(_ notice: Notice) { notices.update { $0.append(notice) } }
  var all: [Notice] { notices.read { $0 } }

  /// Waits until there are `count` notices.
  func first(_ count: Int) -> [Notice] {
    notices.wait { $0.count >= count ? Array($0.prefix(count)) : nil }
  }
}

@Suite(.timeLimit(.minutes(30))) struct `An observer` {
  let store: Store
  let received = ReceivedNotices()
  init() throws { store = try Store.open("memory:") }

  @Test func `receives the present values first, before observe returns, on request`() throws {
    try store.set(1, forKey: "p.a")
    try store.set(2, forKey: "p.b")
    let subscription = try store.observe(.prefix("p."), initial: true, received.add)
    #expect(received.all.count == 1)
    #expect(received.all[0].origin == .initial)
    #expect(received.all[0].changes.map(\.new) == [1, 2])
    let absent = try store.observe(.key(key("none")), initial: true, received.add)
    #expect(received.all[1].changes == [Change(key: try key("none"), old: nil, new: nil)])
    try store.set(3, forKey: "p.a")
    #expect(received.first(3)[2].changes == [Change(key: try key("p.a"), old: 1, new: 3)])
    subscription.cancel()
    absent.cancel()
  }

  @Test func `receives commits in order, from many writers`() async throws {
    let subscription = try store.observe(.prefix(""), received.add)
    let store = store
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<4 {
        group.addTask { for index in 0..<100 { try store.set(.int(Int64(index)), forKey: "w\(writer)") } }
      }
      try await group.waitForAll()
    }
    #expect(received.first(400).map(\.revision) == Array(1...400))
    subscription.cancel()
  }

  @Test func `may read, write, subscribe and cancel inside its callback`() throws {
    let inner = ReceivedNotices()
    let tokens = Monitor<[Subscription]>([])
    let (store, received) = (store, received)
    let outer = try store.observe(.key(key("a"))) { notice in
      received.add(notice)
      do {
        #expect(try store.value(forKey: "a") == notice.changes[0].new)
        let token = try store.observe(.key(key("b")), inner.add)
        tokens.update { $0.append(token) }
        try store.set(1, forKey: "b")
      } catch {
        Issue.record(error)
      }
    }
    try store.set(1, forKey: "a")
    #expect(inner.first(1)[0].changes.map(\.key.text) == ["b"])
    outer.cancel()
    tokens.update { $0 = [] }
  }

  @Test func `is not called again after cancel returned`() throws {
    for round in 0..<200 {
      let calls = Monitor(0)
      let subscription = try store.observe(.key(key("a"))) { _ in calls.update { $0 += 1 } }
      try store.set(.int(Int64(round)), forKey: "a")
      subscription.cancel()
      let count = calls.read { $0 }
      try store.set(.int(Int64(-round - 1)), forKey: "a")
      #expect(calls.read { $0 } == count)
    }
  }

  @Test func `can cancel itself inside its callback, and is released once`() throws {
    let token = Monitor<Subscription?>(nil)
    let ends = Monitor(0)
    let received = received
    let (subscription, begin) = try store.prepareToObserve(
      .key(key("a")), initial: false, afterLastCall: { ends.update { $0 += 1 } }
    ) { notice in
      token.wait { $0 }.cancel()
      received.add(notice)
    }
    token.update { $0 = subscription }
    begin()
    try store.set(1, forKey: "a")
    ends.wait { $0 == 1 ? () : nil }
    try store.set(2, forKey: "a")
    subscription.cancel()
    store.close()
    #expect(received.all.count == 1)
    #expect(ends.read { $0 } == 1)
  }

  @Test func `ends when its token is dropped`() throws {
    let ends = Monitor(0)
    do {
      let dropped = try store.prepareToObserve(
        .prefix(""), initial: false, afterLastCall: { ends.update { $0 += 1 } }, received.add)
      dropped.deliverInitial()
      withExtendedLifetime(dropped) {}
    }
    #expect(ends.read { $0 } == 1)
  }

  @Test func `ends with its store, also when the callback closes it`() throws {
    let closed = Monitor(false)
    let store = store
    let subscription = try store.observe(.prefix("")) { _ in
      store.close()
      closed.update { $0 = true }
    }
    try store.set(1, forKey: "a")
    closed.wait { $0 ? () : nil }
    #expect(code { try store.value(forKey: "a") } == .closed)
    subscription.cancel()
  }

  // Otherwise a host that sets and then dispatches would at times find nothing.
  @Test func `has its mail when the set returns, whatever other threads read`() throws {
    var options = StoreOptions()
    options.isHostDriven = true
    let store = Store(storage: MemoryStorage(), options: options)
    let feed = store.shared.feed
    let subscription = try store.observe(.prefix(""), received.add)
    var batch = Batch()
    batch.edit(try key("a"), .set(1))
    try feed.publish { _ throws(StoreError) in
      Publication(commits: [(try store.shared.storage.commit(batch), by: batch.author)])
    }
    try feed.advance()
    store.shared.layersChanged(store.observation.layerStack)
    let host = try store.hostDelivery()
    #expect(host.dispatch(atMost: .max) == 0, "another thread took the mail, and may deliver it later")
    feed.notifyDeliveries()
    #expect(host.dispatch(atMost: .max) == 1)
    subscription.cancel()
  }
}
