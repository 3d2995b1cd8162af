// Reading and writing through keys, in a store as in a transaction.

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

  /// Reads a key; its default where no layer has a value.
  ///
  /// Throws `wrongType` with the key and both kinds if the value is none of the key's type; it stays stored. A text of
  /// the command line or the environment is read as the key's type, if it can be.
  /// The C twins are `kept_get_bool`, `kept_get_int64`, `kept_get_double`, `kept_get_string`, `kept_get_bytes`,
  /// `kept_get_date`, and `kept_get_json` for everything else. In Python: `settings[key]`.
  @inlinable
  public func value<Value>(for key: Key<Value>) throws(StoreError) -> Value {
    if let value = (self as? Store)?.remembered(key) { return value }
    return try storedOrDefault(key)
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
    let stored = try key.write(value)
    if stored == .null {
      _ = try delete(name)
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
    return try put(try key.write(value).checked(for: name), for: name, ifRevision: expected)
  }

  /// Removes what is stored under a key; false if there was nothing to remove.
  ///
  /// The C twin is `kept_remove`. In Python: `del settings[key]`.
  @discardableResult
  public func remove(_ key: Key<some Sendable>) throws(StoreError) -> Bool { try delete(try key.keyName()) }

  /// Whether any layer has something for the key, be it of the key's type or not; defaults do not count.
  ///
  /// The C twin is `kept_contains`. In Python: `key in settings`.
  public func contains(_ key: Key<some Sendable>) throws(StoreError) -> Bool { try contains(try key.keyName()) }

  /// The revision that last changed what is stored; nil if nothing is stored, 0 if this transaction wrote it.
  ///
  /// The C twin is `kept_revision_of`. In Python: `settings.revision(key)`.
  public func revision(of key: Key<some Sendable>) throws(StoreError) -> Revision? { try revision(of: key.name) }

  @usableFromInline func storedOrDefault<Value>(_ key: Key<Value>) throws(StoreError) -> Value {
    try storedOrDefault(key, under: nil)
  }

  /// The same for a handle.
  func storedOrDefault<Value>(_ key: Key<Value>, under binding: Binding?) throws(StoreError) -> Value {
    if let found = known(key) {
      do throws(StoreError) { return try key.read(found, in: store.identity) } catch { /* The layers know more. */  }
    }
    let found = try resolved(try key.keyName())
    if found.value == nil && key.persistDefault.whenAbsent { return persistedDefault(key, under: binding) }
    return try key.read(found, in: store)
  }

  /// What the subscript reads.
  @usableFromInline func valueOrDefault<Value>(_ key: Key<Value>) -> Value { valueOrDefault(key, under: nil) }

  /// The same for a handle.
  func valueOrDefault<Value>(_ key: Key<Value>, under binding: Binding?) -> Value {
    if let found = known(key) {
      do throws(StoreError) { return try key.read(found, in: store.identity) } catch { /* The layers know more. */  }
    }
    do {
      let found = try resolved(try key.keyName())
      if found.value == nil && key.persistDefault.whenAbsent { return persistedDefault(key, under: binding) }
      do { return try key.read(found, in: store) } catch {
        store.report(error)
        if found.layer == .user && key.persistDefault.onError { replaceUnreadable(key, under: binding) }
      }
    } catch { recordFailure(error) }
    return key.defaultValue(in: store)
  }

  /// What the subscript writes.
  @usableFromInline func setOrReport<Value>(_ value: Value, for key: Key<Value>) {
    do throws(StoreError) {
      if let layer = try set(value, for: key) { store.report(.shadowed(try key.keyName(), by: layer)) }
    } catch { recordFailure(error) }
  }

  /// What a store's index knows, which needs no more than a look; nil leaves the key to the ordinary way.
  // Not in the key's type: each call would look for what an optional of that is.
  private func known(_ key: Key<some Sendable>) -> KeptCore.Value?? {
    guard let store = self as? Store, let found = store.known(key.prepared) else { return nil }
    return found == nil && key.persistDefault.whenAbsent ? nil : .some(found)
  }

  /// Keeps a failure that could not be thrown from being lost.
  private func recordFailure(_ error: StoreError) {
    if let transaction = self as? Transaction { transaction.fail(error) } else { store.report(error) }
  }
}

extension Key {
  /// Reads what the layers agreed upon.
  func read(_ resolved: Resolved, in store: Store) throws(StoreError) -> Value {
    try read(resolved.value, in: store.identity, from: resolved.layer, resolved.text)
  }
}
