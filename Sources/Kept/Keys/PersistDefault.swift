// Whether reading stores the default: the written value, and how a replaced value is kept.

import KeptCore
import KeptValues

/// When a read stores a key's default.
///
/// The stored value does not change when the default changes in a later version, and other processes and languages read
/// it: `Key("install.id", default: UUID(), persistDefault: .whenAbsent)` is the same id for all from the first read on.
/// If several processes read at the same time, the first one stores its default, and the others read that.
///
/// On error the value that cannot be read is moved in the same commit, to the key's name with ``quarantineSuffix``,
/// replacing a value that was moved there before. The error handler receives the reason. The value of a secret key is
/// never copied, so its default is not stored. Only reads that do not throw, subscript and ``Setting``, store a default
/// on error; a call that throws leaves everything as it is.
///
/// A default that cannot be stored, because the store is locked or full, is still returned, and the error handler
/// receives the reason. A nil default is not a value, and is not stored.
public enum PersistDefault: Sendable, Hashable, CaseIterable {
  /// Reading stores nothing.
  case never
  /// If no layer has a value.
  case whenAbsent
  /// In place of a stored value that does not have the key's type.
  case onError
  /// In both cases.
  case both

  /// The suffix of the key that keeps a value that could not be read.
  public static let quarantineSuffix = ".quarantined"

  var whenAbsent: Bool { self == .whenAbsent || self == .both }
  var onError: Bool { self == .onError || self == .both }
}

extension SettingsAccess {
  /// Stores the default if nothing is stored.
  /// - Parameter binding: the binding of the reading handle; nothing is written once it is destroyed.
  /// - Returns: the stored value; another writer may have been faster.
  func persistedDefault<Value>(_ key: Key<Value>, under binding: Binding?) -> Value {
    let value = key.defaultValue(in: store)
    do throws(StoreError) {
      let name = try key.keyName()
      let stored = try key.write(value)
      guard stored != .null else { return value }
      do throws(StoreError) {
        let ready = try stored.checked(for: name)
        try writing(under: binding) { () throws(StoreError) in
          // A transaction has read that the key is absent, and depends on it.
          _ = try put(ready, for: name, ifRevision: self is Transaction ? nil : 0)
        }
      } catch StoreError.Code.conflict {
        let found = try resolved(name)
        return try converting(name) { () throws(StoreError) in try key.read(found, in: store.identity) }
      }
    } catch { store.report(error) }
    return value
  }

  /// Stores the default in place of a value that cannot be read, and keeps that value under another key.
  func replaceUnreadable(_ key: Key<some Sendable>, under binding: Binding?) {
    do throws(StoreError) {
      let name = try key.keyName()
      guard let replacement = try replacement(of: key, name) else { return }
      try writing(under: binding) { () throws(StoreError) in
        if let transaction = self as? Transaction { return try replacement.make(in: transaction) }
        do { try store.transaction { try replacement.make(in: $0) } } catch let error as StoreError {
          throw error
        } catch { /* No other error is thrown. */  }
      }
    } catch { store.report(error) }
  }

  /// The replacement of an unreadable value; nil if another writer has written a readable one.
  ///
  /// It is prepared here, because conversions and the default are user code.
  private func replacement(of key: Key<some Sendable>, _ name: KeyName) throws(StoreError) -> Replacement? {
    guard let entry = try entry(for: name), let old = entry.value else { return nil }
    do throws(StoreError) {
      _ = try key.read(old, in: store.identity)
      return nil
    } catch {}
    guard entry.declaration?.isSecret != true, !key.description.isSecret else {
      throw StoreError(
        .unsupported, key: key.name,
        "holds a secret that cannot be read, and Kept does not copy secrets; its default was not stored")
    }
    let new = try key.write(key.defaultValue(in: store))
    return Replacement(
      key: name, quarantine: try KeyName(key.name + PersistDefault.quarantineSuffix), old: old,
      new: new == .null ? nil : try new.checked(for: name))
  }

  private func writing(under binding: Binding?, _ body: () throws(StoreError) -> Void) throws(StoreError) {
    guard let binding else { return try body() }
    try binding.write(body)
  }
}

/// A value that moves to quarantine, and its replacement.
private struct Replacement {
  let key: KeyName
  let quarantine: KeyName
  let old: Value
  /// nil if nothing replaces it.
  let new: Value?

  /// Replaces the value, if the old value is still stored.
  func make(in transaction: Transaction) throws(StoreError) {
    guard try transaction.entry(for: key)?.value == old else { return }
    _ = try transaction.put(old, for: quarantine, ifRevision: nil)
    if let new {
      _ = try transaction.put(new, for: key, ifRevision: nil)
    } else {
      _ = try transaction.delete(key)
    }
  }
}
