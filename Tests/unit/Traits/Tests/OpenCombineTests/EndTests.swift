// How a subscription ends: cancelled, released, or with the store; and that nothing is delivered after that.

import Dispatch
import Kept
import OpenCombine
import Stores
import Testing

@Suite(.timeLimit(.minutes(30))) struct `A cancelled subscriber` {
  let test = TestStore()
  var settings: Store { test.store }

  @Test func `receives nothing more, not even a completion`() throws {
    let probe = Probe<Int>(onSubscription: { $0.request(.unlimited) })
    settings.publisher(for: .volume).subscribe(probe)
    settings[.volume] = 60
    test.wait { probe.values.count == 2 }
    probe.cancel()
    probe.cancel()
    settings[.volume] = 70
    probe.request(.unlimited)
    try test.settle()
    settings.close()
    #expect(probe.values == [50, 60])
    #expect(probe.completions == 0)
  }

  @Test func `receives nothing more when it cancels in the middle of a call`() throws {
    let probe = Probe<Int>(onSubscription: { $0.request(.unlimited) }) { value, subscription in
      if value == 60 { subscription.cancel() }
      return .unlimited
    }
    settings.publisher(for: .volume).subscribe(probe)
    test.queue.suspend()
    for value in [60, 70, 80] { settings[.volume] = value }
    test.queue.resume()
    test.wait { probe.values.count >= 2 }
    try test.settle()
    #expect(probe.values == [50, 60])
    #expect(probe.completions == 0)
  }

  @Test func `receives not even the present value when it cancels as it subscribes, or at the first call`() throws {
    let never = Probe<Int>(onSubscription: {
      $0.request(.unlimited)
      $0.cancel()
    })
    settings.publisher(for: .volume).subscribe(never)
    let once = Probe<Int>(onSubscription: { $0.request(.unlimited) }) { _, subscription in
      subscription.cancel()
      return .none
    }
    settings.publisher(for: .volume).subscribe(once)
    settings[.volume] = 60
    try test.settle()
    #expect(never.values.isEmpty)
    #expect(once.values == [50])
  }

  @Test func `is not waited for when it is in a call on another thread, and no other call begins`() throws {
    let (entered, mayLeave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let probe = Probe<Int>(onSubscription: { $0.request(.unlimited) }) { value, _ in
      if value == 60 {
        entered.signal()
        #expect(mayLeave.isSignalled)
      }
      return .none
    }
    settings.publisher(for: .volume).subscribe(probe)
    settings[.volume] = 60
    settings[.volume] = 70
    #expect(entered.isSignalled)
    probe.cancel()
    mayLeave.signal()
    try test.settle()
    #expect(probe.values == [50, 60])
  }

  // `flatMap` holds a lock while it calls the sink, for which the other store's thread waits.
  @Test func `does not wait for ever for a call that waits for the one it cancels in`() throws {
    let other = TestStore()
    let (inside, waiting) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let received = Notes<Int>()
    // Assigned before any value is published that cancels it.
    var token: AnyCancellable?
    let theirs = other.store.publisher(for: .volume).handleEvents(receiveOutput: { if $0 == 1 { waiting.signal() } })
    let both = [settings.publisher(for: .volume).eraseToAnyPublisher(), theirs.eraseToAnyPublisher()]
    token = both.publisher.flatMap { $0 }.sink { value in
      received.add(value)
      guard value == 60 else { return }
      inside.signal()
      #expect(waiting.isSignalled)
      token?.cancel()
    }
    settings[.volume] = 60
    #expect(inside.isSignalled)
    other.store[.volume] = 1
    try test.settle()
    try other.settle()
    settings[.volume] = 70
    other.store[.volume] = 2
    try test.settle()
    try other.settle()
    // A call that was in progress is still delivered.
    #expect(received.all.filter { $0 != 1 } == [50, 50, 60])
  }

  @Test func `is cancelled by dropping its token, and keeps no store open after that`() throws {
    weak var store: Store?
    let volumes = Notes<Int>()
    do {
      let settings = Store(storage: MemoryStorage())
      store = settings
      var token: AnyCancellable? = settings.publisher(for: .volume).sink { volumes.add($0) }
      #expect(token != nil)
      token = nil
      settings[.volume] = 60
      settings.close()
    }
    #expect(volumes.all == [50])
    #expect(store == nil)
  }

  @Test func `keeps its store open until then`() {
    let volumes = Notes<Int>()
    weak var store: Store?
    var token: AnyCancellable?
    do {
      let settings = Store(storage: MemoryStorage())
      store = settings
      token = settings.publisher(for: .volume).sink { volumes.add($0) }
    }
    #expect(store != nil)
    token?.cancel()
    #expect(store == nil)
    #expect(volumes.all == [50])
  }

  @Test func `among many that come and go while others write receives nothing after its end`() throws {
    let settings = settings
    let gone = Notes<Probe<Int>>()
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for number in 1...50 {
        settings[.volume] = thread * 1000 + number
        guard thread > 1 else { continue }
        let probe = Probe<Int>(onSubscription: { $0.request(.unlimited) })
        settings.publisher(for: .volume).subscribe(probe)
        probe.cancel()
        gone.add(probe)
      }
    }
    // Calls that were in progress have ended.
    try test.settle()
    let received = gone.all.map(\.values)
    for value in 1...5 { settings[.volume] = -value }
    try test.settle()
    #expect(gone.all.map(\.values) == received)
    #expect(received.count == 300)
    #expect(gone.all.allSatisfy { $0.completions == 0 })
  }
}

