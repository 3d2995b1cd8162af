// The contract for those who bring a dictionary, a file or a service of their own: four methods. The adapter beside
// this file makes a whole storage of it.

/// The least that a store can stand on: get, set, remove, listen.
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
/// One call is made at a time, from any thread, and while a lock is held: do not use the store inside. Throw where you
/// cannot tell: an answer of nil says that the key has no value, and the program takes its default.
public protocol SimpleStorage: AnyObject, Sendable {
  /// The value of a key, exactly as it was set; nil where there is none.
  func get(_ key: KeyName) throws(StoreError) -> Value?

  /// Stores a value, in place of the one that is there.
  ///
  /// A kind of value that would come back as another is to be refused with `unsupported`.
  func set(_ key: KeyName, to value: Value) throws(StoreError)

  /// Removes a key's value; where there is none there is nothing to do.
  func remove(_ key: KeyName) throws(StoreError)

  /// Asks to be told whenever a value is changed by others than this object, called once at most.
  ///
  /// Call `changed` with the key, or with nil where you do not know which, from any thread and at any time; once too
  /// often does no harm. Where nobody else can change anything there is nothing to do.
  func listen(_ changed: @escaping @Sendable (KeyName?) -> Void) throws(StoreError)
}

/// A simple storage that knows which keys it holds: then a store can list and observe them by prefix.
public protocol ListingStorage: SimpleStorage {
  /// All keys that have a value, in any order.
  func keys() throws(StoreError) -> [KeyName]
}

/// A simple storage that others write too, and that knows how to keep them out.
///
/// What may take long is called with no lock of the adapter held, by one thread at a time: nobody who reads, observes
/// or forks waits for it.
package protocol GuardedStorage: ListingStorage {
  /// What the adapter may promise in its name, beside what it does itself.
  var abilities: StorageAbilities { get }
  /// Keeps every other writer out until ``unlock()``; takes long, and throws `busy` if others write for so long.
  func lock(waiting milliseconds: Int) throws(StoreError)
  /// How long a write waits that does not say.
  var busyTimeoutMilliseconds: Int { get }
  func unlock()
  /// Does what takes long of setting a key, so that the ``set(_:to:)`` that may follow before ``unlock()`` is quick.
  func prepare(_ key: KeyName, _ value: Value) throws(StoreError)
  /// Syncs everything that was set and removed; takes long.
  func sync() throws(StoreError)
  func close()
  /// In the child of a fork: what was locked and prepared is the parent's.
  func forgetWriter()
}
