// A group of batches as one SQLite transaction: check what each expects, write what really changes, one revision for
// each batch, and the pulse moved around the moment when all of it becomes visible.

/// The writing half of a LocalStorage.
///
/// Not thread-safe.
final class LocalWriter {
  private let connection: SQLiteConnection
  private let reader: LocalReader
  private let pulse: Pulse
  private let limit: LogLimit

  init(_ connection: SQLiteConnection, _ pulse: Pulse, limit: LogLimit) {
    self.connection = connection
    self.reader = LocalReader(connection)
    self.pulse = pulse
    self.limit = limit
  }

  /// What came of a group.
  struct Outcome {
    /// One for each batch, in their order.
    var results: [Result<Commit, StoreError>]
    /// The number that the pulse had while the group became visible; nil: nothing changed, or others have moved on.
    var pulse: UInt64?
  }

  /// Commits a group.
  ///
  /// A batch whose conditions do not hold fails alone.
  func commit(_ group: [Batch]) -> Outcome {
    do throws(StoreError) {
      return try commitTogether(group)
    } catch {
      // Busy is nobody's own failure, and waiting again for each would take as many time-outs as there are batches.
      guard group.count > 1, error.code != .busy else { return Outcome(results: group.map { _ in .failure(error) }) }
      // One of them, or the disk: by itself each finds out what its own failure is.
      return Outcome(results: group.map { commit([$0]).results[0] })
    }
  }

  private func commitTogether(_ group: [Batch]) throws(StoreError) -> Outcome {
    try connection.begin()
    do throws(StoreError) {
      let start = try reader.revision()
      var revision = start
      var results: [Result<Commit, StoreError>] = []
      for batch in group { results.append(try apply(batch, &revision)) }
      guard revision > start else {
        connection.rollBack()
        return Outcome(results: results)
      }
      try limit.cutOff(connection, from: start, to: revision)
      return Outcome(results: results, pulse: try publish())
    } catch {
      connection.rollBack()
      throw error
    }
  }

  /// Makes the transaction visible.
  ///
  /// The pulse is odd from before until after, also if the commit fails.
  private func publish() throws(StoreError) -> UInt64? {
    let own = pulse.beginCommit()
    do throws(StoreError) {
      try connection.commit()
    } catch {
      pulse.endCommit(own)
      throw error
    }
    return pulse.endCommit(own) ? own : nil
  }

  /// Applies one batch; a conflict is its result, anything else fails the group.
  private func apply(_ batch: Batch, _ revision: inout Revision) throws(StoreError) -> Result<Commit, StoreError> {
    do throws(StoreError) {
      for condition in batch.conditions { try check(condition) }
    } catch {
      guard error.code == .conflict else { throw error }
      return .failure(error)
    }
    let changes = try changes(by: batch)
    if !changes.isEmpty {
      revision += 1
      for change in changes { try store(change, revision: revision) }
      try reader.log.append(changes, at: revision)
    }
    return .success(Commit(revision: revision, changes: changes))
  }

  private func check(_ condition: Condition) throws(StoreError) {
    switch condition {
    case .revision(let key, let expected):
      try Condition.check(key, expected: expected, found: try reader.row(for: key)?.revision ?? 0)
    case .unchanged(let key, let base):
      try Condition.check(key, unchangedAfter: base, found: try lastChange(after: base) { $0 == key })
    case .unchangedPrefix(let prefix, let base):
      try Condition.check(
        prefix, unchangedAfter: base, found: try lastChange(after: base) { $0.exact.hasPrefix(prefix) })
    }
  }

  /// The last revision after `base` that changed such a key; 0 for none.
  ///
  /// What is forgotten counts as changed.
  private func lastChange(after base: Revision, _ concerns: (KeyName) -> Bool) throws(StoreError) -> Revision {
    guard try reader.revision() > base else { return 0 }
    guard let changed = try reader.log.keys(after: base, limit: .max) else { return try reader.log.floor() }
    return changed.filter { concerns($0.key) }.values.max() ?? 0
  }

  /// What the batch changes; edits that leave a key as it is are left out.
  private func changes(by batch: Batch) throws(StoreError) -> [Change] {
    var changes: [Change] = []
    for (key, edit) in batch.edits.count > 1 ? batch.edits.sorted(by: { $0.key < $1.key }) : Array(batch.edits) {
      let row = try reader.row(for: key)
      // A value that cannot be read is replaced by whatever is written: that is how a damaged row is mended.
      if case .failure = row?.value {
        changes.append(Change(key: key, old: nil, new: edit.value))
        continue
      }
      let old = try row?.value.get()
      if edit.value != old { changes.append(Change(key: key, old: old, new: edit.value)) }
    }
    return changes
  }

  private func store(_ change: Change, revision: Revision) throws(StoreError) {
    do throws(StoreError) {
      if let new = change.new { try put(new, change.key, revision) } else { try delete(change.key) }
    } catch {
      throw error.about(change.key.text)
    }
  }

  private func put(_ value: Value, _ key: KeyName, _ revision: Revision) throws(StoreError) {
    let row = try connection.statement(
      """
      INSERT INTO entry (key, kind, value, revision) VALUES (?1, ?2, ?3, ?4)
      ON CONFLICT (key) DO UPDATE SET kind = ?2, value = ?3, revision = ?4
      """)
    try row.bind(1, text: key.exact)
    try row.bind(2, kindAnd: value)
    try row.bind(4, Int64(clamping: revision))
    try row.finish()
  }

  private func delete(_ key: KeyName) throws(StoreError) {
    let row = try connection.statement("DELETE FROM entry WHERE key = ?1")
    try row.bind(1, text: key.exact)
    try row.finish()
  }
}
