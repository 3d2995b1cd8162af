// Observing a key: changes in its type, in commit order, and values that do not have its type.

import Kept
import Synchronization
import Testing

extension Keys {
  fileprivate static let volume = Key("audio.volume", default: 50)
}

/// The changes of a key, in order.
private struct Changes<Value: Storable> {
  let subscription: Subscription
  private var next: AsyncStream<Key<Value>.Change>.Iterator

  init(of key: Key<Value>, in store: Store, initial: Bool = false) throws {
    let (stream, feed) = AsyncStream.makeStream(of: Key<Value>.Change.self)
    subscription = try store.observe(key, initial: initial) { feed.yield($0) }
    next = stream.makeAsyncIterator()
  }

  mutating func take() async throws -> Key<Value>.Change {
    // Only the task of this test takes from it.
    let change = await next.next(isolation: #isolation)
    return try #require(change)
  }
}

@Suite struct TypedObservationTests {
  let test = TestStore()
  var settings: Store { test.store }

  @Test func `an observer receives old and new in the key's type, in order`() async throws {
    var changes = try Changes(of: .volume, in: settings)
    settings[.volume] = 60
    settings[.volume] = 60
    settings[.volume] = 70
    try settings.remove(.volume)
    let received = [try await changes.take(), try await changes.take(), try await changes.take()]
    #expect(received.map(\.old) == [50, 60, 70])
    #expect(received.map(\.new) == [60, 70, 50])
    #expect(received.map(\.event) == [.set, .set, .removed])
    #expect(received.map(\.revision) == [1, 2, 3])
    #expect(received.allSatisfy { $0.origin == .store && $0.error == nil && !$0.isInitial })
  }

  @Test func `the present value is delivered first, before observe returns`() throws {
    let first = Mutex<[Key<Int>.Change]>([])
    settings[.volume] = 60
    let subscription = try settings.observe(.volume, initial: true) { change in
      first.withLock { $0.append(change) }
    }
    let received = first.withLock { $0 }
    #expect(received.map(\.new) == [60] && received.map(\.old) == [60])
    #expect(received.allSatisfy { $0.isInitial && $0.event == .initial && $0.origin == .initial })
    subscription.cancel()
  }

  @Test func `an absent key is delivered as its default`() throws {
    let first = Mutex<Int?>(nil)
    let subscription = try settings.observe(.volume, initial: true) { change in
      first.withLock { $0 = change.new }
    }
    #expect(first.withLock { $0 } == 50)
    subscription.cancel()
  }

  @Test func `a value of another type is delivered as the default, with the reason`() async throws {
    var changes = try Changes(of: .volume, in: settings)
    settings[.volume] = 60
    try settings.set("loud", forKey: "audio.volume")
    settings[.volume] = 70
    _ = try await changes.take()
    let wrong = try await changes.take()
    #expect(wrong.old == 60 && wrong.new == 50 && wrong.event == .set)
    #expect(wrong.error?.description == #""audio.volume": holds a string, not an int"#)
    let right = try await changes.take()
    #expect(right.old == 50 && right.new == 70 && right.error == nil)
    #expect(test.takeReported().isEmpty)
  }

  @Test func `other keys are not delivered, and a transaction is one change of a key`() async throws {
    var changes = try Changes(of: .volume, in: settings)
    settings[Key("audio.volume.left", default: 0)] = 1
    try settings.transaction { transaction in
      transaction[.volume] = 1
      transaction[.volume] = 2
      try transaction.set(3, forKey: "audio")
    }
    let change = try await changes.take()
    #expect(change.old == 50 && change.new == 2 && change.revision == 2)
  }

  @Test func `an observer may read and write its store`() async throws {
    let settings = settings
    let echo = Key("echo", default: 0)
    var echoes = try Changes(of: echo, in: settings)
    let subscription = try settings.observe(.volume) { settings[echo] = $0.new + settings[.volume] }
    settings[.volume] = 60
    #expect(try await echoes.take().new == 120)
    subscription.cancel()
  }
}
