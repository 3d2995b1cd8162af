// Subscribing to a store.

import KeptSystem
public import KeptValues

/// Which delivery calls an observer or takes its notices.
package enum DeliveryChoice: Sendable {
  /// The delivery chosen since the store was opened, or else the one it was opened with: a library thread or the host's
  /// loop.
  case asOpened
  /// Another delivery, which is notified when there is mail.
  case by(any Delivery)
}

extension Store {
  /// Calls `body` after each commit that changes something in the scope, in the order of the commits.
  ///
  /// Commits of this process are delivered one by one. Commits of other processes are delivered as they are found, and
  /// may be merged. `body` is called on the store's own thread, one call at a time and with no lock held, so it may
  /// read, write, subscribe, cancel and close. While a call takes longer than 100 ms, other subscriptions are called on
  /// another thread. A subscription whose call took that long is called concurrently with the others until 16 calls in
  /// a row have returned sooner. Up to four threads call such slow subscriptions.
  /// - Parameters:
  ///   - initial: first deliver the present values, on this thread, before `observe` returns.
  /// - Returns: the token. Dropping it ends the subscription.
  ///
  /// In C: `kept_observe`.
  public func observe(
    _ scope: Scope, initial: Bool = false, _ body: @escaping @Sendable (Notice) -> Void
  ) throws(StoreError) -> Subscription {
    let (subscription, deliverInitial) = try prepareToObserve(scope, initial: initial, afterLastCall: {}, body)
    deliverInitial()
    return subscription
  }

  /// Subscribes, and leaves the initial call to the caller, who must make it on this thread.
  /// - Parameters:
  ///   - isTaken: there are no calls; the caller takes the notices, including the initial one.
  ///   - afterLastCall: runs once, when `body` will not be called any more.
  package func prepareToObserve(
    _ scope: Scope, initial: Bool, isTaken: Bool = false, by delivery: DeliveryChoice = .asOpened,
    afterLastCall: @escaping @Sendable () -> Void, _ body: @escaping @Sendable (Notice) -> Void
  ) throws(StoreError) -> (Subscription, deliverInitial: () -> Void) {
    try checkMayObserve()
    let observer = Observer(
      scope, in: observation, of: self, by: try chosen(delivery), isStarting: true, body, afterLastCall: afterLastCall)
    let (present, revision) = try observation.add(observer)
    let notice = initial ? Notice(present: present, in: scope, at: revision) : nil
    return (
      Subscription(observer),
      { if let notice, !isTaken { observer.start(with: notice) } else { observer.start(waitingFor: notice) } }
    )
  }

  /// Subscribes for a caller that takes notices when there are any.
  ///
  /// An initial notice comes first.
  package func subscribeToTake(
    _ scope: Scope, initial: Bool, through delivery: any Delivery, afterEnd: @escaping @Sendable () -> Void
  ) throws(StoreError) -> Subscription {
    try checkMayObserve()
    let observer = Observer(
      scope, in: observation, of: self, by: delivery, isStarting: true, { _ in }, afterLastCall: afterEnd)
    let (present, revision) = try observation.add(observer)
    observer.start(waitingFor: initial ? Notice(present: present, in: scope, at: revision) : nil)
    return Subscription(observer)
  }

  /// Throws `unsupported` for a store that is open only to read.
  private func checkMayObserve() throws(StoreError) {
    guard options.isReadOnly else { return }
    throw StoreError(
      .unsupported, "the store is open read-only and has no thread for observers; open it without that option")
  }

  /// The delivery of observers that do not choose one, from now on; nil for the delivery that the store was opened
  /// with.
  package var ordinaryDelivery: (any Delivery)? {
    get { observation.ordinary }
    set { observation.ordinary = newValue }
  }

  /// The delivery by this program's own event loop.
  package func hostDelivery() throws(StoreError) -> HostDelivery {
    guard options.isHostDriven || hasEnded else {
      throw StoreError(
        .unsupported,
        "a thread of the library calls this store's observers; open the store with KEPT_BY_HOST to use "
          + "your own event loop")
    }
    return try observation.host()
  }

  /// Returns the delivery for a choice.
  package func chosen(_ delivery: DeliveryChoice) throws(StoreError) -> any Delivery {
    switch delivery {
    case .by(let delivery): delivery
    case .asOpened: if options.isHostDriven { try hostDelivery() } else { observation.ordinary ?? observation.library }
    }
  }
}

extension Notice {
  /// The current values in a scope.
  ///
  /// For a key, an absent value is reported as absent. For a prefix, only existing values are reported.
  fileprivate init(present: [Change], in scope: Scope, at revision: Revision) {
    var changes = present
    if case .key(let key) = scope, changes.isEmpty { changes = [Change(key: key, old: nil, new: nil)] }
    self.init(revisions: revision...revision, origin: .initial, time: .now, changes: changes)
  }
}
