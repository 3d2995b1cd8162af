// Observers on queues: called on their queue, one call at a time, in order, and never after cancellation.

import Dispatch
import Kept
import Synchronization
import Testing

extension Keys {
  fileprivate static let volume = Key("audio.volume", default: 50)
}

/// What a callback records.
private final class Notes: Sendable {
  private let values = Mutex<[Int]>([])
  func add(_ value: Int) { values.withLock { $0.append(value) } }
  var all: [Int] { values.withLock { $0 } }
}

@Suite(.timeLimit(.minutes(30))) struct `An observer on a queue` {
  let settings = TestStore().store
  let queue = DispatchQueue(label: "observers")
  private let notes = Notes()

  @Test func `is called there, in order`() throws {
    let (queue, notes) = (queue, notes)
    let subscription = try settings.observe(.volume, queue: queue) { change in
      dispatchPrecondition(condition: .onQueue(queue))
      notes.add(change.new)
    }
    for value in 1...100 { settings[.volume] = value }
    drain(until: 100)
    #expect(notes.all == Array(1...100))
    subscription.cancel()
  }

  @Test func `receives the present value on the thread that subscribes`() throws {
    let (queue, notes) = (queue, notes)
    queue.suspend()
    let subscription = try settings.observe(.volume, initial: true, queue: queue) { notes.add($0.new) }
    #expect(notes.all == [50])
    settings[.volume] = 60
    queue.resume()
    drain(until: 2)
    #expect(notes.all == [50, 60])
    subscription.cancel()
  }

  @Test func `is called one call at a time and in order by a concurrent queue, too`() throws {
    let wide = DispatchQueue(label: "wide", attributes: .concurrent)
    let inside = Atomic(0)
    let (done, notes) = (DispatchSemaphore(value: 0), notes)
    let subscription = try settings.observe(.prefix(""), queue: wide) { notice in
      let count = inside.add(1, ordering: .sequentiallyConsistent).newValue
      #expect(count == 1)
      notes.add(Int(notice.revision))
      inside.subtract(1, ordering: .sequentiallyConsistent)
      if notice.revision == 1000 { done.signal() }
    }
    let settings = settings
    DispatchQueue.concurrentPerform(iterations: 4) { writer in
      for value in 1...250 { settings[Key("w\(writer)", default: 0)] = value }
    }
    done.wait()
    #expect(notes.all == Array(1...1000))
    subscription.cancel()
  }

  @Test func `may be on the main queue`() async throws {
    let settings = settings
    let received = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Int, any Error>) in
      let token = Mutex<Subscription?>(nil)
      do {
        let subscription = try settings.observe(.volume, queue: .main) { change in
          dispatchPrecondition(condition: .onQueue(.main))
          MainActor.assertIsolated()
          // It ends with its token: there is one call.
          token.withLock { $0?.cancel() }
          continuation.resume(returning: change.new)
        }
        token.withLock { $0 = subscription }
        settings[.volume] = 60
      } catch {
        continuation.resume(throwing: error)
      }
    }
    #expect(received == 60)
  }

  @Test func `receives changes merged that came while its queue was not running`() async throws {
    let folder = try SharedFolder()
    let (here, there) = (try folder.store(), try folder.store())
    let (queue, notes) = (queue, notes)
    queue.suspend()
    let subscription = try here.observe(.volume, queue: queue) { notes.add($0.new) }
    var quick = here.changes(of: .volume).makeAsyncIterator()
    for value in 1...20 { there[.volume] = value }
    while try await quick.take(1)[0].new != 20 {}
    queue.resume()
    drain(until: 1)
    #expect(notes.all == [20])
    subscription.cancel()
  }

  @Test func `is called where the store says, if it names no queue and subscribes from then on`() throws {
    let (queue, notes) = (queue, notes)
    let early = Notes()
    let first = try settings.observe(.volume) { change in
      dispatchPrecondition(condition: .notOnQueue(queue))
      early.add(change.new)
    }
    settings.callbackQueue = queue
    #expect(settings.callbackQueue === queue)
    let second = try settings.observe(.volume) { change in
      dispatchPrecondition(condition: .onQueue(queue))
      notes.add(change.new)
    }
    let third = try settings.observe(.prefix("")) { _ in dispatchPrecondition(condition: .onQueue(queue)) }
    settings.callbackQueue = nil
    let fourth = try settings.observe(.volume) { _ in dispatchPrecondition(condition: .notOnQueue(queue)) }
    settings[.volume] = 60
    drain(until: 1)
    #expect(notes.all == [60])
    while early.all.isEmpty { queue.sync {} }
    for subscription in [first, second, third, fourth] { subscription.cancel() }
  }

  /// Runs the queue until there are `count` notes.
  private func drain(until count: Int) {
    while notes.all.count < count { queue.sync {} }
  }
}

