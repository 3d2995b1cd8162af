// Which revision each key has, told from nothing but what was seen of it.

/// What is known of the keys of a simple storage.
///
/// Invariant: two different values of a key, seen one after the other, have different revisions.
struct RevisionTracker {
  private struct Line {
    var entry: Entry
    // Known by its name only: the next look says what its value is.
    var isUnseen = false
  }
  private var lines: [KeyName: Line] = [:]
  /// What is wrong with the keys that could not be read when they were last looked at.
  private(set) var unreadable: [KeyName: StoreError] = [:]
  private(set) var revision: Revision = 0
  /// Whether all keys that there are have been named.
  private(set) var isListed = false

  /// Takes down what a key has now.
  @discardableResult
  mutating func learn(_ key: KeyName, _ value: Value?) -> Entry {
    if !unreadable.isEmpty { unreadable[key] = nil }
    if lines[key]?.isUnseen == true, let value {
      lines[key]?.entry.value = value
      lines[key]?.isUnseen = false
    } else if let line = lines[key], line.entry.value == value {
      return line.entry
    } else {
      let isFirst = lines[key] == nil
      lines[key] = Line(entry: Entry(value: value, revision: number(isFirst: isFirst, isThere: value != nil)))
    }
    return lines[key]?.entry ?? Entry(value: value, revision: revision)
  }

  /// Takes down which keys there are.
  mutating func learn(all keys: Set<KeyName>) {
    for key in keys where lines[key]?.entry.value == nil && lines[key]?.isUnseen != true {
      let number = number(isFirst: lines[key] == nil, isThere: true)
      lines[key] = Line(entry: Entry(value: nil, revision: number), isUnseen: true)
    }
    for (key, line) in lines where !keys.contains(key) && (line.entry.value != nil || line.isUnseen) {
      revision += 1
      lines[key] = Line(entry: Entry(value: nil, revision: revision))
    }
    isListed = true
  }

  /// Takes down that a key cannot be read; false if that is known.
  mutating func learn(_ key: KeyName, unreadable error: StoreError) -> Bool {
    let known = unreadable.updateValue(error, forKey: key)
    return known?.code != error.code || known?.message != error.message
  }

  /// What is known of a key; nil where its value was never seen.
  func entry(of key: KeyName) -> Entry? { lines[key].flatMap { $0.isUnseen ? nil : $0.entry } }

  mutating func forget(_ key: KeyName) { lines[key] = nil }

  /// The keys that changed after a revision; nil: all that are known.
  func keys(after base: Revision?) -> [KeyName] {
    lines.filter { line in base.map { line.value.entry.revision > $0 } ?? true }.map(\.key)
  }

  /// The newest revision of a key with a prefix.
  func newest(_ prefix: ExactString) -> Revision {
    lines.lazy.filter { $0.key.exact.hasPrefix(prefix) }.map(\.value.entry.revision).max() ?? 0
  }

  /// What is seen for the first time was there from the beginning, unless it would have been named before.
  private mutating func number(isFirst: Bool, isThere: Bool) -> Revision {
    if isFirst && !isThere { return 0 }
    if isFirst && !isListed { revision = max(revision, 1) } else { revision += 1 }
    return isFirst && !isListed ? 1 : revision
  }
}
