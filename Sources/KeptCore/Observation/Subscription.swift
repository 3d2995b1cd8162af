// The token of a subscription. After `cancel` returns, no further call begins.

/// Ends its subscription when it is cancelled or dropped, and keeps its store open until then.
///
/// Without this reference, a store that has no other would be closed at once: the compiler releases a program's own
/// reference after its last use, which may be the subscribing. Ending the subscription releases the closure and the
/// store: ``cancel()``, closing the store or dropping the token does so, or a running callback as it returns.
///
/// In C: `kept_subscription`.
public final class Subscription: Sendable {
  package let observer: Observer

  init(_ observer: Observer) { self.observer = observer }

  deinit { cancel() }

  /// Ends the subscription.
  ///
  /// When it returns, no further callback begins. A running callback is waited for, unless this is called from inside
  /// it. Cancelling twice has no further effect. In C: `kept_unobserve`.
  public func cancel() { observer.cancelSubscription() }
}
