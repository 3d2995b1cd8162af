// How a Decodable is made of a value: the entry point, and the one rule for what is read as itself and what by its own
// coding. The containers are in DecodingContainers.

public import KeptCore

/// Decodes a Codable type from a ``Value``, as ``ValueEncoder`` wrote it.
///
/// A key whose type is `Codable & Storable` does this by itself.
public struct ValueDecoder: Sendable {
  /// Handed to the types that are decoded.
  public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

  public init() {}

  /// Decodes a value.
  ///
  /// Throws `DecodingError` with the coding path, and the errors of the type's `init(from:)` unchanged.
  ///
  /// Members that the type does not ask for are ignored. Numbers convert only where they survive it.
  public func decode<Decoded: Decodable>(_ type: Decoded.Type, from value: Value) throws -> Decoded {
    try value.decoded(as: type, at: CodingPlace(path: [], userInfo: userInfo))
  }
}

extension Value {
  /// Reads this value as a type: as it is stored, or as the type's own coding says.
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

  /// The error for a value that is not of the type asked for; null is called a missing value, as Codable does.
  func mismatch(
    with type: any Any.Type, _ message: String, at place: CodingPlace, underlyingError: (any Error)? = nil
  ) -> DecodingError {
    let context = DecodingError.Context(
      codingPath: place.path, debugDescription: message, underlyingError: underlyingError)
    return self == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
  }
}
