// Which of several subscriptions one is: itself, so that a program can keep them in a set.

extension Subscription: Hashable {
  /// Whether both are the same subscription, not one that observes the same.
  public static func == (a: Subscription, b: Subscription) -> Bool { a === b }

  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