@Suite(.timeLimit(.minutes(30))) struct `The end of the store` {
  let test = TestStore()
  var settings: Store { test.store }

  @Test(arguments: [Subscribers.Demand.unlimited, .none, .max(1)])
  func `finishes its publishers, once, whatever they have demand for`(demand: Subscribers.Demand) {
    let probe = Probe<Int>(onSubscription: { $0.request(demand) })
    settings.publisher(for: .volume).subscribe(probe)
    settings.close()
    #expect(probe.completions == 1)
    settings.close()
    probe.request(.unlimited)
    probe.cancel()
    #expect(probe.values == (demand > .none ? [50] : []))
    #expect(probe.completions == 1)
  }

  @Test func `may come from a subscriber, which receives the completion when its call has returned`() throws {
    let settings = settings
    let completionsInside = Notes<Int>()
    weak var weakProbe: Probe<Int>?
    let probe = Probe<Int>(onSubscription: { $0.request(.unlimited) }) { value, _ in
      if value == 60 {
        settings.close()
        completionsInside.add(weakProbe?.completions ?? -1)
      }
      return .none
    }
    weakProbe = probe
    settings.publisher(for: .volume).subscribe(probe)
    settings[.volume] = 60
    test.wait { probe.completions == 1 }
    #expect(completionsInside.all == [0])
    #expect(probe.values == [50, 60])
  }

  @Test func `may come while the present value is being delivered on another thread`() {
    let settings = settings
    let (entered, mayLeave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let probe = Probe<Int>(onValue: { _, _ in
      entered.signal()
      #expect(mayLeave.isSignalled)
      return .none
    })
    settings.publisher(for: .volume).subscribe(probe)
    let asking = DispatchQueue(label: "asking")
    asking.async { probe.request(.max(1)) }
    #expect(entered.isSignalled)
    settings.close()
    #expect(probe.completions == 0, "it is in a call")
    mayLeave.signal()
    asking.sync {}
    #expect(probe.completions == 1)
  }

  @Test func `before the first subscription finishes at once, and the error handler receives the reason`() {
    settings.close()
    let (values, changes) = (Probe<Int>(), Probe<Key<Int>.Change>())
    settings.publisher(for: .volume).subscribe(values)
    settings.changesPublisher(for: .volume).subscribe(changes)
    #expect(values.completions == 1 && changes.completions == 1)
    #expect(values.values.isEmpty)
    #expect(test.takeReported().map(\.code) == [.closed, .closed])
  }

  @Test(arguments: ["", "a\0b", String(repeating: "x", count: 1025)])
  func `comes at once for a key with an invalid name`(name: String) {
    let probe = Probe<Int>(onSubscription: { $0.request(.unlimited) })
    settings.publisher(for: Key(name, default: 1)).subscribe(probe)
    #expect(probe.values.isEmpty)
    #expect(probe.completions == 1)
    #expect(test.takeReported().map(\.code) == [.invalid])
  }
}
