// Enums, option sets and other types with a raw value are stored as that value.

import KeptValues

extension Storable where Self: RawRepresentable, RawValue: Storable {
  /// Reads a raw value.
  ///
  /// Throws `wrongType` for a raw value that the type does not have, such as a case of a newer version.
  public init(stored value: Value) throws(StoreError) { self = try Self.read(value) }

  /// The raw value.
  public func stored() throws(StoreError) -> Value { try rawValue.stored() }

  fileprivate static func read(_ value: Value) throws(StoreError) -> Self {
    guard let known = Self(rawValue: try RawValue(stored: value)) else {
      throw StoreError(.wrongType, "holds \(value.described) that is not \(withArticle(Self.self))")
    }
    return known
  }
}

// An enum with raw values may also be declared Codable. It is stored in the same way.
extension Storable where Self: RawRepresentable & Codable, RawValue: Storable {
  /// Reads a raw value.
  ///
  /// Throws `wrongType` for a raw value that the type does not have, such as a case of a newer version.
  public init(stored value: Value) throws(StoreError) { self = try Self.read(value) }

  /// The raw value.
  public func stored() throws(StoreError) -> Value { try rawValue.stored() }
}
