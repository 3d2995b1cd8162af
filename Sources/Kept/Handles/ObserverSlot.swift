// The single observer that a handle holds, and the queue on which it is called.

import Dispatch
import KeptCore
import KeptSystem
import KeptValues

/// Holds an observer and its subscription until they are replaced.
final class ObserverSlot<Value: Sendable>: Sendable {
  typealias Observing = @Sendable (Handle<Value>.Change) -> Void

  private struct State {
    var observer: Observing?
    var subscription: Subscription?
    var delivery: QueueOfSlot?
    var queue: DispatchQueue?
  }
  private let state = Monitor(State())
  private let store: Store

  init(_ store: Store) { self.store = store }

  var observer: Observing? { state.read(\.observer) }

  /// The queue on which the observer is called; nil for the store's.
  var queue: DispatchQueue? {
    get { state.read(\.queue) }
    set {
      state.update { state in
        state.queue = newValue
        state.delivery?.queue = newValue
      }
    }
  }

  /// Ends the current observer, and calls `subscribe` for its replacement.
  func replace(by observer: Observing?, _ subscribe: (QueueOfSlot) -> Void) {
    // The objects of the current observer are released with no lock held.
    let (former, delivery) = state.update { state in
      let (former, delivery) = (state, QueueOfSlot(store, state.queue))
      (state.observer, state.subscription, state.delivery) = (observer, nil, delivery)
      return (former, delivery)
    }
    former.subscription?.cancel()
    subscribe(delivery)
  }

  /// Releases an observer whose subscription has ended because the store was closed or the handle destroyed.
  func end(_ delivery: QueueOfSlot) {
    let former = state.update { state -> State? in
      guard state.delivery === delivery else { return nil }
      defer { (state.observer, state.subscription, state.delivery) = (nil, nil, nil) }
      return state
    }
    withExtendedLifetime(former) {}
  }

  /// Keeps a subscription while the observer that it was made for is in place.
  func keep(_ subscription: Subscription, for delivery: QueueOfSlot) {
    let isInPlace = state.update { state in
      guard state.delivery === delivery else { return false }
      state.subscription = subscription
      return true
    }
    if !isInPlace { subscription.cancel() }
  }
}

/// Delivers on a queue that may change between two calls.
final class QueueOfSlot: Delivery {
  private let chosen: Monitor<DispatchQueue?>
  private weak let store: Store?

  init(_ store: Store, _ queue: DispatchQueue?) {
    self.store = store
    chosen = Monitor(queue)
  }

  var queue: DispatchQueue? {
    get { chosen.read { $0 } }
    set { chosen.update { $0 = newValue } }
  }

  var fetchesMail: Bool { false }

  func mailArrived(for observer: Observer) {
    if let queue { return queue.async { observer.deliverNext() } }
    // The store's own delivery; if the store no longer exists, there is nothing to deliver.
    (try? store?.chosen(.asOpened))?.mailArrived(for: observer)
  }
}
