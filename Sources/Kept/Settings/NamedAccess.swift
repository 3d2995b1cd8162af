// Reading and writing in a type of the program's without a Key: by a name alone.

public import KeptCore

extension SettingsReading {
  /// Reads what has a name as a type; nil where no layer has a value.
  ///
  /// ```swift
  /// let volume = try settings.value(Int.self, forKey: "audio.volume") ?? 50
  /// ```
  ///
  /// It is ``value(for:)->Value`` of a key without a default: what is registered or declared counts, and a text of the
  /// command line or the environment is read as the type. Throws `wrongType` with the key and both kinds if the value
  /// is none of the type, and it stays stored; `invalid` for a name that is no key. A ``Key`` finds the value faster,
  /// and its type cannot be mistaken elsewhere. The C counterparts are `kept_get_bool` and its kin. In Python:
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
  /// It does what ``set(_:for:)`` does with a ``Key``, and throws the same; `invalid` also for a name that is no key.
  /// The C counterparts are `kept_set_bool` and its kin. In Python: `settings[name] = value`.
  /// - Returns: the layer that hides what is stored, the command line or the environment; nil: nothing hides it.
  // A literal is a Value, as ever: a dictionary's may have keys that are equal to Swift and not to the store.
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
