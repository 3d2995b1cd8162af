// The token of a subscription, and the promise behind it: after `cancel` returns, no further call begins.

/// Ends its subscription when it is cancelled or dropped, and keeps its store open until then.
///
/// A store that nobody else refers to would else be closed at once: the compiler lets go of a program's own reference
/// after its last use, which may be the subscribing.
///
/// The C twin is `kept_subscription`.
public final class Subscription: Sendable {
  package let observer: Observer
  private let store: Store

  init(_ observer: Observer, in store: Store) {
    self.observer = observer
    self.store = store
  }

  deinit { cancel() }

  /// Ends the subscription.
  ///
  /// When it returns no further callback begins; one that runs is waited for, unless this is called from inside it.
  /// Cancelling twice is fine. The C twin is `kept_unobserve`.
  public func cancel() {
    store.observation.remove(observer)
    observer.cancel()
  }
}
