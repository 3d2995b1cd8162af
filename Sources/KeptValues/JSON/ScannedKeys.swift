// The keys of an object, to find one that is there twice.

/// The keys of an object that have been scanned so far.
struct ScannedKeys {
  // A few keys are found faster by looking at all of them than in a set.
  private static let fewest = 16

  private var few: [(hash: UInt64, key: ExactString)] = []
  private var many: Set<ExactString> = []

  /// Adds a key; returns false if it is there already.
  ///
  /// Throws `failed` if there is not enough memory.
  package mutating func insert(_ key: ExactString) throws(StoreError) -> Bool {
    if many.isEmpty {
      let hash = key.withBytes { KeyHash.of($0) }
      for other in few where other.hash == hash && other.key == key { return false }
      few.append((hash, key))
      if few.count > Self.fewest {
        many = Set(few.map(\.key))
        few = []
      }
      return true
    }
    // A set doubles its capacity when it grows, and a quarter of it stays empty.
    if many.count == many.capacity { try Memory.ask(for: 48 * many.count, to: JSONScanner.purpose) }
    return many.insert(key).inserted
  }
}
