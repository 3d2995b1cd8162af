// The reads of a storage's contract, from a chain.

import KeptEngine
import KeptSchema
import KeptValues

extension Chain {
  func entry(for key: KeyName) throws(StoreError) -> Entry? { Entry(try state(of: key)) }

  func keys(prefix: ExactString) throws(StoreError) -> [KeyName] {
    var keys: [KeyName] = []
    try forEachName(below: prefix) { key, hasValue in if hasValue { keys.append(key) } }
    return keys
  }

  /// Calls `body` with each key that begins with a text, in order, and with whether it has a value.
  ///
  /// A key whose value cannot be read has one. A key that has none may have been removed.
  func forEachName(below prefix: ExactString, _ body: (KeyName, Bool) -> Void) throws(StoreError) {
    func take(_ key: UnsafeRawBufferPointer, _ value: StoredValue) throws(StoreError) -> Bool {
      guard let name = key.keyName else { return false }
      body(name, true)
      return true
    }
    try forEachState(below: prefix, opens: false, take: take) { key, state throws(StoreError) in
      if case .success(let state) = state { body(key, state.value != nil) } else { body(key, true) }
    }
  }

  /// What is known of a key that cannot be read.
  func unreadable(_ key: KeyName, _ reason: StoreError) throws(StoreError) -> UnreadableEntry {
    let rest = try readable(key)
    return UnreadableEntry(
      key: key, reason: reason, revision: rest?.revision ?? 0, declaration: rest?.declaration.map { .stored($0) })
  }

  func entries(in scopes: [Scope]) throws(StoreError) -> StoredEntries {
    var (found, seen): (StoredEntries, Set<KeyName>) = (StoredEntries(entries: [], revision: revision), [])
    func add(_ key: KeyName, _ state: Result<KeyState, StoreError>) throws(StoreError) {
      // Scopes may overlap.
      guard scopes.count == 1 || seen.insert(key).inserted else { return }
      switch state {
      case .success(let state):
        if let entry = Entry(state) { found.entries.append(KeyedEntry(key: key, entry: entry)) }
      case .failure(let error):
        found.unreadable.append(try unreadable(key, error))
      }
    }
    for scope in scopes {
      switch scope {
      case .key(let key): try add(key, try stateOrDamage(of: key))
      case .prefix(let prefix):
        try forEachState(below: prefix) { key, state throws(StoreError) in try add(key, state) }
      }
    }
    return found
  }

  func declarations(prefix: ExactString) throws(StoreError) -> [(key: KeyName, declaration: Declaration)] {
    var found: [(key: KeyName, declaration: Declaration)] = []
    try forEachState(below: prefix) { key, state throws(StoreError) in
      let known = if case .success(let state) = state { state } else { try readable(key) }
      if let text = known?.declaration { found.append((key, .stored(text))) }
    }
    return found
  }

  /// The state of a key without its value, which cannot be read; nil if the rest cannot be read either.
  private func readable(_ key: KeyName) throws(StoreError) -> KeyState? {
    do throws(StoreError) { return try state(of: key, ignoresValue: true) } catch {
      guard error.code == .corrupt else { throw error }
      return nil
    }
  }

  /// What is known of a key, and whether it has a value, which may be one that cannot be read.
  func knownEntry(of key: KeyName) throws(StoreError) -> (entry: Entry?, hasValue: Bool) {
    switch try stateOrDamage(of: key) {
    case .success(let state): (Entry(state), state.value != nil)
    case .failure: (try readable(key).flatMap { Entry($0) }, true)
    }
  }

  func delta(after revision: Revision) throws(StoreError) -> ChangesAfter {
    guard revision <= self.revision, let changes = try changes(after: revision) else { return .tooOld }
    let entries = changes.map { key, state in
      (state.changed, KeyedEntry(key: key, entry: Entry(state) ?? Entry(value: nil, revision: state.revision)))
    }
    let commits = heads(after: revision)
    var delta = Delta(
      entries.inOrder(of: \.0, then: \.1.key.exact).map(\.1), upTo: self.revision,
      tag: commits?.first.flatMap { first in commits?.allSatisfy { $0.tag == first.tag } == true ? first.tag : nil },
      time: commits?.last.map { Timestamp(nanosecondsSince1970: $0.time) })
    delta.mayHaveMissed = commits == nil
    return .changed(delta)
  }

  /// Throws `conflict` if a condition does not hold.
  func check(_ condition: Condition) throws(StoreError) {
    switch condition {
    case .revision(let key, let expected):
      try Condition.check(key, expected: expected, found: try revision(ofValue: key))
    case .unchanged(let key, let base):
      try Condition.check(key, unchangedAfter: base, found: try state(of: key, ignoresValue: true).changed)
    case .unchangedPrefix(let prefix, let base):
      try Condition.check(prefix, unchangedAfter: base, found: try lastChange(below: prefix, after: base))
    case .schemaVersion(let expected):
      try Condition.check(schemaVersion: expected, found: schemaVersion)
    }
  }

  /// Throws `conflict` if a condition of a batch does not hold.
  ///
  /// - Parameter changed: the keys that have changed since it has held; nil for all since its revision.
  func check(_ condition: Condition, of batch: Batch, changed: Set<KeyName>? = nil) throws(StoreError) {
    guard case .unchangedPrefix(let prefix, let base) = condition, let listed = batch.listed[prefix] else {
      return try check(condition)
    }
    let known = if let changed { changed } else { try keys(changedAfter: base) }
    let isSame =
      if let changed = known {
        try hasSameKeys(as: listed, below: prefix, among: changed)
      } else {
        try keys(prefix: prefix) == listed
      }
    if !isSame { try check(condition) }
  }

  private func hasSameKeys(
    as listed: [KeyName], below prefix: ExactString, among changed: Set<KeyName>
  ) throws(StoreError) -> Bool {
    for key in changed where key.exact.hasPrefix(prefix) {
      // One that cannot be read has a value.
      let hasValue = if case .success(let state) = try stateOrDamage(of: key) { state.value != nil } else { true }
      guard listed.hasInOrder(key) == hasValue else { return false }
    }
    return true
  }

  /// The revision of the value of a key, also if it cannot be read; 0 if there is none.
  private func revision(ofValue key: KeyName) throws(StoreError) -> Revision {
    do throws(StoreError) {
      let state = try state(of: key)
      return state.value == nil ? 0 : state.revision
    } catch {
      guard error.isOfValue else { throw error }
      return try state(of: key, ignoresValue: true).revision
    }
  }

  /// The note of a salvage that was not acknowledged.
  func salvageNote(in folder: String) -> SalvageNote? {
    guard !note.isEmpty else { return nil }
    guard case .dictionary(let members)? = try? Value(json: note), case .string(let place)? = members["quarantine"]
    else {
      return SalvageNote(quarantine: folder + "/quarantine", lostKeys: [])
    }
    var lost: [KeyName] = []
    if case .array(let keys)? = members["lost"] {
      for case .string(let text) in keys { if let key = try? KeyName(text) { lost.append(key) } }
    }
    return SalvageNote(quarantine: folder + "/" + place, lostKeys: lost)
  }
}

extension [KeyName] {
  /// Whether an array in byte order has a key.
  fileprivate func hasInOrder(_ key: KeyName) -> Bool {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if self[middle] < key { low = middle + 1 } else { high = middle }
    }
    return low < endIndex && self[low] == key
  }
}
