// What is known of some keys, in the order in which they came. Most tables have one key, and some have thousands: a
// dictionary would cost more in both cases, and needs a KeyName where the bytes of a key are enough.

import CPlatform

/// The values of some keys: one for each key, in insertion order.
public struct KeyTable<Value: Sendable>: RandomAccessCollection, Sendable {
  // Invariant: no two have the same key, and each has the value at the same index.
  private var keys: [KeyName] = []
  private var values: [Value] = []
  // A hash table from a key to its value: the value's index plus 1, or 0 for an empty slot. At most half of the slots
  // are used. The table is empty while there are so few keys that a linear search is used.
  private var places: [UInt32] = []

  private static var few: Int { 8 }

  init() {}

  /// Reserves room for a number of keys: growing would temporarily take up to three times as much.
  mutating func reserve(_ count: Int) {
    keys.reserveCapacity(count)
    values.reserveCapacity(count)
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { keys.count }
  public subscript(index: Int) -> (key: KeyName, value: Value) { (keys[index], values[index]) }

  /// The value of a key.
  public subscript(key: KeyName) -> Value? { index(of: key).map { values[$0] } }

  /// Sets the value of a key.
  mutating func put(_ key: KeyName, _ value: Value) {
    if let index = index(of: key) { return values[index] = value }
    append(key, value)
  }

  /// Changes the value of a key; `make` makes the key and its first value if there is none.
  mutating func update(
    _ key: PreparedBytes, _ make: () throws(StoreError) -> (KeyName, Value),
    _ change: (inout Value) throws(StoreError) -> Void
  ) throws(StoreError) {
    if let index = index(of: key) { return try change(&values[index]) }
    let (name, value) = try make()
    append(name, value)
    try change(&values[values.count - 1])
  }

  /// Removes a key; slow if there are many.
  mutating func remove(_ key: KeyName) {
    guard let index = index(of: key) else { return }
    keys.remove(at: index)
    values.remove(at: index)
    guard !places.isEmpty else { return }
    places = Array(repeating: 0, count: places.count)
    for index in keys.indices { places[freePlace(keys[index].hash)] = UInt32(index + 1) }
  }

  private func index(of key: KeyName) -> Int? { index(key.hash) { keys[$0] == key } }

  private func index(of key: PreparedBytes) -> Int? {
    index(key.hash) { index in keys[index].exact.withBytes { key.hasBytes($0) } }
  }

  @inline(__always)
  private func index(_ hash: UInt64, _ isKey: (Int) -> Bool) -> Int? {
    if places.isEmpty { return keys.indices.first { keys[$0].hash == hash && isKey($0) } }
    var place = home(hash)
    while places[place] != 0 {
      let index = Int(places[place]) - 1
      if keys[index].hash == hash, isKey(index) { return index }
      place = (place + 1) & (places.count - 1)
    }
    return nil
  }

  private mutating func append(_ key: KeyName, _ value: Value) {
    keys.append(key)
    values.append(value)
    if keys.count * 2 > Swift.max(places.count, Self.few * 2) {
      // A power of two.
      places = Array(repeating: 0, count: Swift.max(places.count, Self.few * 2) * 4)
      for index in keys.indices { places[freePlace(keys[index].hash)] = UInt32(index + 1) }
    } else if !places.isEmpty {
      places[freePlace(key.hash)] = UInt32(keys.count)
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
