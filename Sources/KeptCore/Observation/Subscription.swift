// The token of a subscription, and the promise behind it: after `cancel` returns, no further call begins.

/// Ends its subscription when it is cancelled or dropped.
///
/// The C twin is `kept_subscription`.
public final class Subscription: Sendable {
  package let observer: Observer
  private let observation: StoreObservation

  init(_ observer: Observer, in observation: StoreObservation) {
    self.observer = observer
    self.observation = observation
  }

  deinit { cancel() }

  /// Ends the subscription.
  ///
  /// When it returns no further callback begins; one that runs is waited for, unless this is called from inside it.
  /// Cancelling twice is fine. The C twin is `kept_unobserve`.
  public func cancel() {
    observation.remove(observer)
    observer.cancel()
  }
}
