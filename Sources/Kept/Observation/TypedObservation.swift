// Hearing of the changes of a key.

public import KeptCore

extension Store {
  /// Calls `body` after each commit that changes the key, in this process or another, in the order of the commits.
  ///
  /// Commits of this process come one by one, unless the observer is far behind. Those of other processes come as they
  /// are found, and those found together come as one change, from the value before the first to the one after the last;
  /// ``Key/Change/revisions`` says which, and ``Key/Change/origin`` whose. Where the store no longer knows all that
  /// happened, ``Key/Change/mayHaveMissed`` says so, and the value is right all the same. A value that is none of the
  /// key's type comes as the default, with the reason in ``Key/Change/error``.
  ///
  /// It is called on the store's own thread, or on its ``callbackQueue``, one call at a time and with no lock held, so
  /// it may read, write, subscribe, cancel and close. Throws `closed`, and `invalid` for a key whose name is none. The
  /// C twin is `kept_observe`. In Python: `settings.observe(key)`.
  ///
  /// With `initial` the present value is delivered first, on this thread, before `observe` returns.
  /// - Returns: the token; dropping it ends the subscription.
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
