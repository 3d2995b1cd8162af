// Reading and writing typed values by name, without a Key.

public import KeptCore
import KeptValues

extension SettingsReading {
  /// Reads the value with a name as a type; nil if no layer has a value.
  ///
  /// ```swift
  /// let volume = try settings.value(Int.self, forKey: "audio.volume") ?? 50
  /// ```
  ///
  /// It is ``value(for:)->Value`` for a key without a default: registered and declared defaults apply, and a text of
  /// the command line or the environment is read as the type. Throws `wrongType` with the key and both kinds if the
  /// value does not have the type, and it stays stored; `invalid` for a name that is not a valid key. A ``Key`` is
  /// faster, and defines the type in one place. In C: `kept_get_bool` and similar functions. In Python:
  /// `settings[name]`.
  public func value<Stored: Storable>(_ type: Stored.Type, forKey key: String) throws(StoreError) -> Stored? {
    let name = try KeyName(key)
    let found = try resolved(name)
    guard let value = found.value else { return nil }
    let coding = KeyCoding<Stored>.plain
    return try converting(name) { () throws(StoreError) in
      do throws(StoreError) { return try coding.read(value) } catch {
        if let read = coding.read(found.text) { return read }
        throw error.found(in: found.layer).about(key)
      }
    }
  }
}

extension SettingsAccess {
  /// Writes a value of any ``Storable`` type under a name; nil removes the key.
  ///
  /// ```swift
  /// let volume = 70
  /// try settings.set(volume, forKey: "audio.volume")
  /// ```
  ///
  /// It works like ``set(_:for:)`` with a ``Key``, and throws the same errors; `invalid` also for a name that is not a
  /// valid key. In C: `kept_set_bool` and similar functions. In Python: `settings[name] = value`.
  /// - Returns: the layer that hides the stored value, the command line or the environment; nil if none does.
  // A literal is a Value, as before: a dictionary literal may have keys that are equal in Swift and not in the store.
  @_disfavoredOverload
  @discardableResult
  public func set<Stored: Storable>(_ value: Stored, forKey key: String) throws(StoreError) -> Layer? {
    try set(try storedForm(of: value, forKey: key), forKey: key)
  }

  /// Writes a value of any ``Storable`` type if the key still has the revision that you read; 0 expects that it is
  /// absent.
  ///
  /// Throws what ``set(_:for:ifRevision:)`` throws.
  /// - Returns: the key's revision afterwards, 0 inside a transaction.
  @_disfavoredOverload
  @discardableResult
  public func set<Stored: Storable>(
    _ value: Stored, forKey key: String, ifRevision expected: Revision
  ) throws(StoreError) -> Revision {
    try set(try storedForm(of: value, forKey: key), forKey: key, ifRevision: expected)
  }

  private func storedForm(of value: some Storable, forKey key: String) throws(StoreError) -> Value {
    try converting(try KeyName(key)) { () throws(StoreError) in
      do throws(StoreError) { return try value.stored() } catch { throw error.about(key) }
    }
  }
}
