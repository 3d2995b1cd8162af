// What belongs to prefixes, found by the keys that begin with them.

/// An object for each of some prefixes.
///
/// A key is looked up once for each length that a prefix has, however many prefixes there are.
struct PrefixTable<Object: AnyObject> {
  // By the hash of the prefix; those that agree in it are compared.
  private var slots: [UInt64: [(prefix: ExactString, object: Object)]] = [:]
  // How many prefixes have so many bytes, in the order of the lengths.
  private var lengths: [(bytes: Int, count: Int)] = []

  var isEmpty: Bool { slots.isEmpty }
  var prefixes: [ExactString] { slots.values.flatMap { $0.map(\.prefix) } }

  subscript(prefix: ExactString) -> Object? { slots[Self.hash(prefix)]?.first { $0.prefix == prefix }?.object }

  /// Adds what belongs to a prefix that has nothing yet.
  mutating func insert(_ object: Object, for prefix: ExactString) {
    slots[Self.hash(prefix), default: []].append((prefix, object))
    let bytes = prefix.text.utf8.count
    let place = lengths.firstIndex { $0.bytes >= bytes } ?? lengths.endIndex
    if place == lengths.endIndex || lengths[place].bytes != bytes { lengths.insert((bytes, 0), at: place) }
    lengths[place].count += 1
  }

  /// Takes out what belongs to a prefix that has something.
  mutating func remove(_ prefix: ExactString) {
    let hash = Self.hash(prefix)
    slots[hash]?.removeAll { $0.prefix == prefix }
    if slots[hash]?.isEmpty == true { slots[hash] = nil }
    guard let place = lengths.firstIndex(where: { $0.bytes == prefix.text.utf8.count }) else { return }
    lengths[place].count -= 1
    if lengths[place].count == 0 { lengths.remove(at: place) }
  }

  /// Calls `body` with what belongs to each prefix of a key, the shortest first, until it returns false.
  func each(of key: KeyName, _ body: (Object) -> Bool) {
    guard !slots.isEmpty else { return }
    key.exact.withBytes { bytes in
      for length in lengths where length.bytes <= bytes.count {
        let start = UnsafeBufferPointer(rebasing: bytes.prefix(length.bytes))
        for slot in slots[Index.hash(start)] ?? [] where key.exact.hasPrefix(slot.prefix) {
          // Of another length is what only shares the hash.
          if slot.prefix.text.utf8.count == length.bytes, !body(slot.object) { return }
        }
      }
    }
  }

  private static func hash(_ prefix: ExactString) -> UInt64 { prefix.withBytes { Index.hash($0) } }
}
