// The revision tracker: assigns revisions to keys from the values that were read.

import KeptValues

/// The known state of the keys of a simple storage.
///
/// Invariant: two different values of a key, read one after the other, have different revisions.
struct RevisionTracker {
  private struct Line {
    var entry: Entry
    // Only the name is known; the next read determines the value.
    var isUnseen = false
  }
  private var lines: [KeyName: Line] = [:]
  /// The errors of the keys that could not be read the last time.
  private(set) var unreadable: [KeyName: StoreError] = [:]
  private(set) var revision: Revision = 0
  /// Whether all existing keys have been listed.
  private(set) var isListed = false

  /// Records the current value of a key.
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

  /// Records which keys exist.
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

  /// Records that a key cannot be read; returns false if this was known.
  mutating func learn(_ key: KeyName, unreadable error: StoreError) -> Bool {
    let known = unreadable.updateValue(error, forKey: key)
    return known?.code != error.code || known?.message != error.message
  }

  /// The known entry of a key; nil if its value was never read.
  func entry(of key: KeyName) -> Entry? { lines[key].flatMap { $0.isUnseen ? nil : $0.entry } }

  mutating func forget(_ key: KeyName) { lines[key] = nil }

  /// The keys that changed after a revision; nil for all known keys.
  func keys(after base: Revision?) -> [KeyName] {
    lines.filter { line in base.map { line.value.entry.revision > $0 } ?? true }.map(\.key)
  }

  /// The newest revision of a key with a prefix.
  func newest(_ prefix: ExactString) -> Revision {
    lines.lazy.filter { $0.key.exact.hasPrefix(prefix) }.map(\.value.entry.revision).max() ?? 0
  }

  /// A key that is seen for the first time has existed from the beginning, unless it would have been listed before.
  private mutating func number(isFirst: Bool, isThere: Bool) -> Revision {
    if isFirst && !isThere { return 0 }
    if isFirst && !isListed { revision = max(revision, 1) } else { revision += 1 }
    return isFirst && !isListed ? 1 : revision
  }
}
