// The reading calls that a store, a transaction and a snapshot share.

public import KeptSchema
public import KeptValues

/// A readable set of keys and values: a ``Store``, a ``Transaction`` or a ``Snapshot``.
///
/// Only Kept's own types conform. The protocol is public so that you can write functions that take any of them.
public protocol SettingsReading: AnyObject, Sendable {
  /// The identity of the store that is or was read; it determines the defaults and the receiver of failures.
  var identity: StoreIdentity { get }

  /// The stored entry of a key and its declaration; nil or an entry without a value if nothing is stored.
  func entry(for key: KeyName) throws(StoreError) -> Entry?

  /// The entry of a key whose value is an encrypted secret that is locked, without the value; nil if it is not one.
  func lockedEntry(for key: KeyName) throws(StoreError) -> Entry?

  /// The value of a key under all layers, and the layer that it comes from.
  func resolved(_ key: KeyName) throws(StoreError) -> Resolved

  /// The stored keys that begin with a text, in byte order.
  func storedKeys(prefix: ExactString) throws(StoreError) -> [KeyName]

  /// The keys that begin with a text and for which ``contains(_:)-(String)`` is true, in byte order.
  func listedKeys(prefix: ExactString) throws(StoreError) -> [KeyName]

  /// The value that each layer has for a key, the layer that wins, and why.
  func explanation(of key: KeyName) throws(StoreError) -> Explanation
}

extension SettingsReading {
  /// Reads a value of any kind; nil if the key is absent.
  ///
  /// In C: `kept_get_json`. Throws `invalid` for an invalid key.
  public func value(forKey key: String) throws(StoreError) -> Value? {
    try resolved(KeyName(key)).value
  }

  /// Reads a value as canonical JSON; nil if the key is absent.
  ///
  /// In C: `kept_get_json`.
  public func json(forKey key: String) throws(StoreError) -> String? {
    try value(forKey: key)?.json
  }

  /// Whether a layer has a value for the key.
  ///
  /// Defaults, and values that do not fit, are disregarded. A secret that is locked is a value.
  ///
  /// In C: `kept_contains`.
  public func contains(_ key: String) throws(StoreError) -> Bool { try contains(KeyName(key)) }

  /// The revision that last changed the stored value; nil if nothing is stored, 0 if this transaction wrote it.
  ///
  /// In C: `kept_revision_of`.
  public func revision(of key: String) throws(StoreError) -> Revision? {
    try revision(of: KeyName(key))
  }

  /// The keys that begin with a prefix, in byte order; `""` for all.
  ///
  /// In C: `kept_list`. The list has the keys for which ``contains(_:)-(String)`` is true.
  public func keys(prefix: String = "") throws(StoreError) -> [String] {
    try listedKeys(prefix: ExactString(prefix)).map(\.text)
  }

  /// The declaration of a key; nil if it may hold any value.
  ///
  /// In C: `kept_declaration_json`.
  public func declaration(forKey key: String) throws(StoreError) -> Declaration? {
    let key = try KeyName(key)
    let declaration = try storedEntry(for: key).entry?.declaration
    try declaration?.checkText(of: key)
    return declaration
  }

  /// Returns the value that each layer has for a key, the layer that wins, and why.
  ///
  /// In C: `kept_explain_json`. In Python: `settings.explain(key)`.
  public func explain(_ key: String) throws(StoreError) -> Explanation { try explanation(of: KeyName(key)) }

  package func contains(_ key: KeyName) throws(StoreError) -> Bool {
    do throws(StoreError) {
      guard let layer = try resolved(key).layer else { return false }
      return layer > .registered
    } catch {
      guard error.code == .unavailable, try lockedEntry(for: key) != nil else { throw error }
      return true
    }
  }

  package func revision(of key: KeyName) throws(StoreError) -> Revision? {
    let (entry, unread) = try storedEntry(for: key)
    return entry?.value == nil && unread == nil ? nil : entry?.revision
  }

  /// The entry of a key; without its value, and with the reason, if that is a secret that is locked.
  func storedEntry(for key: KeyName) throws(StoreError) -> (entry: Entry?, unread: StoreError?) {
    do throws(StoreError) { return (try entry(for: key), nil) } catch {
      guard error.code == .unavailable, let locked = try lockedEntry(for: key) else { throw error }
      return (locked, error)
    }
  }
}
