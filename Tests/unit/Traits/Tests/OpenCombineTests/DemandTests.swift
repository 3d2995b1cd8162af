// Demand: a subscriber receives what it requests, when it requests it, and the last value is never lost.

import Dispatch
import Kept
import OpenCombine
import Stores
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(30))) struct `Demand` {
  let test = TestStore()
  var settings: Store { test.store }

  @Test func `of none receives nothing, not even the present value, until there is some`() throws {
    let probe = Probe<Int>()
    settings.publisher(for: .volume).subscribe(probe)
    for value in [60, 70, 80] { settings[.volume] = value }
    try test.settle()
    #expect(probe.values.isEmpty)

    probe.request(.max(1))
    #expect(probe.values == [50], "the value at the time of subscribing, on this thread")
    try test.settle()
    #expect(probe.values == [50])

    probe.request(.max(2))
    test.wait { probe.values.count == 3 }
    try test.settle()
    #expect(probe.values == [50, 60, 70])

    probe.request(.unlimited)
    settings[.volume] = 90
    test.wait { probe.values.count == 5 }
    #expect(probe.values == [50, 60, 70, 80, 90])
    probe.cancel()
  }

  @Test func `of none stays none`() throws {
    let probe = Probe<Int>(onSubscription: { $0.request(.none) })
    settings.publisher(for: .volume).subscribe(probe)
    probe.request(.none)
    try test.settle()
    #expect(probe.values.isEmpty)
    probe.cancel()
  }

  @Test func `that a call returns is added to what there was`() throws {
    let probe = Probe<Int>(onSubscription: { $0.request(.max(1)) }) { value, _ in value == 60 ? .none : .max(1) }
    settings.publisher(for: .volume).subscribe(probe)
    for value in [60, 70] { settings[.volume] = value }
    test.wait { probe.values.count == 2 }
    try test.settle()
    #expect(probe.values == [50, 60], "the second call returned none")
    probe.cancel()
  }

  @Test func `may be raised in the middle of a call, which is not called again before it returns`() {
    let depth = Atomic(0)
    let probe = Probe<Int>(onSubscription: { $0.request(.max(1)) }) { _, subscription in
      #expect(depth.add(1, ordering: .relaxed).newValue == 1)
      subscription.request(.max(1))
      depth.subtract(1, ordering: .relaxed)
      return .none
    }
    settings.publisher(for: .volume).subscribe(probe)
    for value in 1...20 { settings[.volume] = value }
    test.wait { probe.values.count == 21 }
    #expect(probe.values == [50] + Array(1...20))
    probe.cancel()
  }

  @Test func `that comes late finds the last value, and no more than may wait`() {
    let probe = Probe<Key<Int>.Change>()
    settings.changesPublisher(for: .volume).subscribe(probe)
    for value in 1...10_000 { settings[.volume] = value }
    probe.request(.unlimited)
    test.wait { probe.values.last?.new == 10_000 }
    #expect(probe.values.count < 5_000)
    #expect(probe.values.first?.old == 50)
    for (one, next) in zip(probe.values, probe.values.dropFirst()) { #expect(one.new == next.old) }
    probe.cancel()
  }

  @Test func `of many threads comes to its sum`() throws {
    let calling = Atomic(0)
    let probe = Probe<Int>(onValue: { _, _ in
      #expect(calling.add(1, ordering: .relaxed).newValue == 1, "one call at a time")
      calling.subtract(1, ordering: .relaxed)
      return .none
    })
    let settings = settings
    settings.publisher(for: .volume).subscribe(probe)
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for number in 1...50 {
        if thread < 4 { settings[.volume] = thread * 1000 + number } else { probe.request(.max(1)) }
      }
    }
    try test.settle()
    for value in 1...200 { settings[.volume] = -value }
    test.wait { probe.values.count >= 200 }
    try test.settle()
    #expect(probe.values.count == 200)
    probe.request(.unlimited)
    test.wait { probe.values.last == -200 }
    probe.cancel()
  }

  @Test func `that is unlimited has everything that four threads write, in the order of the commits`() throws {
    let probe = Probe<Key<Int>.Change>(onSubscription: { $0.request(.unlimited) })
    let settings = settings
    settings.changesPublisher(for: .volume).subscribe(probe)
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for number in 1...250 { settings[.volume] = thread * 1000 + number }
    }
    test.wait { probe.values.count == 1000 }
    #expect(probe.values.map(\.revision) == Array(1...1000))
    #expect(probe.values.last?.new == settings[.volume])
    probe.cancel()
  }
}
