// Reading through keys: in a store, a transaction and a snapshot.

public import KeptCore

extension SettingsReading {
  /// Reads a key; never throws.
  ///
  /// It gives the key's default where no layer has a value, and where the one that decides cannot be read as the key's
  /// type: then the error handler hears why, and what is stored stays. In Python: `settings[key]`.
  @inlinable
  public subscript<Value>(key: Key<Value>) -> Value { (self as? Store)?.remembered(key) ?? valueOrDefault(key) }

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
      do throws(StoreError) { return try key.read(found, in: identity) } catch { /* The layers know more. */  }
    }
    let name = try key.keyName()
    let found = try resolved(name)
    if found.value == nil, let value = persistedDefaultIfAsked(key, under: binding) { return value }
    return try converting(name) { () throws(StoreError) in try key.read(found, in: identity) }
  }

  /// What the subscript reads.
  @usableFromInline func valueOrDefault<Value>(_ key: Key<Value>) -> Value { valueOrDefault(key, under: nil) }

  /// The same for a handle.
  func valueOrDefault<Value>(_ key: Key<Value>, under binding: Binding?) -> Value {
    if let found = known(key) {
      do throws(StoreError) { return try key.read(found, in: identity) } catch { /* The layers know more. */  }
    }
    do {
      let name = try key.keyName()
      let found = try resolved(name)
      if found.value == nil, let value = persistedDefaultIfAsked(key, under: binding) { return value }
      do throws(StoreError) {
        return try converting(name) { () throws(StoreError) in try key.read(found, in: identity) }
      } catch {
        identity.report(error)
        if found.layer == .user && key.persistDefault.onError, let settings = self as? any SettingsAccess {
          settings.replaceUnreadable(key, under: binding)
        }
      }
    } catch { recordFailure(error) }
    return key.defaultValue(in: identity)
  }

  /// What is stored in the place of nothing; nil: nothing is to be.
  ///
  /// A snapshot stores nothing.
  private func persistedDefaultIfAsked<Value>(_ key: Key<Value>, under binding: Binding?) -> Value? {
    guard key.persistDefault.whenAbsent, let settings = self as? any SettingsAccess else { return nil }
    return settings.persistedDefault(key, under: binding)
  }

  /// What a store's index knows, which needs no more than a look; nil leaves the key to the ordinary way.
  // Not in the key's type: each call would look for what an optional of that is.
  private func known(_ key: Key<some Sendable>) -> KeptCore.Value?? {
    guard let store = self as? Store, let found = store.known(key.prepared) else { return nil }
    return found == nil && key.persistDefault.whenAbsent ? nil : .some(found)
  }

  /// Keeps a failure that could not be thrown from being lost.
  func recordFailure(_ error: StoreError) {
    if let transaction = self as? Transaction { transaction.fail(error) } else { identity.report(error) }
  }
}

extension Key {
  /// Reads what the layers agreed upon.
  func read(_ resolved: Resolved, in store: StoreIdentity) throws(StoreError) -> Value {
    try read(resolved.value, in: store, from: resolved.layer, resolved.text)
  }
}
