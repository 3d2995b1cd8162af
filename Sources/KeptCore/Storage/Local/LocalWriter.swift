// A commit: check what it expects, write what really changes, count one revision, and sync if it must be durable.

/// The writing half of a LocalStorage.
///
/// Not thread-safe.
final class LocalWriter {
  private let connection: SQLiteConnection
  private let reader: LocalReader
  private let pruning: TombstonePruning

  init(_ connection: SQLiteConnection, pruning: TombstonePruning) {
    self.connection = connection
    self.reader = LocalReader(connection)
    self.pruning = pruning
  }

  /// A durable commit is a shared one and a sync of the log: then it is on the disk with all that came before it.
  func commit(_ batch: Batch) throws(StoreError) -> Commit {
    let commit = try connection.write { () throws(StoreError) in try apply(batch) }
    if batch.durability == .durable { try sync() }
    return commit
  }

  func sync() throws(StoreError) { try connection.syncLog() }

  private func apply(_ batch: Batch) throws(StoreError) -> Commit {
    for condition in batch.conditions { try check(condition) }
    let current = try reader.revision()
    let changes = try changes(by: batch)
    guard !changes.isEmpty else { return Commit(revision: current, changes: []) }
    for change in changes { try store(change, revision: current + 1) }
    try count(current + 1)
    if changes.contains(where: { $0.new == nil }) { try pruning.prune(connection, at: current + 1) }
    return Commit(revision: current + 1, changes: changes)
  }

  private func check(_ condition: Condition) throws(StoreError) {
    switch condition {
    case .revision(let key, let expected):
      let entry = try reader.entry(for: key)
      try Condition.check(key, expected: expected, found: entry?.value == nil ? 0 : entry?.revision ?? 0)
    case .unchanged(let key, let base):
      let entry = try reader.entry(for: key)
      let found = if let entry { entry.revision } else { try forgotten() }
      try Condition.check(key, unchangedAfter: base, found: found)
    case .unchangedPrefix(let prefix, let base):
      try Condition.check(
        prefix, unchangedAfter: base, found: max(try reader.newestRevision(prefix: prefix), try forgotten()))
    }
  }

  /// The newest revision in which a key that left no trace may have been removed.
  private func forgotten() throws(StoreError) -> Revision { try reader.floor() }

  /// What the batch changes; edits that leave a key as it is are left out.
  private func changes(by batch: Batch) throws(StoreError) -> [Change] {
    var changes: [Change] = []
    for (key, edit) in batch.edits.sorted(by: { $0.key < $1.key }) {
      let old = try reader.entry(for: key)?.value
      if edit.value != old { changes.append(Change(key: key, old: old, new: edit.value)) }
    }
    return changes
  }

  private func store(_ change: Change, revision: Revision) throws(StoreError) {
    let row = try connection.statement(
      """
      INSERT INTO entry (key, kind, value, revision) VALUES (?1, ?2, ?3, ?4)
      ON CONFLICT (key) DO UPDATE SET kind = ?2, value = ?3, revision = ?4
      """)
    do {
      try row.bind(1, text: change.key.exact)
      try row.bind(2, change.new.map(StoredValue.value) ?? .removed(at: pruning.now()))
      try row.bind(4, Int64(clamping: revision))
      try row.finish()
    } catch {
      throw error.about(change.key.text)
    }
  }

  private func count(_ revision: Revision) throws(StoreError) {
    let row = try connection.statement("UPDATE store SET revision = ?1")
    try row.bind(1, Int64(clamping: revision))
    try row.finish()
  }
}
