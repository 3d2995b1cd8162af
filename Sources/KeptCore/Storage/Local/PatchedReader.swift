// Reads the present state: the database, under the frames of the journal that are not in it yet.

import KeptSchema
import KeptValues

/// One state of a store, in a transaction of its reader.
struct PatchedReader {
  let reader: LocalReader
  let patches: JournalPatches
  /// The revision of this state.
  let revision: Revision
  let schemaVersion: UInt32

  private static let listing = "list the stored keys"

  /// Runs `body` with the state of a store that includes every commit from before the call.
  static func read<Result>(
    _ reader: LocalReader, _ journal: Journal, _ settler: Settler,
    _ body: (PatchedReader) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    var result: Result?
    // The part that does not depend on the result is compiled once.
    for _ in 0..<Journal.mostRestarts where result == nil {
      try visit(reader, journal, settler) { state throws(StoreError) in result = try body(state) }
    }
    guard let result else { throw journal.damagedPulse }
    return result
  }

  /// Runs `body` as `read` does, or does not, if it must be called again.
  @inline(never)
  private static func visit(
    _ reader: LocalReader, _ journal: Journal, _ settler: Settler, _ body: (PatchedReader) throws(StoreError) -> Void
  ) throws(StoreError) {
    var hasBulk = false
    // Before the transaction begins, so that it has the bodies that these frames name.
    let end = try journal.end()
    let isDone = try reader.inOneTransaction { () throws(StoreError) in
      let settled = try SettledPlace.read(reader.connection)
      try journal.check(settled: settled.place.position)
      var cursor = JournalCursor(at: settled.place, revision: settled.revision)
      var patches = JournalPatches()
      if cursor.place.position < end {
        // Another ring begins, or has begun since.
        guard let file = try journal.ring(), file.header.has(settled.place) else { return false }
        let outcome = try cursor.read(file, journal.words, upTo: end) { frame throws(StoreError) in
          try patches.add(frame)
        }
        hasBulk = patches.bulk != nil
        if outcome == .overtaken || hasBulk { return false }
        if outcome == .damaged { throw journal.damage }
      }
      try body(
        PatchedReader(
          reader: reader, patches: patches, revision: cursor.revision,
          schemaVersion: patches.schemaVersion ?? settled.schemaVersion))
      return true
    }
    if isDone { return }
    // Large commits are read from the database.
    if hasBulk { try settler.moveIntoDatabase() } else { try settler.settle() }
  }

  /// Reads a database without its journal.
  init(_ reader: LocalReader, _ patches: JournalPatches, _ settled: SettledPlace, revision: Revision) {
    self.init(
      reader: reader, patches: patches, revision: revision,
      schemaVersion: patches.schemaVersion ?? settled.schemaVersion)
  }

  private init(reader: LocalReader, patches: JournalPatches, revision: Revision, schemaVersion: UInt32) {
    (self.reader, self.patches, self.revision, self.schemaVersion) = (reader, patches, revision, schemaVersion)
  }

  func keys(prefix: ExactString) throws(StoreError) -> [KeyName] {
    let stored = try reader.keys(prefix: prefix)
    try Allowance.ask(forEntries: stored.count + patches.keys.count, to: Self.listing)
    let changed = patches.filter { $0.value.value != nil && $0.key.exact.hasPrefix(prefix) }
    guard !changed.isEmpty else { return stored }
    let added = changed.filter { if case .removed = $0.value.value?.new { false } else { true } }
    return (stored.filter { changed[$0] == nil } + added.keys).inOrder(of: \.exact)
  }

  func declarations(prefix: ExactString) throws(StoreError) -> [(key: KeyName, declaration: Declaration)] {
    let stored = try reader.declarations(prefix: prefix)
    try Allowance.ask(forEntries: stored.count + patches.keys.count, to: Self.listing)
    let changed = patches.filter { $0.value.declaration != nil && $0.key.exact.hasPrefix(prefix) }
    guard !changed.isEmpty else { return stored }
    var all = stored.filter { changed[$0.key] == nil }
    for (key, patch) in changed {
      if case .some(.some(let declaration)) = patch.declaration { all.append((key: key, declaration: declaration)) }
    }
    return all.inOrder(of: \.key.exact)
  }

  /// Returns the row of a key, and takes its size from the allowance of a caller that reads many keys.
  func row(for key: KeyName, _ allowance: inout Allowance?) throws(StoreError) -> LocalReader.Row? {
    try patched(key, reader.row(for: key, &allowance))
  }

  func entry(for key: KeyName) throws(StoreError) -> Entry? {
    guard let row = try patched(key, reader.row(for: key)) else { return nil }
    let entry = try row.entry()
    return entry.isThere ? entry : nil
  }

  func entries(in scopes: [Scope]) throws(StoreError) -> StoredEntries {
    var found = try reader.entries(in: scopes, at: revision)
    try Allowance.ask(forEntries: patches.keys.count, to: Self.listing)
    let changed = patches.filter { key, _ in scopes.contains { $0.contains(key) } }
    guard !changed.isEmpty else { return found }
    var allowance: Allowance? = Allowance()
    found.entries.removeAll { changed[$0.key] != nil }
    found.unreadable.removeAll { changed[$0.key] != nil }
    for key in changed.keys {
      guard let row = try row(for: key, &allowance) else { continue }
      found.add(key, row)
    }
    return found
  }

  /// Returns the last revision that changed a key under a prefix; a forgotten removal counts as a change.
  func lastChange(under prefix: ExactString) throws(StoreError) -> Revision {
    var last = try reader.lastChange(under: prefix)
    for (key, patch) in patches.keys where key.exact.hasPrefix(prefix) { last = max(last, patch.revision) }
    return last
  }

  /// Throws `conflict` if a condition of a commit does not hold.
  func check(_ condition: Condition) throws(StoreError) {
    switch condition {
    case .revision(let key, let expected):
      let entry = try entry(for: key)
      try Condition.check(key, expected: expected, found: entry?.value == nil ? 0 : entry?.revision ?? 0)
    case .unchanged(let key, let base):
      var none: Allowance?
      let (row, _, floor) = try reader.rowAndPlace(for: key, &none)
      try Condition.check(key, unchangedAfter: base, found: patched(key, row)?.changed ?? floor)
    case .unchangedPrefix(let prefix, let base):
      try Condition.check(prefix, unchangedAfter: base, found: lastChange(under: prefix))
    case .schemaVersion(let expected):
      try Condition.check(schemaVersion: expected, found: schemaVersion)
    }
  }

  private func patched(_ key: KeyName, _ row: LocalReader.Row?) throws(StoreError) -> LocalReader.Row? {
    guard let patch = patches[key] else { return row }
    var row = row ?? LocalReader.Row(value: .success(nil), revision: 0)
    if let value = patch.value {
      row.revision = value.revision
      switch value.new {
      case .removed: row.value = .success(nil)
      case .inline(let new): row.value = .success(new)
      // In this transaction the frame is not settled, so the body is there.
      case .staged(let body):
        row.value = try reader.body(body, of: key).map { .success($0) } ?? .failure(.missingBody(of: key))
      }
    }
    if let declaration = patch.declaration { row.declaration = declaration }
    row.changed = patch.revision
    return row
  }
}
