// Codable types are stored as the value that their own coding produces, which C and Python read as JSON.

import KeptValues

extension Storable where Self: Codable {
  /// Decodes a value with the type's `init(from:)`.
  ///
  /// Throws `wrongType` if that fails, with the place inside the value.
  public init(stored value: Value) throws(StoreError) {
    do { self = try ValueDecoder().decode(Self.self, from: value) } catch { throw StoreError(decoding: error) }
  }

  /// Encodes the value with the type's `encode(to:)`: a dictionary for a struct.
  ///
  /// Throws `invalid` if that fails.
  public func stored() throws(StoreError) -> Value {
    do { return try ValueEncoder().encode(self) } catch { throw StoreError(encoding: error) }
  }
}

extension StoreError {
  /// The error for a failed decoding of a Codable type.
  init(decoding error: any Error) {
    switch error {
    case let error as StoreError: self = error
    case DecodingError.keyNotFound(let key, let context):
      self = StoreError(.wrongType, "has no member \"\(key.stringValue)\"").at(context.codingPath)
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
      DecodingError.dataCorrupted(let context):
      self = StoreError(.wrongType, context.debugDescription).at(context.codingPath)
    default: self = StoreError(.wrongType, "cannot be decoded: \(error)")
    }
  }

  /// The error for a failed encoding of a Codable type.
  init(encoding error: any Error) {
    switch error {
    case let error as StoreError: self = error
    case EncodingError.invalidValue(_, let context):
      let code = (context.underlyingError as? StoreError)?.code ?? .invalid
      self = StoreError(code, context.debugDescription).at(context.codingPath)
    default: self = StoreError(.invalid, "cannot be encoded: \(error)")
    }
  }

  private func at(_ path: [any CodingKey]) -> StoreError {
    path.reversed().reduce(self) { $0.at(PlaceStep($1)) }
  }
}
