// When defaults are evaluated: not before they are needed, and once for each store, on any number of threads.

import Foundation
import Kept
import Synchronization
import Testing

/// Counts how often a default is evaluated, and returns the count.
private final class Count: Sendable {
  private let count = Atomic(0)
  var now: Int { count.load(ordering: .relaxed) }
  func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}

@Suite struct `A lazy default` {
  let settings = TestStore().store

  @Test func `is evaluated at the first read that needs it, and never again`() throws {
    let count = Count()
    let key = Key("lazy", default: count.next())
    settings[key] = 7
    #expect(settings[key] == 7 && count.now == 0)
    try settings.remove(key)
    #expect(settings[key] == 1)
    #expect(try settings.value(for: key) == 1)
    #expect(try settings.updateValue(key) { $0 += 10 } == 11)
    try settings.remove(key)
    #expect(try settings.transaction { $0[key] } == 1)
    #expect(count.now == 1)
  }

  @Test func `is another one for each store, also for one that takes the place of a closed one`() {
    let count = Count()
    let key = Key("lazy", default: count.next())
    #expect(settings[key] == 1)
    for number in 2...40 {
      let store = TestStore().store
      #expect(store[key] == number)
      #expect(store[key] == number)
    }
    #expect(settings[key] == 1)
  }

  @Test func `is evaluated once by ten threads that come at the same time`() {
    for _ in 0..<20 {
      let settings = TestStore().store
      let count = Count()
      let arrived = Atomic(0)
      let seen = Guarded<[Int]>([])
      let key = Key(
        "lazy",
        default: {
          // No thread gets the value before all have requested it.
          while arrived.load(ordering: .acquiring) < 10 { sched_yield() }
          return count.next()
        }())
      onThreads(10) { _ in
        arrived.add(1, ordering: .releasing)
        let value = settings[key]
        seen.update { $0.append(value) }
      }
      #expect(seen.update { $0 } == Array(repeating: 1, count: 10))
      #expect(count.now == 1)
    }
  }

  @Test func `may read the store, its own key, and what reads it in turn`() {
    let settings = settings
    let isInside = Guarded(false)
    let keys = Guarded<Key<Int>?>(nil)
    let key = Key(
      "own",
      default: {
        let wasInside = isInside.update { inside in
          defer { inside = true }
          return inside
        }
        guard !wasInside, let own = keys.update({ $0 }) else { return 1 }
        return settings[own] + 1
      }())
    keys.update { $0 = key }
    #expect(settings[key] == 1, "the first result counts")
    #expect(settings[key] == 1)
    let half = Key("half", default: settings[key] + 41)
    #expect(settings[half] == 42)
  }

  @Test func `that waits for a thread which reads it does not deadlock`() {
    let runs = Count()
    let place = Guarded<LazyDefault<Int>?>(nil)
    let settings = settings
    let lazy = LazyDefault(patienceMilliseconds: 1) {
      let run = runs.next()
      guard run == 1, let own = place.update({ $0 }) else { return run }
      onThreads(1) { _ in _ = own.value(for: settings.identity) }
      return run
    }
    place.update { $0 = lazy }
    #expect(lazy.value(for: settings.identity) == 2)
    #expect(lazy.value(for: settings.identity) == 2 && runs.now == 2)
    place.update { $0 = nil }
  }

  @Test func `is delivered to an observer, and not evaluated for it again`() throws {
    let count = Count()
    let key = Key("lazy", default: count.next())
    let received = Guarded<[Int]>([])
    let subscription = try settings.observe(key, initial: true) { change in
      received.update { $0.append(change.new) }
    }
    #expect(received.update { $0 } == [1])
    #expect(settings[key] == 1 && count.now == 1)
    subscription.cancel()
  }
}
