// When a key under a prefix was changed last, for the conditions of a group.

import KeptValues

struct PrefixChanges {
  private var prefixes: [ExactString: Revision] = [:]
  private var read: Revision

  /// Reads the last changes under the prefixes that conditions name; nil if there are none.
  init?(of group: [Batch], _ loader: IndexLoader) throws(StoreError) {
    for condition in group.lazy.flatMap(\.conditions) {
      if case .unchangedPrefix(let prefix, _) = condition { prefixes[prefix] = 0 }
    }
    guard !prefixes.isEmpty else { return nil }
    let names = Array(prefixes.keys)
    let (revision, found) = try loader.scan { reader throws(StoreError) in
      (reader.revision, try names.map { prefix throws(StoreError) in try reader.lastChange(under: prefix) })
    }
    for (prefix, last) in zip(names, found) { prefixes[prefix] = last }
    read = revision
  }

  /// Adds what others have committed since.
  mutating func catchUp(_ loader: IndexLoader) throws(StoreError) {
    guard case .changed(let delta) = try loader.changes(after: read) else {
      // They were overwritten: every prefix counts as changed.
      let (revision, _) = try loader.revision()
      for prefix in prefixes.keys { prefixes[prefix] = revision }
      return
    }
    for entry in delta.entries { note(entry.key, entry.entry.revision) }
    read = delta.upTo
  }

  mutating func note(_ key: KeyName, _ revision: Revision) {
    for prefix in prefixes.keys where key.exact.hasPrefix(prefix) { prefixes[prefix] = revision }
  }

  func lastChange(under prefix: ExactString) -> Revision { prefixes[prefix] ?? 0 }
}
