// What a type is in the store when it does not say so itself: found by its raw value, or by what its decoding asks for.

import KeptCore

extension Schema {
  /// The schema of a type; nil: it cannot be known without a value.
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

  /// All cases as they are stored; nil where there are none, or one cannot be stored.
  private static func storedCases<Type: CaseIterable>(of type: Type.Type) -> [Value]? {
    let cases = type.allCases.map { try? ($0 as? any Storable)?.stored() }
    let stored = cases.compactMap(\.self)
    return stored.isEmpty || stored.count < cases.count ? nil : stored
  }
}

/// A decoder without a value, which finds out what a type first asks for: members, elements, or a single value.
private struct SchemaProbe: Decoder {
  /// Thrown as soon as it is known.
  private struct Found: Error { let schema: Schema? }

  let codingPath: [any CodingKey] = []
  let userInfo: [CodingUserInfoKey: Any] = [:]

  /// - Returns: nil for a type that tries one thing after the other: it is stored in several ways.
  static func schema(of type: any Decodable.Type) -> Schema? {
    do { _ = try type.init(from: SchemaProbe()) } catch let found as Found { return found.schema } catch {}
    return nil
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    throw Found(schema: .object)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Found(schema: .array) }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }
}

extension SchemaProbe: SingleValueDecodingContainer {
  func decodeNil() -> Bool { false }

  func decode<Decoded: Decodable>(_ type: Decoded.Type) throws -> Decoded {
    if let type = type as? any Storable.Type { throw Found(schema: type.schema) }
    return try Decoded(from: self)
  }
}
