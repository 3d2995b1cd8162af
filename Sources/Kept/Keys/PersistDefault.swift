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
  /// - Returns: what is stored then; another writer may have been faster.
  func persistedDefault<Value>(_ key: Key<Value>) -> Value {
    let value = key.defaultValue(in: store)
    do throws(StoreError) {
      let name = try key.keyName()
      let stored = try key.write(value)
      guard stored != .null else { return value }
      do throws(StoreError) {
        // A transaction has read that the key is absent, and relies on it.
        _ = try put(try stored.checked(for: name), for: name, ifRevision: self is Transaction ? nil : 0)
      } catch StoreError.Code.conflict {
        return try key.read(try resolved(name), in: store)
      }
    } catch { store.report(error) }
    return value
  }

  /// Stores the default in the place of a value that cannot be read, and keeps that under another key.
  func replaceUnreadable(_ key: Key<some Sendable>) {
    do {
      if let transaction = self as? Transaction {
        try transaction.quarantine(key)
      } else {
        try store.transaction { try $0.quarantine(key) }
      }
    } catch let error as StoreError { store.report(error) } catch { /* Nothing else is thrown. */  }
  }
}

extension Transaction {
  fileprivate func quarantine(_ key: Key<some Sendable>) throws(StoreError) {
    let name = try key.keyName()
    guard let entry = try entry(for: name), let old = entry.value else { return }
    do throws(StoreError) {
      _ = try key.read(old, in: store.identity)
      // Somebody else has written what can be read.
      return
    } catch {}
    guard entry.declaration?.isSecret != true, !key.description.isSecret else {
      throw StoreError(
        .unsupported, key: key.name,
        "holds a secret that cannot be read, and secrets are copied nowhere; its default was not stored")
    }
    _ = try put(old, for: try KeyName(key.name + PersistDefault.quarantineSuffix), ifRevision: nil)
    try set(key.defaultValue(in: store), for: key)
  }
}
