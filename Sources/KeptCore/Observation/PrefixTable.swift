// A table of objects for prefixes, looked up by the keys that begin with them.

import KeptValues

/// A table with one object for each prefix.
///
/// A lookup takes one step for each distinct prefix length, however many prefixes there are.
struct PrefixTable<Object: AnyObject> {
  // Keyed by the hash of the prefix; prefixes with the same hash are compared.
  private var slots: [UInt64: [(prefix: ExactString, object: Object)]] = [:]
  // The number of prefixes of each byte length, ordered by length.
  private var lengths: [(bytes: Int, count: Int)] = []

  var isEmpty: Bool { slots.isEmpty }
  var prefixes: [ExactString] { slots.values.flatMap { $0.map(\.prefix) } }

  subscript(prefix: ExactString) -> Object? { slots[Self.hash(prefix)]?.first { $0.prefix == prefix }?.object }

  /// Adds the object of a prefix that has none yet.
  mutating func insert(_ object: Object, for prefix: ExactString) {
    slots[Self.hash(prefix), default: []].append((prefix, object))
    let bytes = prefix.text.utf8.count
    let place = lengths.firstIndex { $0.bytes >= bytes } ?? lengths.endIndex
    if place == lengths.endIndex || lengths[place].bytes != bytes { lengths.insert((bytes, 0), at: place) }
    lengths[place].count += 1
  }

  /// Removes the object of a prefix.
  mutating func remove(_ prefix: ExactString) {
    let hash = Self.hash(prefix)
    slots[hash]?.removeAll { $0.prefix == prefix }
    if slots[hash]?.isEmpty == true { slots[hash] = nil }
    guard let place = lengths.firstIndex(where: { $0.bytes == prefix.text.utf8.count }) else { return }
    lengths[place].count -= 1
    if lengths[place].count == 0 { lengths.remove(at: place) }
  }

  /// Calls `body` with the object of each prefix of a key, the shortest first, until it returns false.
  func each(of key: KeyName, _ body: (Object) -> Bool) {
    guard !slots.isEmpty else { return }
    key.exact.withBytes { bytes in
      for length in lengths where length.bytes <= bytes.count {
        let start = UnsafeBufferPointer(rebasing: bytes.prefix(length.bytes))
        for slot in slots[KeyHash.of(start)] ?? [] where key.exact.hasPrefix(slot.prefix) {
          // A prefix of another length only shares the hash.
          if slot.prefix.text.utf8.count == length.bytes, !body(slot.object) { return }
        }
      }
    }
  }

  private static func hash(_ prefix: ExactString) -> UInt64 { prefix.withBytes { KeyHash.of($0) } }
}
