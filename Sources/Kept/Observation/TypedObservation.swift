// Observing the changes of a key.

public import KeptCore
import KeptValues

extension Store {
  /// Calls `body` after each commit that changes the key, in this process or another, in the order of the commits.
  ///
  /// Commits of this process are delivered one by one, unless the observer is far behind. Commits of other processes
  /// are delivered as they are found. Those found together are delivered as one change, from the value before the first
  /// to the value after the last; ``Key/Change/revisions`` has their revisions, and ``Key/Change/origin`` their origin.
  /// If the store no longer has all intermediate changes, ``Key/Change/mayHaveMissed`` is true, and the value is still
  /// correct. A value that does not have the key's type is delivered as the default, with the reason in
  /// ``Key/Change/error``.
  ///
  /// `body` is called on the store's own thread, or on its ``callbackQueue``, one call at a time and with no lock held,
  /// so it may read, write, subscribe, cancel and close. Throws `closed`, and `invalid` for a key whose name is not
  /// valid. In C: `kept_observe`. In Python: `settings.observe(key)`.
  ///
  /// With `initial` the present value is delivered first, on this thread, before `observe` returns.
  /// - Returns: the token. Dropping it ends the subscription.
  public func observe<Value>(
    _ key: Key<Value>, initial: Bool = false, _ body: @escaping @Sendable (Key<Value>.Change) -> Void
  ) throws(StoreError) -> Subscription {
    let name = try key.keyName()
    let texts = LayerTexts(of: name, in: self)
    return try observe(.key(name), initial: initial) { notice in
      if let change = Key.Change(in: notice, of: key, texts) { body(change) }
    }
  }
}
