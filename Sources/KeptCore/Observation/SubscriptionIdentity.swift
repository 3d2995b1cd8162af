// Identity of subscriptions, so that a program can keep them in a set.

extension Subscription: Hashable {
  /// Whether both are the same subscription.
  ///
  /// Two subscriptions with the same scope are not equal.
  public static func == (a: Subscription, b: Subscription) -> Bool { a === b }

  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
