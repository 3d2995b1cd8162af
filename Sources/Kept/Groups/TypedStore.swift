// The storage of one KeyedStorable value: a store, memory for a test, or a custom implementation.

public import KeptCore
import KeptValues

/// The place where a value of a ``KeyedStorable`` type is stored.
///
/// ``TypedStore`` uses a store. A test may have its own implementation; ``AnyTypedStore`` hides which one it is.
public protocol TypedStoring<Stored>: Sendable {
  associatedtype Stored: KeyedStorable

  /// The value; nil if there is none.
  ///
  /// Throws `wrongType` if the stored value does not have the type; it stays stored.
  func get() throws(StoreError) -> Stored?

  /// Stores a value, replacing the previous one.
  func set(_ value: Stored) throws(StoreError)

  /// Removes the value.
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
/// All typed stores of a type in one store have the same value. Use ``key`` for the other operations of a store.
public struct TypedStore<Stored: KeyedStorable>: TypedStoring {
  public let store: Store
  /// The key of the type, nil until it is set: use it to observe or declare the value, or to write it in a transaction.
  public let key = Key<Stored?>(Stored.key)

  public init(in store: Store) { self.store = store }

  /// Stores the value in a separate storage.
  public init(storage: any Storage, options: StoreOptions = StoreOptions()) {
    self.init(in: Store(storage: storage, options: options))
  }

  public func get() throws(StoreError) -> Stored? { try store.value(for: key) }
  public func set(_ value: Stored) throws(StoreError) { try store.set(value, for: key) }
  public func remove() throws(StoreError) { try store.remove(key) }
}

/// A type-erased typed store, which a test can replace by another.
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
