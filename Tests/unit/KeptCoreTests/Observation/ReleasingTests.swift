// What a subscription holds is released when it ends, not when its token is: the closure, what the closure captures,
// and the store.

import Foundation
@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

/// An object that a closure captures.
private final class Held: Sendable {
  private let ends: Monitor<Int>
  init(_ ends: Monitor<Int>) { self.ends = ends }
  deinit { ends.update { $0 += 1 } }
}

/// Holds its own token, as an object does that observes during its whole life.
private final class Owner: Sendable {
  let token = Monitor<Subscription?>(nil)
  let calls = Monitor(0)

  func listen(to store: Store) throws {
    let subscription = try store.observe(.prefix("")) { _ in self.calls.update { $0 += 1 } }
    token.update { $0 = subscription }
  }
}

@Suite(.timeLimit(.minutes(30))) struct `The end of a subscription` {
  let store: Store
  /// How many closures have been released.
  let ends = Monitor(0)
  init() throws { store = try Store.open("memory:") }

  private func observe(_ body: @escaping @Sendable () -> Void = {}) throws -> Subscription {
    let held = Held(ends)
    return try store.observe(.prefix("")) { _ in withExtendedLifetime(held, body) }
  }

  @Test func `by cancelling releases the closure before it returns`() throws {
    let token = try observe()
    #expect(ends.read { $0 } == 0)
    token.cancel()
    #expect(ends.read { $0 } == 1)
    withExtendedLifetime(token) {}
  }

  @Test func `by closing the store releases the closure before it returns`() throws {
    let token = try observe()
    store.close()
    #expect(ends.read { $0 } == 1)
    withExtendedLifetime(token) {}
  }

  @Test func `by dropping the token releases the closure`() throws {
    do {
      let token = try observe()
      withExtendedLifetime(token) {}
    }
    #expect(ends.read { $0 } == 1)
  }

  @Test func `inside its callback releases the closure when that has returned`() throws {
    let own = Monitor<Subscription?>(nil)
    let ends = ends
    let token = try observe {
      own.wait { $0 }.cancel()
      #expect(ends.read { $0 } == 0)
    }
    own.update { $0 = token }
    try store.set(1, forKey: "a")
    ends.wait { $0 == 1 ? () : nil }
    own.update { $0 = nil }
  }

  @Test func `while its callback runs on another thread releases the closure before it returns`() throws {
    let (begun, goOn) = (Monitor(false), Monitor(false))
    let token = try observe {
      begun.update { $0 = true }
      goOn.wait { $0 ? () : nil }
    }
    try store.set(1, forKey: "a")
    begun.wait { $0 ? () : nil }
    try LibraryThread.start { goOn.update { $0 = true } }
    token.cancel()
    #expect(ends.read { $0 } == 1)
    withExtendedLifetime(token) {}
  }

  @Test func `in the initial callback releases the closure before observe returns`() throws {
    let (store, held) = (store, Monitor<Held?>(Held(ends)))
    let token = try store.observe(.prefix(""), initial: true) { [held = held.read { $0 }] _ in
      withExtendedLifetime(held) { store.close() }
    }
    held.update { $0 = nil }
    #expect(ends.read { $0 } == 1)
    withExtendedLifetime(token) {}
  }

  @Test func `frees an owner that holds its own token`() throws {
    weak var owner: Owner?
    do {
      let own = Owner()
      owner = own
      try own.listen(to: store)
      try store.set(1, forKey: "a")
      own.calls.wait { $0 == 1 ? () : nil }
      own.token.read { $0 }?.cancel()
    }
    #expect(owner == nil)
  }

  @Test(arguments: [true, false]) func `keeps no store alive, though the token is held`(isCancelled: Bool) throws {
    weak var gone: Store?
    weak var shared: SharedStore?
    func subscribe() throws -> Subscription {
      let store = try Store.open("memory:released")
      (gone, shared) = (store, store.shared)
      try store.set(1, forKey: "a")
      let token = try store.observe(.prefix("")) { _ in }
      if isCancelled { token.cancel() } else { store.close() }
      return token
    }
    let token = try subscribe()
    #expect(gone == nil)
    // The last reference may be held by a thread that is exiting.
    while shared != nil { sched_yield() }
    #expect(try Store.open("memory:released").value(forKey: "a") == nil)
    withExtendedLifetime(token) {}
  }

  @Test func `of one that takes its notices is signalled, and keeps no store alive`() throws {
    final class Silent: Delivery {
      let fetchesMail = false
      func mailArrived(for observer: Observer) {}
    }
    weak var gone: Store?
    let token: Subscription
    do {
      let store = try Store.open("memory:")
      gone = store
      let ends = ends
      token = try store.subscribeToTake(.prefix(""), initial: false, through: Silent()) { ends.update { $0 += 1 } }
      try store.set(1, forKey: "a")
      store.close()
    }
    #expect(gone == nil)
    #expect(ends.read { $0 } == 1)
    #expect(token.observer.take() == nil)
  }
}
