// Facts about some keys, in the order of their arrival. Most tables have one key, and some have thousands: a
// dictionary would cost more in both cases, and needs a KeyName where the bytes of a key are enough.

import CPlatform
public import KeptValues

/// The values of some keys: one for each key, in insertion order.
public struct KeyTable<Value: Sendable>: RandomAccessCollection, Sendable {
  // A tuple would be destroyed by the runtime, which looks its parts up.
  private struct Pair {
    let key: KeyName
    var value: Value
  }
  // Invariant: no two have the same key.
  private var elements: [Pair] = []
  // A hash table from a key to its value: the value's index plus 1, or 0 for an empty slot. At most half of the slots
  // are used. The table is empty while there are so few keys that a linear search is used.
  private var places: [UInt32] = []

  private static var few: Int { 8 }

  init() {}

  /// Reserves room for a number of keys: growing would temporarily take up to three times as much.
  mutating func reserve(_ count: Int) {
    elements.reserveCapacity(count)
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { elements.count }
  public subscript(index: Int) -> (key: KeyName, value: Value) { (elements[index].key, elements[index].value) }

  /// The key at an index.
  @inline(__always)
  func key(at index: Int) -> KeyName { elements[index].key }

  /// The hash of the key at an index.
  @inline(__always)
  func hash(at index: Int) -> UInt64 { elements[index].key.hash }

  /// The value at an index.
  @inline(__always)
  func value(at index: Int) -> Value { elements[index].value }

  /// The value of a key.
  public subscript(key: KeyName) -> Value? { index(of: key).map { elements[$0].value } }

  /// The value of a key.
  subscript(key: PreparedBytes) -> Value? { index(of: key).map { elements[$0].value } }

  /// Sets the value of a key.
  mutating func put(_ key: KeyName, _ value: consuming Value) {
    if let index = index(of: key) { elements[index].value = value } else { append(key, value) }
  }

  /// Changes the value of a key; `make` makes the key and its first value if there is none.
  mutating func update(
    _ key: PreparedBytes, _ make: () throws(StoreError) -> (KeyName, Value),
    _ change: (inout Value) throws(StoreError) -> Void
  ) throws(StoreError) {
    if let index = index(of: key) { return try change(&elements[index].value) }
    let (name, value) = try make()
    append(name, value)
    try change(&elements[elements.count - 1].value)
  }

  /// The same keys with other values.
  func mapValues<Other>(_ transform: (Value) -> Other) -> KeyTable<Other> {
    var table = KeyTable<Other>()
    table.elements = elements.map { KeyTable<Other>.Pair(key: $0.key, value: transform($0.value)) }
    table.places = places
    return table
  }

  /// Removes a key; slow if there are many.
  mutating func remove(_ key: KeyName) {
    guard let index = index(of: key) else { return }
    elements.remove(at: index)
    guard !places.isEmpty else { return }
    places = Array(repeating: 0, count: places.count)
    for index in elements.indices { places[freePlace(elements[index].key.hash)] = UInt32(index + 1) }
  }

  private func index(of key: KeyName) -> Int? { index(key.hash) { elements[$0].key == key } }

  private func index(of key: PreparedBytes) -> Int? {
    index(key.hash) { index in elements[index].key.exact.withBytes { key.hasBytes($0) } }
  }

  @inline(__always)
  private func index(_ hash: UInt64, _ isKey: (Int) -> Bool) -> Int? {
    if places.isEmpty { return elements.indices.first { elements[$0].key.hash == hash && isKey($0) } }
    var place = home(hash)
    while places[place] != 0 {
      let index = Int(places[place]) - 1
      if elements[index].key.hash == hash, isKey(index) { return index }
      place = (place + 1) & (places.count - 1)
    }
    return nil
  }

  private mutating func append(_ key: KeyName, _ value: consuming Value) {
    elements.append(Pair(key: key, value: value))
    if elements.count * 2 > Swift.max(places.count, Self.few * 2) {
      // A power of two.
      places = Array(repeating: 0, count: Swift.max(places.count, Self.few * 2) * 4)
      for index in elements.indices { places[freePlace(elements[index].key.hash)] = UInt32(index + 1) }
    } else if !places.isEmpty {
      places[freePlace(key.hash)] = UInt32(elements.count)
    }
  }

  private func freePlace(_ hash: UInt64) -> Int {
    var place = home(hash)
    while places[place] != 0 { place = (place + 1) & (places.count - 1) }
    return place
  }

  @inline(__always)
  private func home(_ hash: UInt64) -> Int { Int(kept_first_group(hash, UInt64(places.count - 1))) }
}
