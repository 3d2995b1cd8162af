// One subscriber of a publisher: what it has asked for, what waits for that, and when it is over.

#if canImport(Combine)
import Combine
private typealias SubscriptionOfSubscriber = Combine.Subscription
#elseif OpenCombine
import OpenCombine
private typealias SubscriptionOfSubscriber = OpenCombine.Subscription
#endif

#if canImport(Combine) || OpenCombine
import KeptCore

/// Brings notices to a subscriber, as many as it has demand for, one call at a time.
///
/// What there is no demand for stays in the observer's mailbox: the delivery is not told of it. So the store's thread
/// never waits for a subscriber that is not ready, and memory stays bounded.
final class Conduit<Output: Sendable>: Sendable {
  typealias Downstream = any Subscriber<Output, Never>

  /// Everything that happens changes the state, and then asks it for the next step; see ``after(_:)``.
  private struct State {
    // nil: it is over.
    var downstream: Downstream?
    var subscription: KeptCore.Subscription?
    var delivery: (any Delivery)?
    var demand = Subscribers.Demand.none
    // One at most: the initial value until there is demand for it, or what is about to be published.
    var next: Output?
    // It has mail of which the delivery has not been told.
    var waiting: Observer?
    // From the start: the first call tells the subscriber that it has subscribed.
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
  /// What is done with no lock held.
  private enum Step {
    case rest
    case call(Downstream, Output)
    case fetch(Observer, any Delivery)
    case finish(Downstream, KeptCore.Subscription?, isTold: Bool)
  }
  private let state: Monitor<State>

  init(to downstream: Downstream) {
    // Combine lets any thread call a subscriber, one at a time, and does not say so to the compiler.
    nonisolated(unsafe) let state = State(downstream: downstream)
    self.state = Monitor(state)
  }

  /// Who calls for the store.
  func publishes(by delivery: any Delivery) { state.update { $0.delivery = delivery } }

  /// What is cancelled when this is over.
  func ends(_ subscription: KeptCore.Subscription) { state.update { $0.subscription = subscription } }

  /// The subscriber knows of its subscription and may be called.
  func begin() { after { $0.isCalling = false } }

  func publish(_ output: Output) {
    after { state in state.next = output }
  }

  /// There is nothing more to come.
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
