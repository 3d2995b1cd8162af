// Subscribing to a store.

extension Store {
  /// Calls `body` after each commit that changes something in the scope, in the order of the commits.
  ///
  /// In this version a subscription hears of commits made in its own process. It is called on the store's own thread,
  /// one call at a time and with no lock held, so it may read, write, subscribe, cancel and close.
  /// - Parameters:
  ///   - initial: first deliver the present values, on this thread, before `observe` returns.
  /// - Returns: the token; dropping it ends the subscription.
  ///
  /// The C twin is `kept_observe`.
  public func observe(
    _ scope: Scope, initial: Bool = false, _ body: @escaping @Sendable (Notice) -> Void
  ) throws(StoreError) -> Subscription {
    let (subscription, deliverInitial) = try prepareToObserve(scope, initial: initial, afterLastCall: {}, body)
    deliverInitial()
    return subscription
  }

  /// Subscribes, and leaves the initial call to the caller, who must make it, on this thread.
  /// - Parameters:
  ///   - afterLastCall: runs once, when `body` will not be called any more.
  package func prepareToObserve(
    _ scope: Scope, initial: Bool, afterLastCall: @escaping @Sendable () -> Void,
    _ body: @escaping @Sendable (Notice) -> Void
  ) throws(StoreError) -> (Subscription, deliverInitial: () -> Void) {
    let observation = observation
    let queue = try observation.startedQueue()
    let observer = Observer(scope, body, afterLastCall: afterLastCall)
    let present = try subscribe(queue) { () throws(StoreError) in
      let revision = try currentRevision()
      let present = initial ? try self.present(scope, at: revision) : nil
      observer.begin(after: revision, awaitingInitial: initial)
      observation.add(observer)
      return present
    }
    return (Subscription(observer, in: observation), { if let present { observer.deliverInitial(present) } })
  }

  /// The values in a scope now.
  ///
  /// A key that is absent is told as absent; a prefix tells of what is there.
  private func present(_ scope: Scope, at revision: Revision) throws(StoreError) -> Notice {
    var changes: [Change] = []
    switch scope {
    case .key(let key):
      changes = [Change(key: key, old: nil, new: try entry(for: key)?.value)]
    case .prefix(let prefix):
      for key in try keys(prefix: prefix) {
        if let value = try entry(for: key)?.value { changes.append(Change(key: key, old: nil, new: value)) }
      }
    }
    return Notice(revision: revision, origin: .initial, changes: changes)
  }
}
