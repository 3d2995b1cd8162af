// Reading through typed keys, in a store, a transaction and a snapshot.

public import KeptCore
import KeptValues

extension SettingsReading {
  /// Reads a key; never throws.
  ///
  /// It returns the key's default if no layer has a value, or if the deciding value cannot be read as the key's type;
  /// then the error handler receives the reason, and the stored value stays. In Python: `settings[key]`.
  @inlinable
  public subscript<Value>(key: Key<Value>) -> Value {
    guard let store = self as? Store else { return valueOrDefault(key) }
    return store.remembered(key) ?? valueOrDefault(key)
  }

  /// Reads a key; its default if no layer has a value.
  ///
  /// Throws `wrongType` with the key and both kinds if the value does not have the key's type; it stays stored. A text
  /// of the command line or the environment is read as the key's type, if possible. In C: `kept_get_bool`,
  /// `kept_get_int64`, `kept_get_double`, `kept_get_string`, `kept_get_bytes`, `kept_get_date`, and `kept_get_json` for
  /// all other types. In Python: `settings[key]`.
  @inlinable
  public func value<Value>(for key: Key<Value>) throws(StoreError) -> Value {
    if let store = self as? Store, let value = store.remembered(key) { return value }
    return try storedOrDefault(key)
  }

  /// Whether any layer has a value for the key, of the key's type or not; defaults are disregarded.
  ///
  /// In C: `kept_contains`. In Python: `key in settings`.
  public func contains(_ key: Key<some Sendable>) throws(StoreError) -> Bool { try contains(try key.keyName()) }

  /// The revision that last changed the stored value; nil if nothing is stored, 0 if this transaction wrote it.
  ///
  /// In C: `kept_revision_of`. In Python: `settings.revision(key)`.
  public func revision(of key: Key<some Sendable>) throws(StoreError) -> Revision? { try revision(of: key.name) }

  @usableFromInline func storedOrDefault<Value>(_ key: Key<Value>) throws(StoreError) -> Value {
    try storedOrDefault(key, under: nil)
  }

  /// Reads a key for a handle.
  func storedOrDefault<Value>(_ key: Key<Value>, under binding: Binding?) throws(StoreError) -> Value {
    if let found = known(key) {
      do throws(StoreError) { return try key.read(found, in: identity) } catch { /* Resolve all layers. */  }
    }
    let name = try key.keyName()
    let found = try resolved(name)
    if found.value == nil, let value = persistedDefaultIfAsked(key, under: binding) { return value }
    return try converting(name) { () throws(StoreError) in try key.read(found, in: identity) }
  }

  /// The value for the subscript.
  @usableFromInline func valueOrDefault<Value>(_ key: Key<Value>) -> Value { valueOrDefault(key, under: nil) }

  /// The value for a handle.
  func valueOrDefault<Value>(_ key: Key<Value>, under binding: Binding?) -> Value {
    if let found = known(key) {
      do throws(StoreError) { return try key.read(found, in: identity) } catch { /* Resolve all layers. */  }
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

  /// The default that was stored for an absent key; nil if none is to be stored.
  ///
  /// A snapshot stores nothing.
  private func persistedDefaultIfAsked<Value>(_ key: Key<Value>, under binding: Binding?) -> Value? {
    guard key.persistDefault.whenAbsent, let settings = self as? any SettingsAccess else { return nil }
    return settings.persistedDefault(key, under: binding)
  }

  /// The value in a store's index; nil leaves the key to the ordinary path.
  // Not in the key's type: each call would look up the metadata of an optional of it.
  private func known(_ key: Key<some Sendable>) -> KeptValues.Value?? {
    guard let store = self as? Store, let found = store.known(key.prepared) else { return nil }
    return found == nil && key.persistDefault.whenAbsent ? nil : .some(found)
  }

  /// Records a failure that could not be thrown, so that it is not lost.
  func recordFailure(_ error: StoreError) {
    if let transaction = self as? Transaction { transaction.fail(error) } else { identity.report(error) }
  }
}

extension Key {
  /// Reads the resolved value as the key's type.
  package func read(_ resolved: Resolved, in store: StoreIdentity) throws(StoreError) -> Value {
    try read(resolved.value, in: store, from: resolved.layer, resolved.text)
  }
}
