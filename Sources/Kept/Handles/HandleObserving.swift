// Observing a handle: any number of observers, and one in a slot of the handle itself.

public import Dispatch
public import KeptCore
import KeptSystem
import KeptValues

extension Handle {
  /// The change that observers of a handle receive; for a mapped handle both values are the mapped ones.
  public typealias Change = Key<Value>.Change

  /// Calls `body` after each commit that changes the value, by any writer, in the order of the commits.
  ///
  /// It is ``Store/observe(_:initial:_:)-(Key<Value>,_,_)`` in the handle's type. A value that cannot be read is
  /// delivered as the default, with the reason in ``Key/Change/error``. Throws `closed` if the store was closed or the
  /// handle destroyed, which also ends the subscription.
  /// - Parameters:
  ///   - initial: first deliver the present value, on this thread, before `observe` returns.
  ///   - queue: the queue for the calls; nil for the store's, see ``Store/callbackQueue``.
  ///   - body: the function to call.
  /// - Returns: the token. Dropping it ends the subscription.
  public func observe(
    initial: Bool = false, queue: DispatchQueue? = nil, _ body: @escaping @Sendable (Change) -> Void
  ) throws(StoreError) -> Subscription {
    try binding.checkAlive()
    let call = calling(body)
    let scope = Scope.key(binding.key)
    let subscription =
      if let queue { try store.observe(scope, initial: initial, queue: queue, call) } else {
        try store.observe(scope, initial: initial, call)
      }
    try binding.end(subscription)
    return subscription
  }

  /// The handle's own observer; nil if there is none.
  ///
  /// It is called for every later change of the value, by any writer. It is held until it is replaced by another or
  /// nil, ``invalidate()`` is called, the store is closed, or the handle is deallocated or destroyed. When the setter
  /// returns, the previous observer is no longer called. A failure to subscribe is reported to the error handler. For
  /// more than one observer, and for the initial value, use ``observe(initial:queue:_:)``.
  public var observer: (@Sendable (Change) -> Void)? {
    get { slot.observer }
    set {
      slot.replace(by: newValue) { delivery in
        report {
          guard let newValue else { return }
          try binding.checkAlive()
          let (subscription, start) = try store.prepareToObserve(
            .key(binding.key), initial: false, by: .by(delivery),
            afterLastCall: { [weak slot = slot] in slot?.end(delivery) }, calling(newValue))
          start()
          try binding.end(subscription)
          slot.keep(subscription, for: delivery)
        }
      }
    }
  }

  /// The queue on which ``observer`` is called from now on; nil for the store's.
  public var observerQueue: DispatchQueue? {
    get { slot.queue }
    set { slot.queue = newValue }
  }

  /// Removes the handle's own observer.
  public func invalidate() { observer = nil }

  /// Does not retain the handle, which would otherwise retain itself through its observer.
  private func calling(_ body: @escaping @Sendable (Change) -> Void) -> @Sendable (Notice) -> Void {
    let (source, texts) = (source, LayerTexts(of: binding.key, in: store))
    return { notice in
      if let change = source.change(in: notice, texts) { body(change) }
    }
  }
}
