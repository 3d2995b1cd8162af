// The containers for Codable decoding. ValueDecoder.swift determines how a single value is read. One generic `decode`
// implements all the primitive ones that Codable requires.

import KeptValues

/// The decoder that a type receives for its value.
struct ValueDecoding: Decoder {
  let value: Value
  let place: CodingPlace

  var codingPath: [any CodingKey] { place.path }
  var userInfo: [CodingUserInfoKey: Any] { place.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .dictionary(let members) = value else { throw mismatch(.dictionary, as: [String: Any].self) }
    return KeyedDecodingContainer(MemberDecoding(members: members, place: place))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .array(let values) = value else { throw mismatch(.array, as: [Any].self) }
    return ElementDecoding(values: values, place: place)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  private func mismatch(_ asked: Value.Kind, as type: any Any.Type) -> DecodingError {
    value.mismatch(with: type, StoreError.mismatch(value, asked: asked).message, at: place)
  }
}

extension ValueDecoding: SingleValueDecodingContainer {
  func decodeNil() -> Bool { value == .null }

  func decode<Decoded: Decodable>(_ type: Decoded.Type) throws -> Decoded {
    try value.decoded(as: type, at: place)
  }
}

/// Reads a dictionary.
///
/// Names are compared by their bytes.
private struct MemberDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let members: ValueDictionary
  let place: CodingPlace

  var codingPath: [any CodingKey] { place.path }
  var allKeys: [Key] { members.compactMap { Key(stringValue: $0.key.text) } }

  func contains(_ key: Key) -> Bool { find(key) != nil }
  func decodeNil(forKey key: Key) throws -> Bool { try member(key) == .null }

  func decode<Decoded: Decodable>(_ type: Decoded.Type, forKey key: Key) throws -> Decoded {
    try member(key).decoded(as: type, at: place.at(key))
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try superDecoder(forKey: key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try superDecoder(forKey: key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try decoder(for: StepKey.superclass) }
  func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(for: key) }

  private func decoder(for key: any CodingKey) throws -> ValueDecoding {
    ValueDecoding(value: try member(key), place: place.at(key))
  }

  private func find(_ key: any CodingKey) -> Value? { members[ExactString(key.stringValue)] }

  private func member(_ key: any CodingKey) throws -> Value {
    guard let value = find(key) else {
      throw DecodingError.keyNotFound(
        key, .init(codingPath: place.path, debugDescription: "has no member \"\(key.stringValue)\""))
    }
    return value
  }
}

/// Reads an array from its beginning.
///
/// After an element that could not be read, the same element is the next one.
private struct ElementDecoding: UnkeyedDecodingContainer {
  let values: [Value]
  let place: CodingPlace
  private(set) var currentIndex = 0

  init(values: [Value], place: CodingPlace) {
    self.values = values
    self.place = place
  }

  var codingPath: [any CodingKey] { place.path }
  var count: Int? { values.count }
  var isAtEnd: Bool { currentIndex >= values.count }

  mutating func decodeNil() throws -> Bool {
    guard try current() == .null else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode<Decoded: Decodable>(_ type: Decoded.Type) throws -> Decoded {
    let index = currentIndex
    let decoded = try current().decoded(as: type, at: place.at(index))
    currentIndex += 1
    return decoded
  }

  mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    let container = try decoder().container(keyedBy: type)
    currentIndex += 1
    return container
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let container = try decoder().unkeyedContainer()
    currentIndex += 1
    return container
  }

  mutating func superDecoder() throws -> any Decoder {
    let decoder = try decoder()
    currentIndex += 1
    return decoder
  }

  private func decoder() throws -> ValueDecoding {
    ValueDecoding(value: try current(), place: place.at(currentIndex))
  }

  private func current() throws -> Value {
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        Value.self,
        .init(codingPath: place.at(currentIndex).path, debugDescription: "has only \(values.count) elements"))
    }
    return values[currentIndex]
  }
}
