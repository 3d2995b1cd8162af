// The types that a key can have, and their stored forms.

import KeptSchema
import KeptValues

/// A type that a key can have.
///
/// Bool, the integers, Double, Float, Decimal, String, Substring, Data, Date, URL and UUID are Storable; so are
/// optionals, arrays, sets, ranges, and dictionaries with String keys, of Storable types. Your own types usually only
/// declare the conformance:
///
/// ```swift
/// struct Frame: Codable, Storable { var x, y, width, height: Double }   // an object in C and Python
/// enum Theme: String, Storable { case system, light, dark }             // its raw value
/// ```
///
/// A type that is both `RawRepresentable` and `Codable` is stored as its raw value. Any other type implements the first
/// two requirements itself, and the third if keys of the type are to be declared.
// Sendable, because a value is passed from the thread that wrote it to every observer's.
public protocol Storable: Sendable {
  /// Reads a stored value.
  ///
  /// Throws `wrongType` if the value does not have this type; it stays stored as it is. The error need not name the
  /// key.
  init(stored value: Value) throws(StoreError)

  /// The value to store; `.null` means "no value", and removes the key.
  ///
  /// Throws `invalid` if it cannot be stored; the stored value stays then.
  func stored() throws(StoreError) -> Value

  /// The schema of the stored values, for declaring keys; nil if a key's default, if it has one, determines the schema.
  ///
  /// Types with a raw value and Codable types need not implement it.
  static var schema: Schema? { get }
}

extension Storable {
  public static var schema: Schema? { Schema.found(in: Self.self) }
}

extension Value: Storable {
  public init(stored value: Value) { self = value }
  public func stored() -> Value { self }
}
