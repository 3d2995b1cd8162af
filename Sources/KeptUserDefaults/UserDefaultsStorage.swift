// A store on top of a UserDefaults suite: to use an existing suite, or to import it once. Foundation loses or changes
// many values on the way to its file; values that would be read back as others are refused.

import Foundation
public import KeptCore
public import KeptValues

/// Keeps values in a suite of `UserDefaults`, as the simple storage of a store.
///
/// ```swift
/// let settings = Store(storage: SimpleStorageAdapter(try UserDefaultsStorage(suite: "com.example.player")))
/// let imported = try UserDefaultsStorage(suite: "com.example.old").copy(into: settings)
/// ```
///
/// Only values stored in the suite are read: registered defaults, arguments and other domains are disregarded.
/// Observers are notified of writes through the store, and of no other change: on Linux `UserDefaults` reports none,
/// and processes see the writes of other processes only if they start later.
///
/// URLs are exchanged with `UserDefaults` in both directions. On Linux it writes the path of a file, which a key of
/// type `URL` reads as a file URL. An archived `NSURL`, as on a Mac, is read as its text. The text of a `file:` URL is
/// written as an archived `NSURL`, and so is any URL that replaces one: `url(forKey:)` of `UserDefaults` reads it, and
/// `string(forKey:)` returns nil for it.
///
/// Keys change one at a time: a transaction or ``SettingsAccess/removeAll(prefix:)`` that changes several is
/// `unsupported`, and nothing is changed.
///
/// Writes of dates with fractional seconds, -0.0, null, and other values that a property list does not preserve are
/// `unsupported`.
public final class UserDefaultsStorage: ListingStorage, @unchecked Sendable {
  // UserDefaults may be used from any thread, though not every version of Foundation declares that to the compiler.
  private let defaults: UserDefaults
  private let suite: String

  /// Throws `invalid` for a name that is not a suite, such as the domains that all programs share.
  public init(suite: String) throws(StoreError) {
    let domains = [UserDefaults.globalDomain, UserDefaults.argumentDomain, UserDefaults.registrationDomain]
    guard !domains.contains(suite) else {
      throw StoreError(
        .invalid,
        "\"\(suite)\" is a domain of UserDefaults itself, not a suite; use a name such as com.example.player")
    }
    guard !suite.isEmpty, !suite.unicodeScalars.contains(where: { $0 == "/" || $0 == "\0" }),
      let defaults = UserDefaults(suiteName: suite)
    else {
      throw StoreError(.invalid, "\"\(suite)\" cannot be the name of a suite; use a name such as com.example.player")
    }
    self.defaults = defaults
    self.suite = suite
  }

  public func get(_ key: KeyName) throws(StoreError) -> Value? {
    guard let found = contents[key.text] else { return nil }
    if let data = found as? Data, let url = ArchivedURL.text(in: data) { return .string(url) }
    guard let value = PropertyListForm.value(reread: found) else {
      throw StoreError(
        .corrupt, key: key.text, "the suite \(suite) holds a value that Kept cannot read; remove it there")
    }
    return value
  }

  public func set(_ key: KeyName, to value: Value) throws(StoreError) {
    let object = try PropertyListForm.object(value, under: key)
    if case .bytes(let bytes) = value, ArchivedURL.text(in: Data(bytes)) != nil {
      throw StoreError(
        .unsupported, key: key.text,
        "the value is an archived URL and would be read back as a string; write the URL as a string")
    }
    defaults.set(archive(of: value, for: key) ?? object, forKey: key.text)
    try save()
  }

  /// The archive that `url(forKey:)` of UserDefaults reads; nil if a value is not a URL, or is one that stays text.
  private func archive(of value: Value, for key: KeyName) -> Data? {
    guard case .string(let text) = value else { return nil }
    let old = contents[key.text] as? Data
    guard ArchivedURL.isFile(text) || old.flatMap(ArchivedURL.text) != nil else { return nil }
    return ArchivedURL.data(of: text)
  }

  public func remove(_ key: KeyName) throws(StoreError) {
    defaults.removeObject(forKey: key.text)
    try save()
  }

  /// The keys; names that are not valid keys are omitted.
  public func keys() throws(StoreError) -> [KeyName] { contents.keys.compactMap { try? KeyName($0) } }

  public func listen(_ changed: @escaping @Sendable (KeyName?) -> Void) {}

  /// Copies everything into a store, all or nothing, except keys that already have a value there.
  ///
  /// - Returns: the keys that were copied.
  @discardableResult
  public func copy(into store: Store) throws -> [KeyName] {
    let found = try keys().sorted().map { key in (key, try get(key)) }
    return try store.transaction { transaction in
      var copied: [KeyName] = []
      for case (let key, let value?) in found where try transaction.entry(for: key)?.value == nil {
        _ = try transaction.put(value.checkedForStore(), for: key, ifRevision: nil)
        copied.append(key)
      }
      return copied
    }
  }

  private var contents: [String: Any] { defaults.persistentDomain(forName: suite) ?? [:] }

  private func save() throws(StoreError) {
    guard defaults.synchronize() else {
      throw StoreError(.unavailable, "the suite \(suite) could not be written; check the permissions of its file")
    }
  }
}
