// Subscribing to a store.

/// Who calls an observer, or takes what it is to be told.
package enum DeliveryChoice: Sendable {
  /// As the store was opened: a thread of the library, or the host's loop; or as was chosen since.
  case asOpened
  /// Somebody else, who is told when there is mail.
  case by(any Delivery)
}

extension Store {
  /// Calls `body` after each commit that changes something in the scope, in the order of the commits.
  ///
  /// Commits of this process come one by one, those of others as they are found, perhaps merged. It is called on the
  /// store's own thread, one call at a time and with no lock held, so it may read, write, subscribe, cancel and close.
  /// While a call takes longer than 100 ms other subscriptions are called on another thread. A subscription whose call
  /// has taken so long is called beside the others until it has returned sooner 16 times in a row; up to four threads
  /// call such slow ones.
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
  ///   - isTaken: there are no calls: an initial notice, too, waits to be taken.
  ///   - afterLastCall: runs once, when `body` will not be called any more.
  package func prepareToObserve(
    _ scope: Scope, initial: Bool, isTaken: Bool = false, by delivery: DeliveryChoice = .asOpened,
    afterLastCall: @escaping @Sendable () -> Void, _ body: @escaping @Sendable (Notice) -> Void
  ) throws(StoreError) -> (Subscription, deliverInitial: () -> Void) {
    let observer = Observer(
      scope, of: self, by: try chosen(delivery), isStarting: true, body, afterLastCall: afterLastCall)
    let (present, revision) = try observation.add(observer)
    let notice = initial ? Notice(present: present, in: scope, at: revision) : nil
    return (
      Subscription(observer),
      { if let notice, !isTaken { observer.start(with: notice) } else { observer.start(waitingFor: notice) } }
    )
  }

  /// Subscribes for somebody who takes notices when there are any; an initial one is the first.
  package func subscribeToTake(
    _ scope: Scope, initial: Bool, toldBy delivery: any Delivery, afterEnd: @escaping @Sendable () -> Void
  ) throws(StoreError) -> Subscription {
    let observer = Observer(
      scope, of: self, by: delivery, isStarting: true, { _ in }, afterLastCall: afterEnd)
    let (present, revision) = try observation.add(observer)
    observer.start(waitingFor: initial ? Notice(present: present, in: scope, at: revision) : nil)
    return Subscription(observer)
  }

  /// Who calls observers that do not say by whom, from now on; nil: as the store was opened.
  package var ordinaryDelivery: (any Delivery)? {
    get { observation.ordinary }
    set { observation.ordinary = newValue }
  }

  /// The delivery by this program's own event loop.
  package func hostDelivery() throws(StoreError) -> HostDelivery {
    guard options.isHostDriven || hasEnded else {
      throw StoreError(
        .unsupported,
        "a thread of the library calls this store's observers; open it with KEPT_BY_HOST for a loop of your own")
    }
    return try observation.host()
  }

  /// Who it is.
  package func chosen(_ delivery: DeliveryChoice) throws(StoreError) -> any Delivery {
    switch delivery {
    case .by(let delivery): delivery
    case .asOpened: if options.isHostDriven { try hostDelivery() } else { observation.ordinary ?? observation.library }
    }
  }
}

extension Notice {
  /// The values in a scope now.
  ///
  /// A key that is absent is told as absent; a prefix tells of what is there.
  fileprivate init(present: [Change], in scope: Scope, at revision: Revision) {
    var changes = present
    if case .key(let key) = scope, changes.isEmpty { changes = [Change(key: key, old: nil, new: nil)] }
    self.init(revisions: revision...revision, origin: .initial, changes: changes)
  }
}
