// Decodes a Decodable type from a value: the entry point, and the rule for which types are read as stored and which by
// their own coding. The containers are in DecodingContainers.swift.

import KeptValues

/// Decodes a Codable type from a ``Value``, as ``ValueEncoder`` wrote it.
///
/// A key whose type is `Codable & Storable` uses it automatically.
public struct ValueDecoder: Sendable {
  /// Passed to the types that are decoded.
  public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

  public init() {}

  /// Decodes a value.
  ///
  /// Throws `DecodingError` with the coding path, and the errors of the type's `init(from:)` unchanged.
  ///
  /// Members that the type does not request are ignored. Numbers are converted only if the conversion is exact.
  public func decode<Decoded: Decodable>(_ type: Decoded.Type, from value: Value) throws -> Decoded {
    try value.decoded(as: type, at: CodingPlace(path: [], userInfo: userInfo))
  }
}

extension Value {
  /// Reads this value as a type: as stored, or by the type's own coding.
  func decoded<Decoded: Decodable>(
    as type: Decoded.Type, at place: @autoclosure () -> CodingPlace
  ) throws -> Decoded {
    do throws(StoreError) {
      if let native = type as? any CodedAsStored.Type, let value = try native.init(stored: self) as? Decoded {
        return value
      }
      if type is any NameMerging.Type, case .dictionary(let members) = self {
        _ = try members.checkedForMergedNames()
      }
    } catch {
      throw mismatch(with: type, error.message, at: place(), underlyingError: error)
    }
    return try Decoded(from: ValueDecoding(value: self, place: place()))
  }

  /// The error for a value that does not have the requested type; null is reported as a missing value, as in Codable.
  func mismatch(
    with type: any Any.Type, _ message: String, at place: CodingPlace, underlyingError: (any Error)? = nil
  ) -> DecodingError {
    let context = DecodingError.Context(
      codingPath: place.path, debugDescription: message, underlyingError: underlyingError)
    return self == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
  }
}
