// What the conditions of a group of commits rely on: keys and prefixes to which nothing may have happened. The log of
// commits is read once for all of them, and what is long is read before the write lock is taken, so that others write
// meanwhile.

/// The keys and prefixes that conditions name, each with the last revision that the log has for it.
struct ConditionLog {
  private var keys: [[UInt8]: Revision] = [:]
  private var prefixes: [[UInt8]: Revision] = [:]
  // A key can begin with no other prefixes than its own ones of these lengths.
  private var lengths: [Int] = []
  /// What happened up to here is forgotten, or nobody asks for it.
  private var start: Revision
  /// The log has been read up to here.
  private(set) var end: Revision

  /// nil: nothing is relied on, but perhaps for what each key is now.
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

  /// Reads on in the log, to its end, in the transaction around it.
  mutating func read(_ log: ChangeLog) throws(StoreError) {
    let (floor, last) = try log.extent()
    if floor > end { (start, end) = (floor, floor) }
    guard last > end else { return }
    try log.eachRow(after: end) { revision, names in note(names, at: revision) }
    end = last
  }

  /// The last revision after `base` that changed a key; 0 for none.
  ///
  /// What is forgotten counts as changed.
  func lastChange(of key: KeyName, after base: Revision) -> Revision {
    base < start ? start : keys[Self.bytes(key.exact)] ?? 0
  }

  /// The same for any key with a prefix.
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
