// What observers of the typed API hold is released when they end: closures on queues, closures of handles, and the
// store of a sequence.

import Dispatch
import Kept
import Synchronization
import Testing

extension Keys {
  fileprivate static let volume = Key("audio.volume", default: 50)
}

/// An object that a closure captures.
private final class Held: Sendable {}

@Suite(.timeLimit(.minutes(30))) struct `The end of an observer` {
  let settings = TestStore().store

  @Test func `on a queue releases the closure, though a call waits in the queue`() throws {
    let queue = DispatchQueue(label: "observers")
    queue.suspend()
    weak var held: Held?
    let token: Subscription
    do {
      let own = Held()
      held = own
      token = try settings.observe(.volume, queue: queue) { _ in withExtendedLifetime(own) {} }
    }
    settings[.volume] = 60
    #expect(held != nil)
    token.cancel()
    #expect(held == nil)
    queue.resume()
    queue.sync {}
    withExtendedLifetime(token) {}
  }

  @Test func `of a key releases the closure when the store is closed`() throws {
    weak var held: Held?
    let token: Subscription
    do {
      let own = Held()
      held = own
      token = try settings.observe(.volume) { _ in withExtendedLifetime(own) {} }
    }
    settings.close()
    #expect(held == nil)
    withExtendedLifetime(token) {}
  }

  enum End: CaseIterable { case invalidated, replaced, closed, destroyed }

  @Test(arguments: End.allCases) func `of a handle releases the closure`(end: End) throws {
    let volume = try settings.handle(.volume)
    weak var held: Held?
    weak var observed: Held?
    var token: Subscription?
    do {
      let (own, other) = (Held(), Held())
      (held, observed) = (own, other)
      volume.observer = { _ in withExtendedLifetime(own) {} }
      token = try volume.observe { _ in withExtendedLifetime(other) {} }
    }
    #expect(held != nil && observed != nil)
    switch end {
    case .invalidated: volume.invalidate()
    case .replaced: volume.observer = { _ in }
    case .closed: settings.close()
    case .destroyed: try volume.destroy()
    }
    #expect(held == nil)
    #expect((observed == nil) == (end == .closed || end == .destroyed))
    token?.cancel()
    #expect(observed == nil)
    withExtendedLifetime(volume) {}
  }

  @Test func `as a sequence keeps no closed store alive, though its iterator is held`() async throws {
    weak var gone: Store?
    var iterator: Key<Int>.Changes.Iterator
    do {
      let settings = TestStore().store
      gone = settings
      iterator = settings.changes(of: .volume, initial: true).makeAsyncIterator()
      #expect(await iterator.next(isolation: #isolation)?.new == 50)
      settings.close()
    }
    #expect(await iterator.next(isolation: #isolation) == nil)
    #expect(gone == nil)
  }
}
