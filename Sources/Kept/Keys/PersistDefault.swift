// Whether reading stores the default: what that writes, and what becomes of a value that it takes the place of.

import KeptCore

/// When a read stores a key's default.
///
/// What is stored stays as it is when the default changes in a later version, and is what other processes and languages
/// read: `Key("install.id", default: UUID(), persistDefault: .whenAbsent)` is the same id from the first read on, for
/// all. Of several processes that read at once the first one stores its default, and the others read that.
///
/// On error the value that cannot be read is moved in the same commit: it is found under the key's name with
/// ``quarantineSuffix``, in place of what was moved there before. The error handler hears why. The value of a secret
/// key is copied nowhere: there the default is not stored. Only reads that do not throw, subscript and ``Setting``,
/// store a default on error; a call that throws leaves everything as it is.
///
/// A default that cannot be stored, in a store that is locked or full, is read all the same, and the error handler
/// hears why. A nil is no value, and is not stored.
public enum PersistDefault: Sendable, Hashable, CaseIterable {
  /// Reading stores nothing.
  case never
  /// Where no layer has a value.
  case whenAbsent
  /// In the place of a stored value that is none of the key's type.
  case onError
  /// In both cases.
  case both

  /// What the name of a key with a value that could not be read ends with.
  public static let quarantineSuffix = ".quarantined"

  var whenAbsent: Bool { self == .whenAbsent || self == .both }
  var onError: Bool { self == .onError || self == .both }
}

extension SettingsAccess {
  /// Stores the default where nothing is stored.
  /// - Parameter binding: that of the handle that reads; it lets nothing be written once it is destroyed.
  /// - Returns: what is stored then; another writer may have been faster.
  func persistedDefault<Value>(_ key: Key<Value>, under binding: Binding?) -> Value {
    let value = key.defaultValue(in: store)
    do throws(StoreError) {
      let name = try key.keyName()
      let stored = try key.write(value)
      guard stored != .null else { return value }
      do throws(StoreError) {
        let ready = try stored.checked(for: name)
        try writing(under: binding) { () throws(StoreError) in
          // A transaction has read that the key is absent, and relies on it.
          _ = try put(ready, for: name, ifRevision: self is Transaction ? nil : 0)
        }
      } catch StoreError.Code.conflict {
        let found = try resolved(name)
        return try converting(name) { () throws(StoreError) in try key.read(found, in: store.identity) }
      }
    } catch { store.report(error) }
    return value
  }

  /// Stores the default in the place of a value that cannot be read, and keeps that under another key.
  func replaceUnreadable(_ key: Key<some Sendable>, under binding: Binding?) {
    do throws(StoreError) {
      let name = try key.keyName()
      guard let replacement = try replacement(of: key, name) else { return }
      try writing(under: binding) { () throws(StoreError) in
        if let transaction = self as? Transaction { return try replacement.make(in: transaction) }
        do { try store.transaction { try replacement.make(in: $0) } } catch let error as StoreError {
          throw error
        } catch { /* Nothing else is thrown. */  }
      }
    } catch { store.report(error) }
  }

  /// What is to be done about an unreadable value; nil if somebody else has written what can be read.
  ///
  /// It is made ready here, for conversions and the default are code of the program's.
  private func replacement(of key: Key<some Sendable>, _ name: KeyName) throws(StoreError) -> Replacement? {
    guard let entry = try entry(for: name), let old = entry.value else { return nil }
    do throws(StoreError) {
      _ = try key.read(old, in: store.identity)
      return nil
    } catch {}
    guard entry.declaration?.isSecret != true, !key.description.isSecret else {
      throw StoreError(
        .unsupported, key: key.name,
        "holds a secret that cannot be read, and secrets are copied nowhere; its default was not stored")
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

/// A value that moves to quarantine, and what takes its place.
private struct Replacement {
  let key: KeyName
  let quarantine: KeyName
  let old: Value
  /// nil: nothing.
  let new: Value?

  /// Does it, if the old value is still there.
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
