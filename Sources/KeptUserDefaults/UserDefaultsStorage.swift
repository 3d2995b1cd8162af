// A store on top of a UserDefaults suite: to adopt one that a program has already, or to import it once.
// Foundation loses or changes much on the way to its file; what would come back as something else is refused.

import Foundation
public import KeptCore

/// Keeps values in a suite of `UserDefaults`, as the simple storage of a store.
///
/// ```swift
/// let settings = Store(storage: SimpleStorageAdapter(try UserDefaultsStorage(suite: "com.example.player")))
/// let imported = try UserDefaultsStorage(suite: "com.example.old").copy(into: settings)
/// ```
///
/// Only what is stored in the suite counts: registered defaults, arguments and other domains do not. Observers hear of
/// what is written through the store, and of no other change: on Linux `UserDefaults` tells nobody of any, and shows
/// what other processes write only to those that start later.
///
/// Refused with `unsupported`: dates with a part of a second, -0.0, null, and whatever else does not come back from a
/// property list as the same value.
public final class UserDefaultsStorage: ListingStorage, @unchecked Sendable {
  // UserDefaults may be used from any thread; Foundation does not say so to the compiler everywhere.
  private let defaults: UserDefaults
  private let suite: String

  /// Throws `invalid` for a name that is none of a suite.
  public init(suite: String) throws(StoreError) {
    guard !suite.isEmpty, !suite.contains("/"), !suite.contains("\0"), let defaults = UserDefaults(suiteName: suite)
    else {
      throw StoreError(.invalid, "\"\(suite)\" is no UserDefaults suite; give a name such as com.example.player")
    }
    self.defaults = defaults
    self.suite = suite
  }

  public func get(_ key: KeyName) throws(StoreError) -> Value? {
    guard let found = contents[key.text] else { return nil }
    guard let value = PropertyListForm.value(reread: found) else {
      throw StoreError(.corrupt, key: key.text, "the suite \(suite) holds what is no property list; remove it there")
    }
    return value
  }

  public func set(_ key: KeyName, to value: Value) throws(StoreError) {
    let object = try PropertyListForm.object(value, under: key)
    defaults.set(object, forKey: key.text)
    try save()
  }

  public func remove(_ key: KeyName) throws(StoreError) {
    defaults.removeObject(forKey: key.text)
    try save()
  }

  /// Whatever name is no valid key is left out.
  public func keys() throws(StoreError) -> [KeyName] { contents.keys.compactMap { try? KeyName($0) } }

  public func listen(_ changed: @escaping @Sendable (KeyName?) -> Void) {}

  /// Copies everything into a store, all or nothing, except what the store has a value for already.
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
      throw StoreError(.unavailable, "the suite \(suite) could not be written; check its file's folder and its rights")
    }
  }
}
