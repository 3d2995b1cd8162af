// The token of a subscription, and the promise behind it: after `cancel` returns, no further call begins.

/// Ends its subscription when it is cancelled or dropped, and keeps its store open until then.
///
/// A store that nobody else refers to would else be closed at once: the compiler lets go of a program's own reference
/// after its last use, which may be the subscribing. The end of the subscription, by ``cancel()``, by closing the store
/// or by dropping the token, releases the closure and the store, or a running callback does as it returns.
///
/// The C twin is `kept_subscription`.
public final class Subscription: Sendable {
  package let observer: Observer

  init(_ observer: Observer) { self.observer = observer }

  deinit { cancel() }

  /// Ends the subscription.
  ///
  /// When it returns no further callback begins; one that runs is waited for, unless this is called from inside it.
  /// Cancelling twice is fine. The C twin is `kept_unobserve`.
  public func cancel() { observer.cancelSubscription() }
}
