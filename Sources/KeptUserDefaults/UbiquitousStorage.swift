// A store on top of iCloud's key-value store. So far it was only parsed and checked against substitutes; it was never
// built on a Mac.

#if canImport(Darwin)
import Foundation
public import KeptCore
import KeptValues

/// Keeps values in the program's iCloud key-value store, as a simple storage: they are shared with the user's other
/// devices.
///
/// ```swift
/// let settings = Store(storage: SimpleStorageAdapter(UbiquitousStorage()))
/// ```
///
/// Observers are notified of writes through the store, and of changes from other devices. If two devices write the same
/// key, iCloud decides which value is kept: a transaction is atomic on this device only. The program needs the
/// entitlement for iCloud's key-value storage.
///
/// Writes beyond iCloud's limits throw `tooLarge`: a key of more than 64 bytes, more than 1024 keys, or more than 1 MB
/// in total. Values that a property list would not preserve are `unsupported`.
///
/// - Important: This type was never built on a Mac. On Linux, where there is no iCloud, it is only parsed, and was
///   checked against substitutes for the declarations that it uses.
public final class UbiquitousStorage: ListingStorage, @unchecked Sendable {
  // It may be used from any thread, though not every version of Foundation declares that to the compiler.
  private let cloud = NSUbiquitousKeyValueStore.default
  // Set once, by the single call of `listen`.
  private var observer: (any NSObjectProtocol)?

  /// Uses the key-value store that the system provides for the program.
  public init() {}

  deinit {
    if let observer { NotificationCenter.default.removeObserver(observer) }
  }

  public func get(_ key: KeyName) throws(StoreError) -> Value? {
    guard let found = cloud.object(forKey: key.text) else { return nil }
    guard let value = PropertyListForm.value(reread: found) else {
      throw StoreError(.corrupt, key: key.text, "iCloud holds a value that Kept cannot read; remove it there")
    }
    return value
  }

  public func set(_ key: KeyName, to value: Value) throws(StoreError) {
    let object = try PropertyListForm.object(value, under: key)
    // A longer key would end the program, and other violations would be refused only later.
    guard key.text.utf8.count <= 64 else {
      throw StoreError(
        .tooLarge, key: key.text,
        "the key is \(key.text.utf8.count) bytes long, but iCloud allows at most 64; shorten it")
    }
    var contents = cloud.dictionaryRepresentation
    contents[key.text] = object
    let size = try? PropertyListSerialization.data(fromPropertyList: contents, format: .binary, options: 0).count
    guard contents.count <= 1024, let size, size <= 1 << 20 else {
      throw StoreError(
        .tooLarge, key: key.text, "iCloud would hold more than 1024 keys or 1 MB; remove some keys first")
    }
    cloud.set(object, forKey: key.text)
    try save()
  }

  public func remove(_ key: KeyName) throws(StoreError) {
    cloud.removeObject(forKey: key.text)
    try save()
  }

  /// The keys; names that are not valid keys are omitted.
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
    // Loads changes from other devices.
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
