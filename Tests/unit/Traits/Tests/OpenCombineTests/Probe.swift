// A subscriber that requests as much as a test asks, and records everything that it receives.

import Kept
import OpenCombine
import Stores
import Synchronization
import Testing

/// Subscribes without demand by default.
final class Probe<Input: Sendable>: Subscriber, @unchecked Sendable {
  typealias Failure = Never
  private let received = Notes<Input>()
  private let finished = Atomic(0)
  // Set once, before anything is received.
  private var subscription: (any OpenCombine.Subscription)?
  private let onSubscription: (any OpenCombine.Subscription) -> Void
  private let onValue: (Input, any OpenCombine.Subscription) -> Subscribers.Demand

  init(
    onSubscription: @escaping (any OpenCombine.Subscription) -> Void = { _ in },
    onValue: @escaping (Input, any OpenCombine.Subscription) -> Subscribers.Demand = { _, _ in .none }
  ) {
    (self.onSubscription, self.onValue) = (onSubscription, onValue)
  }

  /// What it has received so far.
  var values: [Input] { received.all }
  /// The number of completions that it has received so far.
  var completions: Int { finished.load(ordering: .acquiring) }

  func request(_ demand: Subscribers.Demand) { subscription?.request(demand) }
  func cancel() { subscription?.cancel() }

  func receive(subscription: any OpenCombine.Subscription) {
    #expect(self.subscription == nil, "it subscribes once")
    self.subscription = subscription
    onSubscription(subscription)
  }

  func receive(_ input: Input) -> Subscribers.Demand {
    received.add(input)
    guard let subscription else {
      Issue.record("a value came before the subscription")
      return .none
    }
    return onValue(input, subscription)
  }

  func receive(completion: Subscribers.Completion<Never>) { finished.add(1, ordering: .releasing) }
}
