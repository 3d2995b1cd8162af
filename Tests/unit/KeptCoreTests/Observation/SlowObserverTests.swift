// Slow observers do not delay the others, however many there are, and there are never more than a few threads.

import Foundation
@testable import KeptSystem
@testable import KeptValues
import Synchronization
import Testing

@testable import KeptCore

/// Observers whose calls block until the test lets them return.
private final class Held: Sendable {
  let mayReturn = Monitor(false)
  let (inside, most) = (Monitor(0), Monitor(0))

  func receive(_: Notice) {
    let now = inside.update { inside in
      inside += 1
      return inside
    }
    most.update { $0 = max($0, now) }
    mayReturn.wait { $0 ? () : nil }
    inside.update { $0 -= 1 }
  }
}

@Suite(.timeLimit(.minutes(30))) struct `Slow observers` {
  let store: Store
  let received = ReceivedNotices()
  init() throws { store = try Store.open("memory:") }

  /// From now on nothing depends on time.
  private func stopTheClock() { store.shared.watcher.patience.store(3_600_000, ordering: .relaxed) }

  private func observe(slow count: Int, _ body: @escaping @Sendable (Notice) -> Void) throws -> [Subscription] {
    try (1...count).map { _ in
      let subscription = try store.observe(.key(key("a")), body)
      subscription.observer.note(isSlow: true)
      return subscription
    }
  }

  private func set(_ values: ClosedRange<Int>) throws {
    for value in values { try store.set(.int(Int64(value)), forKey: "a") }
  }

  @Test(arguments: [1, 12]) func `are found to be slow, and delay the others once`(count: Int) throws {
    let begun = Monitor(0)
    let received = received
    // Each call blocks until the next observer is called, and the last until the fast one is.
    let slow = try (1...count).map { number in
      try store.observe(.key(key("a"))) { _ in
        begun.update { $0 = max($0, number) }
        if number < count { begun.wait { $0 > number ? () : nil } } else { _ = received.first(1) }
      }
    }
    let quick = try store.observe(.key(key("a")), received.add)
    try set(1...1)
    #expect(received.first(1).count == 1)
    for subscription in slow { #expect(subscription.observer.isSlow) }
    for subscription in slow + [quick] { subscription.cancel() }
  }

  @Test(arguments: [1, 3, 100]) func `do not delay a quick one, however many they are`(count: Int) throws {
    stopTheClock()
    let held = Held()
    let slow = try observe(slow: count, held.receive)
    let quick = try store.observe(.key(key("a")), received.add)
    for value in 1...30 {
      try set(value...value)
      _ = received.first(value)
    }
    held.inside.wait { $0 == min(count, Watcher.mostForSlow) ? () : nil }
    held.mayReturn.update { $0 = true }
    for subscription in slow + [quick] { subscription.cancel() }
    #expect(held.most.read { $0 } <= Watcher.mostForSlow, "there are so many threads for them, and no more")
    #expect(received.all.map(\.revision) == Array(1...30))
  }

  @Test func `receive everything in order, when there are more of them than threads`() throws {
    stopTheClock()
    let (count, last) = (3 * Watcher.mostForSlow, 40)
    let all = (1...count).map { _ in ReceivedNotices() }
    let slow = try all.map { try observe(slow: 1, $0.add)[0] }
    let quick = try store.observe(.key(key("a")), received.add)
    try set(1...last)
    for one in all + [received] { #expect(one.first(last).map(\.revision) == (1...last).map(Revision.init)) }
    for subscription in slow + [quick] { subscription.cancel() }
  }

  @Test func `that have become quick are called with the others again`() throws {
    stopTheClock()
    let slow = try observe(slow: 1) { _ in }[0]
    try set(1...Observer.quickCallsInARow)
    while slow.observer.isSlow { sched_yield() }
    slow.observer.note(isSlow: true)
    slow.observer.note(isSlow: false)
    #expect(slow.observer.isSlow)
    slow.cancel()
  }

  @Test func `can be cancelled, and their store be closed, while they wait for a thread`() throws {
    stopTheClock()
    let held = Held()
    let slow = try observe(slow: 3 * Watcher.mostForSlow, held.receive)
    try set(1...1)
    held.inside.wait { $0 == Watcher.mostForSlow ? () : nil }
    let waiting = slow.filter { $0.observer.caller == nil }
    #expect(waiting.count == 2 * Watcher.mostForSlow)
    waiting[0].cancel()
    try LibraryThread.start { held.mayReturn.update { $0 = true } }
    store.close()
    #expect(held.inside.read { $0 } == 0)
    for subscription in slow { subscription.cancel() }
  }

  @Test func `of one store are gone with their threads`() throws {
    weak var shared: SharedStore?
    do {
      let store = try Store.open("memory:")
      shared = store.shared
      let slow = try store.observe(.key(key("a")), received.add)
      slow.observer.note(isSlow: true)
      try store.set(1, forKey: "a")
      _ = received.first(1)
      store.close()
    }
    while shared != nil { sched_yield() }
  }
}
