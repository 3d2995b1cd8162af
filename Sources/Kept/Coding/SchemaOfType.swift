// The schema of a type that does not provide one, derived from its raw value or from the requests of its decoding.

import KeptSchema
import KeptValues

extension Schema {
  /// The schema of a type; nil if it cannot be determined without a value.
  static func found(in type: any Storable.Type) -> Schema? {
    if let type = type as? any RawRepresentable.Type, let schema = ofRawValues(of: type) { return schema }
    if let type = type as? any Decodable.Type { return SchemaProbe.schema(of: type) }
    return nil
  }

  private static func ofRawValues<Type: RawRepresentable>(of type: Type.Type) -> Schema? {
    guard let schema = (Type.RawValue.self as? any Storable.Type)?.schema else { return nil }
    guard let choices = (type as? any CaseIterable.Type).flatMap({ storedCases(of: $0) }) else { return schema }
    return schema.saying("enum", .array(choices))
  }

  /// All cases as they are stored; nil if there are none, or one cannot be stored.
  private static func storedCases<Type: CaseIterable>(of type: Type.Type) -> [Value]? {
    let cases = type.allCases.map { try? ($0 as? any Storable)?.stored() }
    let stored = cases.compactMap(\.self)
    return stored.isEmpty || stored.count < cases.count ? nil : stored
  }
}

/// A decoder without a value, which records what a type requests first: members, elements, or a single value.
private struct SchemaProbe: Decoder {
  /// The recorded requests.
  ///
  /// A type that then makes a request of another kind has several stored forms.
  private final class Wishes { var schemas: [Schema?] = [] }
  private struct NoValue: Error {}

  private let wishes = Wishes()
  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]

  /// - Returns: nil for a type with several stored forms.
  static func schema(of type: any Decodable.Type) -> Schema? {
    let probe = SchemaProbe()
    _ = try? type.init(from: probe)
    return probe.wishes.schemas.count == 1 ? probe.wishes.schemas[0] : nil
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    throw noted(.object)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw noted(.array) }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  private func noted(_ schema: Schema?) -> NoValue {
    wishes.schemas.append(schema)
    return NoValue()
  }
}

extension SchemaProbe: SingleValueDecodingContainer {
  func decodeNil() -> Bool { false }

  func decode<Decoded: Decodable>(_ type: Decoded.Type) throws -> Decoded {
    if let type = type as? any Storable.Type { throw noted(type.schema) }
    return try Decoded(from: self)
  }
}
