// Observers that are called on a queue of the program's choice.

public import Dispatch
public import KeptCore

extension Store {
  /// Where observers that name no queue are called, for those who subscribe from now on; nil: on the store's own
  /// thread.
  ///
  /// `store.callbackQueue = .main` suits a program whose main queue runs: one with an event loop on it, or an `async`
  /// `main`. Where nothing drains the queue nothing is called. Initial values still come before `observe` returns.
  public var callbackQueue: DispatchQueue? {
    get { (ordinaryDelivery as? QueueDelivery)?.queue }
    set { ordinaryDelivery = newValue.map(QueueDelivery.init) }
  }

  /// Calls `body` on a queue after each commit that changes something in the scope, in the order of the commits.
  ///
  /// The queue may be serial or concurrent: the calls of one subscription come one at a time either way, and with no
  /// lock held, so they may read, write, subscribe, cancel and close. A queue that is slow, or does not run, delays
  /// only its own observers: what waits is merged as for a slow one.
  ///
  /// ``Subscription/cancel()`` keeps its promise from any thread, also on the queue itself: a call that waits in the
  /// queue is dropped, and one that runs is waited for. Only a call that in turn waits for the canceller would wait for
  /// ever. Throws `closed`. In C: `kept_observe` in a store opened with `KEPT_BY_HOST`. In Python: a subscription calls
  /// on the library's thread; `settings.changes(...)` brings changes to an event loop.
  ///
  /// With `initial` the present values are delivered first, on this thread, before `observe` returns.
  /// - Returns: the token; dropping it ends the subscription.
  public func observe(
    _ scope: Scope, initial: Bool = false, queue: DispatchQueue, _ body: @escaping @Sendable (Notice) -> Void
  ) throws(StoreError) -> Subscription {
    let (subscription, deliverInitial) = try prepareToObserve(
      scope, initial: initial, by: .by(QueueDelivery(queue)), afterLastCall: {}, body)
    deliverInitial()
    return subscription
  }

  /// Calls `body` on a queue after each commit that changes the key, in the order of the commits.
  ///
  /// It is the same as for a ``Scope``, with the changes in the key's own type: a value that is none of it comes as the
  /// default, with the reason in ``Key/Change/error``. Throws `closed`, and `invalid` for a key whose name is none.
  public func observe<Value>(
    _ key: Key<Value>, initial: Bool = false, queue: DispatchQueue,
    _ body: @escaping @Sendable (Key<Value>.Change) -> Void
  ) throws(StoreError) -> Subscription {
    let name = try key.keyName()
    let texts = LayerTexts(of: name, in: self)
    return try observe(.key(name), initial: initial, queue: queue) { notice in
      if let change = Key.Change(in: notice, of: key, texts) { body(change) }
    }
  }
}

/// Calls observers on a queue: one piece of work for each call, and the next one when it is done.
private final class QueueDelivery: Delivery {
  let queue: DispatchQueue

  init(_ queue: DispatchQueue) { self.queue = queue }

  var fetchesMail: Bool { false }

  func mailArrived(for observer: Observer) { queue.async { observer.deliverNext() } }
}
