// A property that becomes an argument of a program to be started.

import KeptValues

/// A property whose value overrides a key of a started program, whatever is stored.
///
/// ```swift
/// struct PlayerLaunch: LaunchArgumentEncodable {
///   @ArgumentOverride(.volume) var volume = 30             // always
///   @ArgumentOverride(.theme) var theme: Theme?            // only when it is set
///   @ArgumentOverride("debug.trace") var trace: Bool?      // without a Key
/// }
/// ```
///
/// A nil value adds no argument. A copy of the struct has its own properties.
@propertyWrapper
public struct ArgumentOverride<Value: Sendable>: Sendable {
  public var wrappedValue: Value
  /// The name of the key.
  public let key: String
  private let write: @Sendable (Value) throws(StoreError) -> KeptValues.Value

  /// The key and its current value.
  public var projectedValue: any ArgumentOverriding { self }

  /// A property with a key of its type; an optional one is nil by default.
  public init(wrappedValue: Value, _ key: Key<Value>) {
    self.init(wrappedValue, key.name) { value throws(StoreError) in try key.write(value) }
  }

  /// An optional property with an optional key.
  public init<Wrapped>(_ key: Key<Value>) where Value == Wrapped? { self.init(wrappedValue: nil, key) }

  /// An optional property with a key that is not optional.
  public init<Wrapped>(wrappedValue: Value = nil, _ key: Key<Wrapped>) where Value == Wrapped? {
    self.init(wrappedValue, key.name) { value throws(StoreError) in
      guard let value else { return .null }
      return try key.write(value)
    }
  }

  /// A property with the name of a key.
  public init(wrappedValue: Value, _ name: String) where Value: Storable {
    self.init(wrappedValue, name) { value throws(StoreError) in try value.stored() }
  }

  /// An optional property with the name of a key.
  public init<Wrapped: Storable>(_ name: String) where Value == Wrapped? { self.init(wrappedValue: nil, name) }

  private init(
    _ value: Value, _ key: String, _ write: @escaping @Sendable (Value) throws(StoreError) -> KeptValues.Value
  ) {
    wrappedValue = value
    self.key = key
    self.write = write
  }
}

extension ArgumentOverride: ArgumentOverriding {
  public func overridingValue() throws(StoreError) -> KeptValues.Value? {
    let value = try write(wrappedValue)
    return value == .null ? nil : value
  }
}

/// A key, and the value that overrides it in a started program.
public protocol ArgumentOverriding: Sendable {
  /// The name of the key.
  var key: String { get }

  /// The value; nil if the key is not overridden.
  ///
  /// Throws `invalid` if the value cannot be stored.
  func overridingValue() throws(StoreError) -> Value?
}
