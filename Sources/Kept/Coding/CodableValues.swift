// How Codable types are stored: as the value that their own coding describes, which C and Python read as JSON.

public import KeptCore

extension Storable where Self: Codable {
  /// Reads what the type's `init(from:)` makes of a value.
  ///
  /// Throws `wrongType` where it makes nothing of it, with the
  /// place inside the value.
  public init(stored value: Value) throws(StoreError) {
    do { self = try ValueDecoder().decode(Self.self, from: value) } catch { throw StoreError(decoding: error) }
  }

  /// What the type's `encode(to:)` describes: a dictionary for a struct.
  ///
  /// Throws `invalid` where it fails.
  public func stored() throws(StoreError) -> Value {
    do { return try ValueEncoder().encode(self) } catch { throw StoreError(encoding: error) }
  }
}

extension StoreError {
  /// What went wrong in a Codable type that was read.
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

  /// What went wrong in a Codable type that was to be written.
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
