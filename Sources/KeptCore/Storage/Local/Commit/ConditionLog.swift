// What the conditions of a group of commits depend on: keys and prefixes that must not have changed. The log of commits
// is read once for all of them. A long part of it is read before the write lock is taken, so that others can write
// meanwhile.

/// The keys and prefixes that conditions name, each with the last revision that the log has for it.
struct ConditionLog {
  private var keys: [[UInt8]: Revision] = [:]
  private var prefixes: [[UInt8]: Revision] = [:]
  // The lengths of the prefixes: only a key's own prefixes of these lengths need be looked up.
  private var lengths: [Int] = []
  /// The revision up to which the log is forgotten, or irrelevant to the conditions.
  private var start: Revision
  /// The revision up to which the log has been read.
  private(set) var end: Revision

  /// Collects the conditions of a group; nil if they depend at most on the present state of each key.
  init?(of group: [Batch]) {
    var earliest: Revision?
    for condition in group.lazy.flatMap(\.conditions) {
      switch condition {
      case .unchanged(let key, let base):
        keys[Self.bytes(key.exact)] = 0
        earliest = min(earliest ?? base, base)
      case .unchangedPrefix(let prefix, let base):
        prefixes[Self.bytes(prefix)] = 0
        earliest = min(earliest ?? base, base)
      case .revision, .schemaVersion: break
      }
    }
    guard let earliest else { return nil }
    (start, end) = (earliest, earliest)
    lengths = Set(prefixes.keys.map(\.count)).sorted()
  }

  /// Continues to the end of the log, in the current transaction.
  mutating func read(_ log: ChangeLog) throws(StoreError) {
    let (floor, last) = try log.extent()
    if floor > end { (start, end) = (floor, floor) }
    guard last > end else { return }
    try log.eachRow(after: end) { revision, names in note(names, at: revision) }
    end = last
  }

  /// Returns the last revision after `base` that changed a key; 0 if there is none.
  ///
  /// A forgotten revision counts as a change.
  func lastChange(of key: KeyName, after base: Revision) -> Revision {
    base < start ? start : keys[Self.bytes(key.exact)] ?? 0
  }

  /// Returns the last revision after `base` that changed any key with a prefix; 0 if there is none.
  func lastChange(under prefix: ExactString, after base: Revision) -> Revision {
    base < start ? start : prefixes[Self.bytes(prefix)] ?? 0
  }

  private mutating func note(_ names: UnsafeBufferPointer<UInt8>, at revision: Revision) {
    for name in names.split(separator: 0) {
      if !keys.isEmpty, let index = keys.index(forKey: Array(name)) { keys.values[index] = revision }
      for length in lengths where length <= name.count {
        if let index = prefixes.index(forKey: Array(name.prefix(length))) { prefixes.values[index] = revision }
      }
    }
  }

  private static func bytes(_ text: ExactString) -> [UInt8] { text.withBytes { Array($0) } }
}
