// Reading and writing through keys, in a store as in a transaction.

public import KeptCore

extension SettingsAccess {
  /// Reads or writes a key; never throws.
  ///
  /// Reading gives the key's default where nothing is stored, and where what is stored cannot be read as the key's
  /// type: then the error handler hears why, and the stored value stays. Writing nil removes the key; a value that
  /// cannot be written is told to the error handler, and the old one stays. In a transaction a failed write, or a read
  /// that did not reach the store, is thrown when it commits.
  ///
  /// `settings[.volume] += 1` is two operations, and another writer may come between them: ``Store/update(_:_:)`` is
  /// one. In Python: `settings[key]`.
  @inlinable
  public subscript<Value: Storable>(key: Key<Value>) -> Value {
    // Where `self` is known to be a store, the question costs nothing.
    get { (self as? Store)?.remembered(key) ?? valueOrDefault(key) }
    set { setOrReport(newValue, for: key) }
  }

  /// Reads a key; its default where nothing is stored.
  ///
  /// Throws `wrongType` with the key and both kinds if the stored value is none of the key's type; it stays stored.
  /// The C twins are `kept_get_bool`, `kept_get_int64`, `kept_get_double`, `kept_get_string`, `kept_get_bytes`,
  /// `kept_get_date`, and `kept_get_json` for everything else. In Python: `settings[key]`.
  @inlinable
  public func value<Value: Storable>(for key: Key<Value>) throws(StoreError) -> Value {
    if let value = (self as? Store)?.remembered(key) { return value }
    return try storedOrDefault(key)
  }

  /// Writes a key; nil removes it.
  ///
  /// Throws `invalid` for a value that no store can hold, such as a date of the year 10000, and `tooLarge` for one over
  /// the limits; what was stored before stays. The C twins are `kept_set_bool` and its kin. In Python:
  /// `settings[key] = value`.
  public func set<Value: Storable>(_ value: Value, for key: Key<Value>) throws(StoreError) {
    let name = try key.keyName()
    let stored = try key.write(value)
    if stored == .null {
      _ = try delete(name)
    } else {
      _ = try put(try stored.checked(for: name), for: name, ifRevision: nil)
    }
  }

  /// Writes a key if it still has the revision that you read; 0 expects that it is absent.
  ///
  /// Throws `conflict`, with nothing written, if the key has another revision, `invalid` for nil, and what
  /// ``set(_:for:)`` throws. The C twin is `kept_set_json_if`. In Python: `settings.set(key, value, if_revision=...)`.
  /// - Returns: the key's revision afterwards, 0 inside a transaction.
  @discardableResult
  public func set<Value: Storable>(
    _ value: Value, for key: Key<Value>, ifRevision expected: Revision
  ) throws(StoreError) -> Revision {
    let name = try key.keyName()
    return try put(try key.write(value).checked(for: name), for: name, ifRevision: expected)
  }

  /// Removes a key, so that it reads as its default; false if there was nothing to remove.
  ///
  /// The C twin is `kept_remove`. In Python: `del settings[key]`.
  @discardableResult
  public func remove(_ key: Key<some Storable>) throws(StoreError) -> Bool { try delete(try key.keyName()) }

  /// Whether something is stored under the key, be it of the key's type or not.
  ///
  /// The C twin is `kept_contains`. In Python: `key in settings`.
  public func contains(_ key: Key<some Storable>) throws(StoreError) -> Bool { try stored(key) != nil }

  /// The revision that last changed the key; nil if nothing is stored, 0 if this transaction wrote it.
  ///
  /// The C twin is `kept_revision_of`. In Python: `settings.revision(key)`.
  public func revision(of key: Key<some Storable>) throws(StoreError) -> Revision? { try revision(of: key.name) }

  @usableFromInline func storedOrDefault<Value: Storable>(_ key: Key<Value>) throws(StoreError) -> Value {
    try key.read(try stored(key))
  }

  /// What the subscript reads.
  @usableFromInline func valueOrDefault<Value: Storable>(_ key: Key<Value>) -> Value {
    do {
      let stored = try stored(key)
      do { return try key.read(stored) } catch { report(error) }
    } catch { recordFailure(error) }
    return key.defaultValue
  }

  /// What the subscript writes.
  @usableFromInline func setOrReport<Value: Storable>(_ value: Value, for key: Key<Value>) {
    do { try set(value, for: key) } catch { recordFailure(error) }
  }

  private func stored(_ key: Key<some Storable>) throws(StoreError) -> KeptCore.Value? {
    // What the store's index knows needs no more than a look.
    if let store = self as? Store, let known = store.known(key.bytes) { return known }
    return try entry(for: try key.keyName())?.value
  }
}

extension SettingsAccess {
  /// Tells the error handler of a value that could not be read.
  private func report(_ error: StoreError) {
    if let store = self as? Store ?? (self as? Transaction)?.store { store.report(error) }
  }

  /// Keeps a failure that could not be thrown from being lost.
  private func recordFailure(_ error: StoreError) {
    if let transaction = self as? Transaction { transaction.fail(error) } else { report(error) }
  }
}
