// Writing through keys, in a store as in a transaction.

public import KeptCore

extension SettingsAccess {
  /// Reads or writes a key; never throws.
  ///
  /// Reading gives the key's default where no layer has a value, and where the one that decides cannot be read as the
  /// key's type: then the error handler hears why, and what is stored stays. Writing nil removes the key; a value that
  /// cannot be written is told to the error handler, and the old one stays. It also hears `shadowed` of a write that is
  /// stored, but hidden by the command line or the environment. In a transaction a failed write, or a read that did not
  /// reach the store, is thrown when it commits.
  ///
  /// `settings[.volume] += 1` is two operations, and another writer may come between them:
  /// ``Store/update(_:_:)->Value`` is one. In Python: `settings[key]`.
  @inlinable
  public subscript<Value>(key: Key<Value>) -> Value {
    // Where `self` is known to be a store, the question costs nothing.
    get { (self as? Store)?.remembered(key) ?? valueOrDefault(key) }
    set { setOrReport(newValue, for: key) }
  }

  /// Writes a key; nil removes it.
  ///
  /// Throws `invalid` for a value that no store can hold, such as a date of the year 10000, and `tooLarge` for one over
  /// the limits; `locked` for a key that an administrator has locked; `wrongType` or `invalid` for what breaks the
  /// key's declaration. What was stored before stays. The C twins are `kept_set_bool` and its kin. In Python:
  /// `settings[key] = value`.
  /// - Returns: the layer that hides what is stored, the command line or the environment; nil: nothing hides it.
  @discardableResult
  public func set<Value>(_ value: Value, for key: Key<Value>) throws(StoreError) -> Layer? {
    let name = try key.keyName()
    let stored = try converting(name) { () throws(StoreError) in try key.write(value) }
    if stored == .null {
      try clear(name)
    } else {
      _ = try put(try stored.checked(for: name), for: name, ifRevision: nil)
    }
    return layerHiding(name)
  }

  /// Writes a key if it still has the revision that you read; 0 expects that it is absent.
  ///
  /// Throws `conflict`, with nothing written, if the key has another revision, `invalid` for nil, and what
  /// ``set(_:for:)`` throws. The C twin is `kept_set_json_if`. In Python: `settings.set(key, value, if_revision=...)`.
  /// - Returns: the key's revision afterwards, 0 inside a transaction.
  @discardableResult
  public func set<Value>(
    _ value: Value, for key: Key<Value>, ifRevision expected: Revision
  ) throws(StoreError) -> Revision {
    let name = try key.keyName()
    let stored = try converting(name) { () throws(StoreError) in try key.write(value) }
    return try put(try stored.checked(for: name), for: name, ifRevision: expected)
  }

  /// Removes what is stored under a key; false if there was nothing to remove.
  ///
  /// The C twin is `kept_remove`. In Python: `del settings[key]`.
  @discardableResult
  public func remove(_ key: Key<some Sendable>) throws(StoreError) -> Bool { try delete(try key.keyName()) }

  /// What the subscript writes.
  @usableFromInline func setOrReport<Value>(_ value: Value, for key: Key<Value>) {
    do throws(StoreError) {
      if let layer = try set(value, for: key) { store.report(.shadowed(try key.keyName(), by: layer)) }
    } catch { recordFailure(error) }
  }
}
