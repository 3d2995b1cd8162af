// An observer of a scenario: it records what it receives until a step asks for it.

import Foundation
import Kept

/// A notice in the form of the scenarios, and its time.
struct ReceivedNotice {
  let form: ScenarioValue
  let time: Timestamp
}

/// Receives a store's changes on the store's own thread.
final class ScenarioListener: Sendable {
  /// The received notices; guarded by its condition.
  private final class Received: @unchecked Sendable {
    let condition = NSCondition()
    var notices: [ReceivedNotice] = []
    var expectedCount = 0
    // For an observer that cancels itself in its first callback.
    var own: Subscription?

    /// The subscription.
    ///
    /// The first callback may run before it is assigned.
    func awaitOwn() -> Subscription? {
      condition.withLock {
        while own == nil { guard condition.wait(until: Date(timeIntervalSinceNow: 10)) else { return nil } }
        defer { own = nil }
        return own
      }
    }
  }
  private let received: Received
  private let subscription: Subscription

  /// - Parameter once: it cancels itself in its first callback.
  init(to store: Store, _ scope: Scope, initial: Bool, once: Bool) throws {
    let received = Received()
    self.received = received
    subscription = try store.observe(scope, initial: initial) { notice in
      received.condition.withLock {
        received.notices.append(ReceivedNotice(form: ScenarioValue(notice), time: notice.time))
        received.condition.broadcast()
      }
      if once { received.awaitOwn()?.cancel() }
    }
    received.condition.withLock {
      if once { received.own = subscription }
      received.condition.broadcast()
    }
  }

  /// The next notices; waits for them for up to ten seconds.
  func next(_ count: Int) throws -> [ReceivedNotice] {
    let deadline = Date(timeIntervalSinceNow: 10)
    return try received.condition.withLock {
      let first = received.expectedCount
      received.expectedCount += count
      while received.notices.count < received.expectedCount {
        guard received.condition.wait(until: deadline) else {
          throw ScenarioFault("too few notices came in ten seconds")
        }
      }
      return Array(received.notices[first..<received.expectedCount])
    }
  }

  /// The notices that no step has asked for.
  var unexpected: [ScenarioValue] {
    received.condition.withLock { received.notices.dropFirst(received.expectedCount).map(\.form) }
  }

  func cancel() { subscription.cancel() }
}

extension ScenarioListener {
  /// Adds the fields that an expected notice leaves out, and removes its times, which were compared with clocks.
  static func complete(_ expected: ScenarioValue) -> ScenarioValue {
    guard case .object(let members) = expected else { return expected }
    let otherwise = ["first": members["revision"] ?? .null, "tag": .null, "missed": .bool(false)]
    let all = otherwise.merging(members) { _, given in given }
    return .object(all.filter { !["after", "before"].contains($0.key) })
  }
}

extension ScenarioValue {
  fileprivate init(_ notice: Notice) {
    let origin =
      switch notice.origin {
      case .store: "store"
      case .process: "process"
      case .otherProcess: "other"
      case .initial: "initial"
      case .several: "several"
      case .layer: "layer"
      }
    func text(_ value: Value?) -> ScenarioValue { value.map { .text($0.json) } ?? .null }
    self = .object([
      "revision": .number(notice.revision),
      "first": .number(notice.revisions.lowerBound),
      "tag": notice.tag.map { .text($0) } ?? .null,
      "missed": .bool(notice.mayHaveMissed),
      "origin": .text(origin),
      "changes": .list(
        notice.changes.map { change in
          .object([
            "key": .text(change.key.text), "old": text(change.old), "new": text(change.new),
            "layer": .text(change.newLayer?.description ?? "none"), "secret": .bool(change.isSecret),
          ])
        }),
    ])
  }
}
