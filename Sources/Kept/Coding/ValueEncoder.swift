// Encodes an Encodable type as a value: the entry point. The slots are in EncodingSlot.swift, and the containers that
// fill them in EncodingContainers.swift.

import KeptValues

/// Encodes a Codable type as a ``Value``: a struct as a dictionary, `Data` as bytes, `Date` as a date.
///
/// A key whose type is `Codable & Storable` uses it automatically.
public struct ValueEncoder: Sendable {
  /// Passed to the types that are encoded.
  public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

  public init() {}

  /// Encodes a value.
  ///
  /// A type that encodes nothing becomes an empty dictionary.
  ///
  /// Throws the errors of the type's `encode(to:)` unchanged, and `EncodingError` with the coding path for a value that
  /// no store can hold, such as a date outside the years 0 to 9999 or more than 64 nested containers.
  public func encode(_ value: some Encodable) throws -> Value {
    let root = EncodingSlot(depth: 0)
    let place = CodingPlace(path: [], userInfo: userInfo)
    try root.fill(with: value, at: place)
    return try root.value(at: place)
  }
}
