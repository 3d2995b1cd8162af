// One subscriber of a publisher: its demand, the waiting notices, and its end.

#if canImport(Combine)
import Combine
private typealias SubscriptionOfSubscriber = Combine.Subscription
#elseif OpenCombine
import OpenCombine
private typealias SubscriptionOfSubscriber = OpenCombine.Subscription
#endif

#if canImport(Combine) || OpenCombine
import KeptCore
import KeptSystem

/// Passes notices to a subscriber according to its demand, one call at a time.
///
/// Notices without demand stay in the observer's mailbox, and the delivery is not notified of them. So the store's
/// thread never waits for a subscriber that is not ready, and memory stays bounded.
final class Conduit<Output: Sendable>: Sendable {
  typealias Downstream = any Subscriber<Output, Never>

  /// Each event changes the state, and then requests the next step from it; see ``after(_:)``.
  private struct State {
    // nil if the subscription has ended.
    var downstream: Downstream?
    var subscription: KeptCore.Subscription?
    var delivery: (any Delivery)?
    var demand = Subscribers.Demand.none
    // At most one value: the initial value until there is demand for it, or the value that is about to be published.
    var next: Output?
    // The observer, if it has mail that the delivery was not notified of.
    var waiting: Observer?
    // Initially true: the first call tells the subscriber that it has subscribed.
    var isCalling = true
    var isCancelled = false
    var hasEnded = false

    mutating func step() -> Step {
      guard let downstream, !isCalling else { return .rest }
      if isCancelled || hasEnded {
        defer { (self.downstream, subscription, next, waiting, delivery) = (nil, nil, nil, nil, nil) }
        return .finish(downstream, subscription, isTold: !isCancelled)
      }
      guard demand > .none else { return .rest }
      if let next {
        (self.next, isCalling) = (nil, true)
        demand -= 1
        return .call(downstream, next)
      }
      guard let waiting, let delivery else { return .rest }
      self.waiting = nil
      return .fetch(waiting, delivery)
    }
  }
  /// A step that is made with no lock held.
  private enum Step {
    case rest
    case call(Downstream, Output)
    case fetch(Observer, any Delivery)
    case finish(Downstream, KeptCore.Subscription?, isTold: Bool)
  }
  private let state: Monitor<State>

  init(to downstream: Downstream) {
    // Combine allows any thread to call a subscriber, one at a time, but does not declare that to the compiler.
    nonisolated(unsafe) let state = State(downstream: downstream)
    self.state = Monitor(state)
  }

  /// Sets the delivery that calls for the store.
  func publishes(by delivery: any Delivery) { state.update { $0.delivery = delivery } }

  /// Sets the subscription to cancel at the end.
  func ends(_ subscription: KeptCore.Subscription) { state.update { $0.subscription = subscription } }

  /// Begins calls: the subscriber has received its subscription.
  func begin() { after { $0.isCalling = false } }

  func publish(_ output: Output) {
    after { state in state.next = output }
  }

  /// Ends the subscription after the last value.
  func end() { after { $0.hasEnded = true } }

  private func after(_ change: (inout State) -> Void) {
    var step = state.update { state in
      change(&state)
      return state.step()
    }
    while case .call(let downstream, let output) = step {
      let demand = downstream.receive(output)
      step = state.update { state in
        state.isCalling = false
        state.demand += demand
        return state.step()
      }
    }
    switch step {
    case .fetch(let observer, let delivery): delivery.mailArrived(for: observer)
    case .finish(let downstream, let subscription, let isTold):
      if isTold { downstream.receive(completion: .finished) }
      subscription?.cancel()
    case .rest, .call: break
    }
  }
}

extension Conduit: Delivery {
  var fetchesMail: Bool { false }

  func mailArrived(for observer: Observer) { after { $0.waiting = observer } }
}

extension Conduit: SubscriptionOfSubscriber {
  func request(_ demand: Subscribers.Demand) { after { $0.demand += demand } }

  func cancel() { after { $0.isCancelled = true } }
}
#endif
