// The keys of an object, to find one that is there twice.

/// The keys of an object that have been scanned so far.
struct ScannedKeys {
  // A few keys are found faster by looking at all of them than in a set.
  private static let fewest = 16

  // The keys, until there is a set of them.
  private var list: [ExactString] = []
  // Whether they came in their order, as in canonical JSON: then only the last one is compared.
  private var isOrdered = true
  private var many: Set<Hashed> = []

  /// A key whose hash a set need not compute.
  private struct Hashed: Hashable {
    let key: ExactString
    let hash: UInt64

    init(_ key: ExactString) { (self.key, hash) = (key, key.withBytes { KeyHash.of($0) }) }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
    func _rawHashValue(seed: Int) -> Int { KeyHash.mixed(hash, seed: seed) }
  }

  /// Adds a key; returns false if it is there already.
  ///
  /// Throws `failed` if there is not enough memory.
  package mutating func insert(_ key: ExactString) throws(StoreError) -> Bool {
    if many.isEmpty {
      isOrdered = isOrdered && list.last.map { $0 < key } ?? true
      if isOrdered || list.count <= Self.fewest {
        guard isOrdered || !list.contains(key) else { return false }
        try Memory.makeRoom(in: &list, to: JSONScanner.purpose)
        list.append(key)
        return true
      }
      try Memory.ask(for: 96 * list.count, to: JSONScanner.purpose)
      many = Set(list.map { Hashed($0) })
      list = []
    }
    // A set doubles its capacity when it grows, and a quarter of it stays empty.
    if many.count == many.capacity { try Memory.ask(for: 96 * many.count, to: JSONScanner.purpose) }
    return many.insert(Hashed(key)).inserted
  }
}
