// What a store and a transaction have in common: the same calls read and write both.

/// Something with keys and values: a ``Store`` or a ``Transaction``.
///
/// Kept's own types alone conform; it is public so that you can write functions that take either.
public protocol SettingsAccess: AnyObject, Sendable {
  /// What is known of a key; nil or an entry without a value: it is absent.
  func entry(for key: KeyName) throws(StoreError) -> Entry?

  /// The keys that begin with a text and have a value, in the order of their bytes.
  func keys(prefix: ExactString) throws(StoreError) -> [KeyName]

  /// Writes a value that was made ready by ``Value/checkedForStore()``.
  ///
  /// - Parameter expected: if not nil, the revision that the key must have; 0: it must be absent.
  /// - Returns: the key's revision afterwards, 0 inside a transaction.
  func put(_ value: Value, for key: KeyName, ifRevision expected: Revision?) throws(StoreError) -> Revision

  /// Removes a key; false if there was nothing to remove, and then nothing changed.
  func delete(_ key: KeyName) throws(StoreError) -> Bool
}

extension SettingsAccess {
  /// Reads a value of any kind; nil if the key is absent.
  ///
  /// The C twin is `kept_get_json`. Throws `invalid` for a key that is none.
  public func value(forKey key: String) throws(StoreError) -> Value? {
    try entry(for: KeyName(key))?.value
  }

  /// Reads a value as canonical JSON; nil if the key is absent.
  ///
  /// The C twin is `kept_get_json`.
  public func json(forKey key: String) throws(StoreError) -> String? {
    try value(forKey: key)?.json
  }

  /// Writes a value; `null` removes the key.
  ///
  /// The C twin is `kept_set_json`.
  ///
  /// Throws `invalid` for a key that is none or a value that nests too deep, and `tooLarge` for one over the limits.
  public func set(_ value: Value, forKey key: String) throws(StoreError) {
    let key = try KeyName(key)
    if value == .null {
      _ = try delete(key)
    } else {
      _ = try put(try value.checked(for: key), for: key, ifRevision: nil)
    }
  }

  /// Writes a value if the key still has the revision that you read; 0 expects that it is absent.
  ///
  /// The C twin is `kept_set_json_if`. Throws `conflict`, with nothing written, if the key has another revision; in a
  /// transaction the commit may be the one that throws it.
  /// - Returns: the key's revision afterwards, 0 inside a transaction.
  @discardableResult
  public func set(_ value: Value, forKey key: String, ifRevision expected: Revision) throws(StoreError) -> Revision {
    let key = try KeyName(key)
    return try put(try value.checked(for: key), for: key, ifRevision: expected)
  }

  /// Writes a value given as JSON; the text `null` removes the key.
  ///
  /// The C twin is `kept_set_json`.
  ///
  /// Throws `invalid` with the offset of the byte that is wrong.
  public func setJSON(_ json: String, forKey key: String) throws(StoreError) {
    do { try set(Value(json: json), forKey: key) } catch { throw error.about(key) }
  }

  /// Removes a key; false if there was nothing to remove.
  ///
  /// The C twin is `kept_remove`.
  @discardableResult
  public func remove(_ key: String) throws(StoreError) -> Bool { try delete(KeyName(key)) }

  /// Whether the key has a value.
  ///
  /// The C twin is `kept_contains`.
  public func contains(_ key: String) throws(StoreError) -> Bool { try entry(for: KeyName(key))?.value != nil }

  /// The revision that last changed the key; nil if it is absent, 0 if this transaction wrote it.
  ///
  /// The C twin is `kept_revision_of`.
  public func revision(of key: String) throws(StoreError) -> Revision? {
    let entry = try entry(for: KeyName(key))
    return entry?.value == nil ? nil : entry?.revision
  }

  /// The keys that begin with a prefix, in the order of their bytes; `""` for all.
  ///
  /// The C twin is `kept_list`.
  public func keys(prefix: String = "") throws(StoreError) -> [String] {
    try keys(prefix: ExactString(prefix)).map(\.text)
  }
}

extension Value {
  /// The value as a store keeps it; errors name the key.
  package func checked(for key: KeyName) throws(StoreError) -> Value {
    do { return try checkedForStore() } catch { throw error.about(key.text) }
  }
}
