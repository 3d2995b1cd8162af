// The contract for a custom dictionary, file or service as a storage: four methods. SimpleStorageAdapter turns it into
// a complete storage.

public import KeptValues

/// The minimal interface of a storage: get, set, remove, listen.
///
/// ```swift
/// final class Drawer: SimpleStorage {
///   private let values = Mutex<[KeyName: Value]>([:])
///
///   func get(_ key: KeyName) -> Value? { values.withLock { $0[key] } }
///   func set(_ key: KeyName, to value: Value) { values.withLock { $0[key] = value } }
///   func remove(_ key: KeyName) { values.withLock { $0[key] = nil } }
///   func listen(_ changed: @escaping @Sendable (KeyName?) -> Void) {}
/// }
///
/// let settings = Store(storage: SimpleStorageAdapter(Drawer()))
/// ```
///
/// Calls are made one at a time, from any thread, and while a lock is held: do not use the store inside. Throw if the
/// read fails. Return nil only if the key has no value, because the program then uses its default.
public protocol SimpleStorage: AnyObject, Sendable {
  /// The value of a key, exactly as it was set; nil if there is none.
  func get(_ key: KeyName) throws(StoreError) -> Value?

  /// Stores a value, replacing the existing one.
  ///
  /// Refuse with `unsupported` a kind of value that would be read back as another.
  func set(_ key: KeyName, to value: Value) throws(StoreError)

  /// Removes a key's value; has no effect if there is none.
  func remove(_ key: KeyName) throws(StoreError)

  /// Registers a function to call whenever a value is changed by others than this object; called at most once.
  ///
  /// Call `changed` with the key, or with nil if you do not know which, from any thread and at any time. Redundant
  /// calls do no harm. If nothing else can change the values, do nothing.
  func listen(_ changed: @escaping @Sendable (KeyName?) -> Void) throws(StoreError)
}

/// A simple storage that can list its keys, so that a store can list and observe them by prefix.
public protocol ListingStorage: SimpleStorage {
  /// All keys that have a value, in any order.
  func keys() throws(StoreError) -> [KeyName]
}

/// A simple storage that is also written by others, and that can exclude them.
///
/// Slow methods are called with no lock of the adapter held, by one thread at a time, so no read, observation or fork
/// waits for them.
package protocol GuardedStorage: ListingStorage {
  /// The abilities that the adapter may report, in addition to its own.
  var abilities: StorageAbilities { get }
  /// Excludes every other writer until ``unlock()``; slow. Throws `busy` if others write for that long.
  func lock(waiting milliseconds: Int) throws(StoreError)
  /// How long a write waits if it does not specify a timeout.
  var busyTimeoutMilliseconds: Int { get }
  func unlock()
  /// Does the slow part of setting a key, so that a subsequent ``set(_:to:)`` before ``unlock()`` is quick.
  func prepare(_ key: KeyName, _ value: Value) throws(StoreError)
  /// Syncs everything that was set and removed; slow.
  func sync() throws(StoreError)
  func close()
  /// Discards locks and preparations in the child of a fork, because they belong to the parent.
  func forgetWriter()
}
