// What a store, a transaction and a snapshot have in common: the same calls read them all.

/// Something with keys and values to be read: a ``Store``, a ``Transaction`` or a ``Snapshot``.
///
/// Kept's own types alone conform; it is public so that you can write functions that take any of them.
public protocol SettingsReading: AnyObject, Sendable {
  /// Whose defaults count, and who hears of failures: those of the store that is read, or was.
  var identity: StoreIdentity { get }

  /// What is stored under a key, and what it is declared as; nil or an entry without a value: nothing is stored.
  func entry(for key: KeyName) throws(StoreError) -> Entry?

  /// What a key reads as, and the layer that this comes from.
  func resolved(_ key: KeyName) throws(StoreError) -> Resolved

  /// The keys that begin with a text and are stored, in the order of their bytes.
  func storedKeys(prefix: ExactString) throws(StoreError) -> [KeyName]

  /// The keys that begin with a text and for which ``contains(_:)-(String)`` is true, in the order of their bytes.
  func listedKeys(prefix: ExactString) throws(StoreError) -> [KeyName]

  /// What each layer has for a key, which one wins, and why.
  func explanation(of key: KeyName) throws(StoreError) -> Explanation
}

extension SettingsReading {
  /// Reads a value of any kind; nil if the key is absent.
  ///
  /// The C twin is `kept_get_json`. Throws `invalid` for a key that is none.
  public func value(forKey key: String) throws(StoreError) -> Value? {
    try resolved(KeyName(key)).value
  }

  /// Reads a value as canonical JSON; nil if the key is absent.
  ///
  /// The C twin is `kept_get_json`.
  public func json(forKey key: String) throws(StoreError) -> String? {
    try value(forKey: key)?.json
  }

  /// Whether a layer has a value for the key that counts; defaults, and what does not fit, do not.
  ///
  /// The C twin is `kept_contains`.
  public func contains(_ key: String) throws(StoreError) -> Bool { try contains(KeyName(key)) }

  /// The revision that last changed what is stored; nil if nothing is, 0 if this transaction wrote it.
  ///
  /// The C twin is `kept_revision_of`.
  public func revision(of key: String) throws(StoreError) -> Revision? {
    let entry = try entry(for: KeyName(key))
    return entry?.value == nil ? nil : entry?.revision
  }

  /// The keys that begin with a prefix, in the order of their bytes; `""` for all.
  ///
  /// The C twin is `kept_list`. Those count that ``contains(_:)-(String)`` finds.
  public func keys(prefix: String = "") throws(StoreError) -> [String] {
    try listedKeys(prefix: ExactString(prefix)).map(\.text)
  }

  /// What a key is declared as; nil: it may hold anything.
  ///
  /// The C twin is `kept_declaration_json`.
  public func declaration(forKey key: String) throws(StoreError) -> Declaration? {
    try entry(for: KeyName(key))?.declaration
  }

  /// Says what each layer has for a key, which one wins, and why.
  ///
  /// The C twin is `kept_explain_json`. In Python: `settings.explain(key)`.
  public func explain(_ key: String) throws(StoreError) -> Explanation { try explanation(of: KeyName(key)) }

  package func contains(_ key: KeyName) throws(StoreError) -> Bool {
    guard let layer = try resolved(key).layer else { return false }
    return layer > .registered
  }
}
