// A setting as a property: `@Setting(.volume) var volume`.

public import KeptCore
import KeptValues

/// Makes a property of a struct, class or actor read and write a key.
///
/// ```swift
/// final class Player {
///   @Setting(.volume) var volume                      // Int, in Store.default
///   @Setting(.theme, in: settings) var theme          // in a store of your choice
///   @Setting("audio.balance") var balance = 0.0       // a key of its own
///   @Setting("user.name") var name: String?
///   @Setting("page", through: .json) var page = Page()
///   @Setting(.frame) var frame                        // given in init
///
///   init(store: Store) { _frame = Setting(.frame, in: store) }
/// }
///
/// let player = Player(store: settings)
/// player.volume = 70
/// player.$volume.reset()
/// ```
///
/// The property reads and writes like a store's subscript, and as fast: it returns the default if no layer has a value
/// of the type, nil removes the key, and failures are reported to the store's error handler. The throwing methods are
/// in the projected value, ``SettingProjection``. A property's own default takes precedence over the key's, and is
/// evaluated once for the wrapper; registered and declared defaults take precedence over both. Copies are the same
/// setting.
///
/// A Sendable class cannot have a mutable property. There, use a constant, or a handle:
///
/// ```swift
/// final class Player: Sendable {
///   let volume = Setting(.volume)                     // volume.wrappedValue, volume.projectedValue
/// }
/// ```
///
/// In Python: `kept.Setting(key)` as a class attribute.
@propertyWrapper
public struct Setting<Value: Sendable>: Sendable {
  @usableFromInline let key: Key<Value>
  // nil for the process's default store.
  @usableFromInline let chosen: Store?

  /// The setting of a key; without a store, in ``Store/default`` at the time of its use.
  public init(_ key: Key<Value>, in store: Store? = nil) {
    self.key = key
    chosen = store
  }

  /// The setting of a key with the property's own default, which takes precedence over the key's.
  public init(
    wrappedValue: @autoclosure @escaping @Sendable () -> Value, _ key: Key<Value>, in store: Store? = nil,
    persistDefault: PersistDefault? = nil
  ) {
    self.init(Key(key, default: wrappedValue, persistDefault: persistDefault), in: store)
  }

  /// A setting that defines its own key.
  public init(
    wrappedValue: @autoclosure @escaping @Sendable () -> Value, _ name: String, in store: Store? = nil,
    persistDefault: PersistDefault = .never
  ) where Value: Storable {
    self.init(Key(name, default: wrappedValue(), persistDefault: persistDefault), in: store)
  }

  /// A setting that defines its own key, and is nil if nothing is stored.
  public init<Wrapped: Storable>(_ name: String, in store: Store? = nil) where Value == Wrapped? {
    self.init(Key(name), in: store)
  }

  /// A setting that defines its own key, whose values go through a transformer.
  public init<Stored: Storable>(
    wrappedValue: @autoclosure @escaping @Sendable () -> Value, _ name: String,
    through transformer: Transformer<Value, Stored>, in store: Store? = nil, persistDefault: PersistDefault = .never
  ) {
    self.init(
      Key(name, default: wrappedValue(), through: transformer, persistDefault: persistDefault), in: store)
  }

  /// A setting that defines its own key, whose values go through a transformer, and that is nil if nothing is stored.
  public init<Wrapped, Stored: Storable>(
    _ name: String, through transformer: Transformer<Wrapped, Stored>, in store: Store? = nil
  ) where Value == Wrapped? {
    self.init(Key(name, through: transformer), in: store)
  }

  @inlinable
  public var wrappedValue: Value {
    get {
      if let chosen { return chosen[key] }
      return Store.unretainedDefault._withUnsafeGuaranteedRef { $0[key] }
    }
    nonmutating set { (chosen ?? Store.default)[key] = newValue }
  }

  /// The other operations on the setting, as `$volume`.
  public var projectedValue: SettingProjection<Value> {
    SettingProjection(key: key, store: chosen ?? Store.default)
  }
}
