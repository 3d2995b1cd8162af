// A store on top of iCloud's key-value store. Only parsed and checked against a stand-in so far: no Mac has built it.

#if canImport(Darwin)
import Foundation
public import KeptCore

/// Keeps values in the program's own part of iCloud, as the simple storage of a store: the user's other devices have
/// them, too.
///
/// ```swift
/// let settings = Store(storage: SimpleStorageAdapter(UbiquitousStorage()))
/// ```
///
/// Observers hear of what is written through the store, and of what comes from other devices. Of two devices that write
/// the same key one wins, as iCloud decides: a transaction is one step on this device alone. The program needs the
/// entitlement for iCloud's key-value storage.
///
/// Refused with `tooLarge` is what iCloud has no room for: a key of more than 64 bytes, more than 1024 keys, and more
/// than 1 MB of everything. Refused with `unsupported` is what does not come back from a property list as it was.
///
/// - Important: No Mac has built it yet. On Linux, where there is no iCloud, it is only parsed, and was checked against
///   a stand-in for the declarations that it uses.
public final class UbiquitousStorage: ListingStorage, @unchecked Sendable {
  // It may be used from any thread; Foundation does not say so to the compiler everywhere.
  private let cloud = NSUbiquitousKeyValueStore.default
  // Set once, by the one call of `listen`.
  private var observer: (any NSObjectProtocol)?

  /// The one that the system gives the program.
  public init() {}

  deinit {
    if let observer { NotificationCenter.default.removeObserver(observer) }
  }

  public func get(_ key: KeyName) throws(StoreError) -> Value? {
    guard let found = cloud.object(forKey: key.text) else { return nil }
    guard let value = PropertyListForm.value(reread: found) else {
      throw StoreError(.corrupt, key: key.text, "iCloud holds what is no property list; remove it there")
    }
    return value
  }

  public func set(_ key: KeyName, to value: Value) throws(StoreError) {
    let object = try PropertyListForm.object(value, under: key)
    // A longer key would end the program, and the rest would be refused only later.
    guard key.text.utf8.count <= 64 else {
      throw StoreError(.tooLarge, key: key.text, "iCloud takes keys of 64 bytes at most; use a shorter one")
    }
    var contents = cloud.dictionaryRepresentation
    contents[key.text] = object
    let size = try? PropertyListSerialization.data(fromPropertyList: contents, format: .binary, options: 0).count
    guard contents.count <= 1024, let size, size <= 1 << 20 else {
      throw StoreError(.tooLarge, key: key.text, "iCloud has room for 1024 keys and 1 MB; remove something first")
    }
    cloud.set(object, forKey: key.text)
    try save()
  }

  public func remove(_ key: KeyName) throws(StoreError) {
    cloud.removeObject(forKey: key.text)
    try save()
  }

  /// Whatever name is no valid key is left out.
  public func keys() throws(StoreError) -> [KeyName] {
    cloud.dictionaryRepresentation.keys.compactMap { try? KeyName($0) }
  }

  public func listen(_ changed: @escaping @Sendable (KeyName?) -> Void) {
    observer = NotificationCenter.default.addObserver(
      forName: NSUbiquitousKeyValueStore.didChangeExternallyNotification, object: cloud, queue: nil
    ) { notice in
      let names = notice.userInfo?[NSUbiquitousKeyValueStoreChangedKeysKey] as? [String]
      guard let names else { return changed(nil) }
      for name in names { if let key = try? KeyName(name) { changed(key) } }
    }
    // What other devices have written since it was last in memory.
    _ = cloud.synchronize()
  }

  private func save() throws(StoreError) {
    guard cloud.synchronize() else {
      throw StoreError(
        .unavailable, "iCloud's key-value store could not be written; check the program's entitlement for it")
    }
  }
}
#endif