@Suite(.timeLimit(.minutes(30))) struct `Cancelling an observer on a queue` {
  let settings = TestStore().store
  let queue = DispatchQueue(label: "observers")
  private let notes = Notes()

  @Test @MainActor func `on the main thread drops the call that waits for the main queue`() async throws {
    let notes = notes
    let subscription = try settings.observe(.volume, queue: .main) { notes.add($0.new) }
    // The call is queued on the main queue and cannot begin: this is the main thread.
    settings[.volume] = 60
    subscription.cancel()
    settings[.volume] = 70
    await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
    #expect(notes.all.isEmpty)
  }

  @Test func `drops the calls of a queue that does not run, and so does closing the store`() throws {
    let notes = notes
    queue.suspend()
    let cancelled = try settings.observe(.volume, queue: queue) { notes.add($0.new) }
    let closed = try settings.observe(.prefix(""), queue: queue) { _ in notes.add(0) }
    settings[.volume] = 60
    cancelled.cancel()
    settings.close()
    queue.resume()
    queue.sync {}
    #expect(notes.all.isEmpty)
    closed.cancel()
  }

  @Test func `waits for a running call`() throws {
    for _ in 0..<100 {
      let (settings, begun) = (TestStore().store, DispatchSemaphore(value: 0))
      let isOver = Atomic(false)
      let subscription = try settings.observe(.volume, queue: queue) { _ in
        begun.signal()
        for _ in 0..<200 { _ = settings[.volume] }
        isOver.store(true, ordering: .releasing)
      }
      settings[.volume] = 60
      begun.wait()
      subscription.cancel()
      let wasOver = isOver.load(ordering: .acquiring)
      #expect(wasOver)
    }
  }

  @Test func `is possible inside the call`() throws {
    let (queue, notes) = (queue, notes)
    let token = Mutex<Subscription?>(nil)
    let subscription = try settings.observe(.volume, queue: queue) { change in
      notes.add(change.new)
      token.withLock { $0?.cancel() }
    }
    token.withLock { $0 = subscription }
    settings[.volume] = 60
    settings[.volume] = 70
    while notes.all.isEmpty { queue.sync {} }
    settings[.volume] = 80
    queue.sync {}
    #expect(notes.all == [60])
  }

  @Test func `in the round that is running keeps it from being called`() throws {
    let (queue, notes, settings) = (queue, notes, settings)
    let tokens = Mutex<[Subscription]>([])
    // The first one that is called cancels the other, which has the same commit queued.
    let subscriptions = try (0..<2).map { own in
      try settings.observe(.volume, queue: queue) { _ in
        notes.add(own)
        tokens.withLock { $0[1 - own] }.cancel()
      }
    }
    tokens.withLock { $0 = subscriptions }
    settings[.volume] = 60
    while notes.all.isEmpty { queue.sync {} }
    // After everything that was queued.
    queue.sync {}
    #expect(notes.all.count == 1)
    tokens.withLock { $0 = [] }
  }

  @Test func `from another thread while changes pour in leaves nothing to come`() throws {
    let wide = DispatchQueue(label: "wide", attributes: .concurrent)
    for round in 0..<1000 {
      let calls = Atomic(0)
      let subscription = try settings.observe(.volume, queue: round % 2 == 0 ? queue : wide) { _ in
        calls.add(1, ordering: .sequentiallyConsistent)
      }
      settings[.volume] = round
      settings[.volume] = -round - 1
      subscription.cancel()
      let before = calls.load(ordering: .sequentiallyConsistent)
      settings[.volume] = -2 * round - 2000
      queue.sync {}
      let after = calls.load(ordering: .sequentiallyConsistent)
      #expect(after == before)
    }
  }

  @Test func `by dropping its token is cancelling`() throws {
    let notes = notes
    do {
      let subscription = try settings.observe(.volume, queue: queue) { notes.add($0.new) }
      withExtendedLifetime(subscription) {}
    }
    settings[.volume] = 60
    queue.sync {}
    #expect(notes.all.isEmpty)
  }

  @Test func `does not deadlock with a callback that removes its key`() throws {
    let (settings, notes) = (settings, notes)
    let subscription = try settings.observe(.volume, queue: queue) { change in
      notes.add(change.new)
      if change.event == .set { #expect(throws: Never.self) { try settings.remove(.volume) } }
    }
    settings[.volume] = 60
    while notes.all.count < 2 { queue.sync {} }
    #expect(notes.all == [60, 50])
    subscription.cancel()
  }
}
