// Observers that are called on a queue of the program's choice.

public import Dispatch
public import KeptCore
import KeptValues

extension Store {
  /// The queue for observers that specify none and subscribe from now on; nil for the store's own thread.
  ///
  /// `store.callbackQueue = .main` suits a program whose main queue runs: one with an event loop on it, or an `async`
  /// `main`. If the queue is not drained, no observer is called. Initial values are still delivered before `observe`
  /// returns.
  public var callbackQueue: DispatchQueue? {
    get { (ordinaryDelivery as? QueueDelivery)?.queue }
    set { ordinaryDelivery = newValue.map(QueueDelivery.init) }
  }

  /// Calls `body` on a queue after each commit that changes something in the scope, in the order of the commits.
  ///
  /// The queue may be serial or concurrent: the calls of one subscription are made one at a time in both cases, and
  /// with no lock held, so they may read, write, subscribe, cancel and close. A queue that is slow, or does not run,
  /// delays only its own observers: their waiting notices are merged as for any slow observer.
  ///
  /// After ``Subscription/cancel()`` no call begins, from whatever thread it is called, including the queue itself: a
  /// call that waits in the queue is dropped, and a running call is waited for. A deadlock occurs only if that call in
  /// turn waits for the cancelling thread. Throws `closed`. In C: `kept_observe` in a store opened with `KEPT_BY_HOST`.
  /// In Python: a subscription calls on the library's thread; `settings.changes(...)` delivers changes to an event
  /// loop.
  ///
  /// With `initial` the present values are delivered first, on this thread, before `observe` returns.
  /// - Returns: the token. Dropping it ends the subscription.
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
  /// It works as for a ``Scope``, with the changes in the key's own type: a value that does not have it is delivered as
  /// the default, with the reason in ``Key/Change/error``. Throws `closed`, and `invalid` for a key whose name is not
  /// valid.
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

/// Calls observers on a queue: one work item for each call, and the next one when it is done.
private final class QueueDelivery: Delivery {
  let queue: DispatchQueue

  init(_ queue: DispatchQueue) { self.queue = queue }

  var fetchesMail: Bool { false }

  func mailArrived(for observer: Observer) { queue.async { observer.deliverNext() } }
}
