// The place of one KeyedStorable value: in a store, in memory for a test, or whatever else a program is given for it.

public import KeptCore

/// Where a value of a ``KeyedStorable`` type is kept.
///
/// ``TypedStore`` keeps it in a store. A test may have one of its own; ``AnyTypedStore`` hides which one it is.
public protocol TypedStoring<Stored>: Sendable {
  associatedtype Stored: KeyedStorable

  /// The value; nil if there is none.
  ///
  /// Throws `wrongType` if what is there is none of the type; it stays.
  func get() throws(StoreError) -> Stored?

  /// Keeps a value instead of the one before.
  func set(_ value: Stored) throws(StoreError)

  /// Keeps none any more.
  func remove() throws(StoreError)
}

/// The value of a type in a store.
///
/// ```swift
/// let camera = TypedStore<CameraConfig>(in: settings)
/// try camera.set(CameraConfig(size: .large))
/// try camera.get()?.size                                            // .large
///
/// let forTests = TypedStore<CameraConfig>(storage: MemoryStorage())
/// ```
///
/// All typed stores of a type in one store have the same value. ``key`` leads to what else a store can do with it.
public struct TypedStore<Stored: KeyedStorable>: TypedStoring {
  public let store: Store
  /// The key of the type, nil until it is set: observe it, declare it, or write it in a transaction.
  public let key = Key<Stored?>(Stored.key)

  public init(in store: Store) { self.store = store }

  /// The value in a storage of its own.
  public init(storage: any Storage, options: StoreOptions = StoreOptions()) {
    self.init(in: Store(storage: storage, options: options))
  }

  public func get() throws(StoreError) -> Stored? { try store.value(for: key) }
  public func set(_ value: Stored) throws(StoreError) { try store.set(value, for: key) }
  public func remove() throws(StoreError) { try store.remove(key) }
}

/// A typed store of which only the type of the value is known, so that a test can put another in its place.
///
/// ```swift
/// final class Camera {
///   let config: AnyTypedStore<CameraConfig>
///
///   init(_ config: some TypedStoring<CameraConfig>) { self.config = AnyTypedStore(config) }
/// }
/// ```
public struct AnyTypedStore<Stored: KeyedStorable>: TypedStoring {
  private let base: any TypedStoring<Stored>

  public init(_ base: some TypedStoring<Stored>) { self.base = base }

  public func get() throws(StoreError) -> Stored? { try base.get() }
  public func set(_ value: Stored) throws(StoreError) { try base.set(value) }
  public func remove() throws(StoreError) { try base.remove() }
}
