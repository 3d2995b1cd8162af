// Writing through typed keys, in a store or a transaction.

public import KeptCore
import KeptValues

extension SettingsAccess {
  /// Reads or writes a key; never throws.
  ///
  /// Reading returns the key's default if no layer has a value, or if the deciding value cannot be read as the key's
  /// type; then the error handler receives the reason, and the stored value stays. Writing nil removes the key. A
  /// failed write is reported to the error handler, and the old value stays. A write that is stored, but hidden by the
  /// command line or the environment, is reported as `shadowed`. In a transaction, the commit throws the error of a
  /// failed write, or of a read that did not reach the store.
  ///
  /// `settings[.volume] += 1` is two operations, between which another writer may write:
  /// ``Store/updateValue(_:_:)->Value`` is one. In Python: `settings[key]`.
  @inlinable
  public subscript<Value>(key: Key<Value>) -> Value {
    // If `self` is known to be a store, the check costs nothing.
    get {
      guard let store = self as? Store else { return valueOrDefault(key) }
      return store.remembered(key) ?? valueOrDefault(key)
    }
    set { setOrReport(newValue, for: key) }
  }

  /// Writes a key; nil removes it.
  ///
  /// Throws `invalid` for a value that no store can hold, such as a date of the year 10000, and `tooLarge` for one over
  /// the limits; `locked` for a key that an administrator has locked; `wrongType` or `invalid` for a value that
  /// violates the key's declaration. The stored value stays then. In C: `kept_set_bool` and similar functions. In
  /// Python: `settings[key] = value`.
  /// - Returns: the layer that hides the stored value, the command line or the environment; nil if none does.
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
  /// ``set(_:for:)`` throws. In C: `kept_set_json_if`. In Python: `settings.set(key, value, if_revision=...)`.
  /// - Returns: the key's revision afterwards, 0 inside a transaction.
  @discardableResult
  public func set<Value>(
    _ value: Value, for key: Key<Value>, ifRevision expected: Revision
  ) throws(StoreError) -> Revision {
    let name = try key.keyName()
    let stored = try converting(name) { () throws(StoreError) in try key.write(value) }
    return try put(try stored.checked(for: name), for: name, ifRevision: expected)
  }

  /// Removes the stored value of a key; returns false if there was nothing to remove.
  ///
  /// In C: `kept_remove`. In Python: `del settings[key]`.
  @discardableResult
  public func remove(_ key: Key<some Sendable>) throws(StoreError) -> Bool { try delete(try key.keyName()) }

  /// Writes the value for the subscript.
  @usableFromInline func setOrReport<Value>(_ value: Value, for key: Key<Value>) {
    do throws(StoreError) {
      if let layer = try set(value, for: key) { store.report(.shadowed(try key.keyName(), by: layer)) }
    } catch { recordFailure(error) }
  }
}
