// The containers for Codable encoding. Each fills slots; EncodingSlot.swift determines the value in a slot. One generic
// `encode` implements all the primitive ones that Codable requires.

/// The encoder that a type receives for the slot that it fills.
struct SlotEncoder: Encoder {
  let slot: EncodingSlot
  let place: CodingPlace

  var codingPath: [any CodingKey] { place.path }
  var userInfo: [CodingUserInfoKey: Any] { place.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(MemberEncoding(slot: slot, place: place))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { ElementEncoding(slot: slot, place: place) }
  func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension SlotEncoder: SingleValueEncodingContainer {
  func encodeNil() { slot.put(.null) }
  func encode(_ value: some Encodable) throws { try slot.fill(with: value, at: place) }
}

/// Fills a dictionary.
private struct MemberEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let slot: EncodingSlot
  let place: CodingPlace

  init(slot: EncodingSlot, place: CodingPlace) {
    slot.openMembers()
    self.slot = slot
    self.place = place
  }

  var codingPath: [any CodingKey] { place.path }

  func encodeNil(forKey key: Key) { slot.member(key).put(.null) }

  func encode(_ value: some Encodable, forKey key: Key) throws {
    try slot.member(key).fill(with: value, at: place.at(key))
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    encoder(for: key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder(for: key).unkeyedContainer() }
  func superEncoder() -> any Encoder { encoder(for: StepKey.superclass) }
  func superEncoder(forKey key: Key) -> any Encoder { encoder(for: key) }

  private func encoder(for key: any CodingKey) -> SlotEncoder {
    SlotEncoder(slot: slot.member(key), place: place.at(key))
  }
}

/// Fills an array.
private struct ElementEncoding: UnkeyedEncodingContainer {
  let slot: EncodingSlot
  let place: CodingPlace

  init(slot: EncodingSlot, place: CodingPlace) {
    slot.openElements()
    self.slot = slot
    self.place = place
  }

  var codingPath: [any CodingKey] { place.path }
  var count: Int { slot.count }

  func encodeNil() { slot.append().put(.null) }

  func encode(_ value: some Encodable) throws {
    let index = count
    try slot.append().fill(with: value, at: place.at(index))
  }

  func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    nextEncoder().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nextEncoder().unkeyedContainer() }
  func superEncoder() -> any Encoder { nextEncoder() }

  private func nextEncoder() -> SlotEncoder {
    let place = place.at(count)
    return SlotEncoder(slot: slot.append(), place: place)
  }
}
