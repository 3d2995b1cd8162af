// A group of batches as one SQLite transaction: check the conditions of each, write what changes, use one revision for
// each batch, and move the pulse before and after the transaction becomes visible.

/// The transactions of a ``GroupWriter``.
///
/// Not thread-safe.
final class LocalWriter: ConnectionOwner {
  let connection: SQLiteConnection
  private let reader: LocalReader
  private let pulse: Pulse
  private let loader: IndexLoader
  private let limit: LogLimit
  private let eraser: SecretEraser
  /// Receives commits while they become visible.
  private let commitObserver: (any CommitObserver)?
  // The state of the database after the last commit here: while the version is the same, no other connection has
  // written.
  private var last: (version: UInt32, revision: Revision)?

  init(
    _ connection: SQLiteConnection, _ pulse: Pulse, _ loader: IndexLoader, limit: LogLimit,
    eraser: SecretEraser, commitObserver: (any CommitObserver)?
  ) throws(StoreError) {
    self.connection = connection
    self.commitObserver = commitObserver
    self.loader = loader
    self.reader = LocalReader(connection)
    self.pulse = pulse
    self.limit = limit
    self.eraser = eraser
    try connection.run("PRAGMA synchronous = NORMAL")
  }

  /// The result of a group.
  struct Outcome {
    /// One for each batch, in their order.
    var results: [Result<Commit, StoreError>]
    /// The revision on which the group was based, and the number of the pulse while it became visible; nil if nothing
    /// changed, or if another writer has moved the pulse since.
    var visible: (start: Revision, pulse: UInt64)?
  }

  /// Commits a group.
  ///
  /// A batch whose conditions do not hold fails alone. All fail with `busy` if others hold the write lock for that
  /// long.
  func commit(_ group: [Batch], waiting milliseconds: Int) -> Outcome {
    connection.setPatience(milliseconds: milliseconds)
    do throws(StoreError) {
      return try commitTogether(group, until: MonotonicTime.milliseconds + Int64(milliseconds))
    } catch {
      // Busy is not caused by a single batch, and separate retries would wait for one time-out each.
      guard group.count > 1, error.code != .busy else { return Outcome(results: group.map { _ in .failure(error) }) }
      // The cause is one of the batches, or the disk: each batch is retried alone to find its own failure.
      return Outcome(results: group.map { commit([$0], waiting: milliseconds).results[0] })
    }
  }

  private func commitTogether(_ group: [Batch], until deadline: Int64) throws(StoreError) -> Outcome {
    try connection.begin()
    do throws(StoreError) {
      var start = try startingRevision()
      var conditionLog = ConditionLog(of: group)
      for _ in 0..<Self.mostPreparations {
        guard let known = conditionLog?.end, known < start, start - known > Self.fewRevisions else { break }
        // Reading the log takes time: release the lock so that others need not wait.
        connection.rollBack()
        try reader.atOneMoment { () throws(StoreError) in try conditionLog?.read(reader.log) }
        connection.setPatience(milliseconds: Int(max(0, deadline - MonotonicTime.milliseconds)))
        try connection.begin()
        start = try startingRevision()
      }
      var progress = Progress(start: start, revision: start, conditionLog: conditionLog)
      let results = try group.map { batch throws(StoreError) in try apply(batch, of: group.count, &progress) }
      guard progress.revision > start || progress.hasNewVersion else {
        connection.rollBack()
        return Outcome(results: results)
      }
      try limit.cutOff(connection, from: start, to: progress.revision)
      let own = try publish(group, results, after: start)
      last = (connection.dataVersion, progress.revision)
      return Outcome(results: results, visible: own.map { (start, $0) })
    } catch {
      connection.rollBack()
      throw error
    }
  }

  /// Makes the pulse even again after a killed writer has left it odd; under the write lock no commit is running.
  ///
  /// It does not wait: while another connection holds the write lock there is nothing to repair.
  func settlePulse() throws(StoreError) {
    connection.setPatience(milliseconds: 0)
    try connection.begin()
    defer { connection.rollBack() }
    if pulse.generation % 2 == 1 { pulse.endCommit(pulse.beginCommit()) }
  }

  private static let purpose = "commit the changes"

  /// The number of revisions that are read under the write lock.
  private static let fewRevisions: Revision = 64
  /// How often the log is read without the lock; if others write faster than that, the rest is read under the lock.
  private static let mostPreparations = 4

  /// The progress of a group.
  private struct Progress {
    let start: Revision
    var revision: Revision
    /// What the conditions of the group depend on, if anything.
    var conditionLog: ConditionLog?
    /// What the previous batches have written.
    var written: [KeyName: Entry] = [:]
    /// Whether a batch has changed the schema version, which creates no revision.
    var hasNewVersion = false
  }

  private func startingRevision() throws(StoreError) -> Revision {
    if let last, last.version != 0, last.version == connection.dataVersion { return last.revision }
    return try reader.revision()
  }

  /// Makes the transaction visible, and passes its commits and the preceding ones of others to the commit observer.
  private func publish(
    _ group: [Batch], _ results: [Result<Commit, StoreError>], after start: Revision
  ) throws(StoreError) -> UInt64? {
    guard let commitObserver else { return try makeVisible() }
    var own: UInt64?
    try commitObserver.publish { delivered throws(StoreError) in
      guard let delivered else {
        own = try makeVisible()
        return Publication(commits: [])
      }
      let commits = zip(results, group).compactMap { result, batch in (try? result.get()).map { ($0, by: batch.author) }
      }
      .filter { !$0.0.changes.isEmpty }
      let preceding = delivered == start ? nil : try others(after: delivered, upTo: start, before: commits.map(\.0))
      own = try makeVisible()
      return Publication(preceding: preceding, commits: commits)
    }
    return own
  }

  /// Returns what others have committed, as it was before the commits of this transaction.
  private func others(
    after delivered: Revision, upTo start: Revision, before commits: [Commit]
  ) throws(StoreError) -> ChangesAfter {
    guard delivered <= start, let keys = try reader.log.keys(after: delivered, upTo: start) else { return .tooOld }
    var overwritten: [KeyName: Entry] = [:]
    for change in commits.reversed().flatMap(\.changes) {
      overwritten[change.key] = change.old ?? Entry(value: nil, revision: 0)
    }
    return .changed(try reader.delta(keys, upTo: start) { overwritten[$0] })
  }

  /// Makes the transaction visible.
  ///
  /// The pulse is odd from before until after the commit, also if the commit fails.
  private func makeVisible() throws(StoreError) -> UInt64? {
    let own = pulse.beginCommit()
    do throws(StoreError) {
      try connection.commit()
    } catch {
      pulse.endCommit(own)
      throw error
    }
    return pulse.endCommit(own) ? own : nil
  }

  /// Applies one batch; a refusal is its result, and any other error fails the group.
  private func apply(
    _ batch: Batch, of group: Int, _ progress: inout Progress
  ) throws(StoreError) -> Result<Commit, StoreError> {
    let changes: [StoredChange]
    do throws(StoreError) {
      for condition in batch.conditions { try check(condition, &progress) }
      changes = try self.changes(by: batch, progress)
    } catch {
      guard error.isRefusal else { throw error }
      return .failure(error)
    }
    if !changes.isEmpty {
      progress.revision += 1
      if changes.contains(where: \.leavesSecret) {
        // Until the whole database is rewritten, at least the current copy is erased.
        try connection.run("PRAGMA secure_delete = ON")
        eraser.note()
      }
      try store(changes)
      // A batch has one edit for each key, so only another batch of the group can read this.
      if group > 1 { for change in changes { progress.written[change.key] = change.new } }
      try reader.log.append(changes, at: progress.revision, tag: batch.author.tag)
    }
    if let version = batch.schemaVersion, try reader.schemaVersion() != version {
      try LocalSchema.write(schemaVersion: version, connection)
      progress.hasNewVersion = true
    }
    return .success(Commit(revision: progress.revision, changes: changes))
  }

  private func check(_ condition: Condition, _ progress: inout Progress) throws(StoreError) {
    switch condition {
    case .revision(let key, let expected):
      try Condition.check(key, expected: expected, found: try reader.row(for: key)?.revision ?? 0)
    case .unchanged(let key, let base):
      guard let conditionLog = try log(after: base, &progress) else { return }
      try Condition.check(key, unchangedAfter: base, found: conditionLog.lastChange(of: key, after: base))
    case .unchangedPrefix(let prefix, let base):
      guard let conditionLog = try log(after: base, &progress) else { return }
      try Condition.check(prefix, unchangedAfter: base, found: conditionLog.lastChange(under: prefix, after: base))
    case .schemaVersion(let expected):
      try Condition.check(schemaVersion: expected, found: try reader.schemaVersion())
    }
  }

  /// Returns the log up to the current revision; nil if nothing has happened after `base`.
  private func log(after base: Revision, _ progress: inout Progress) throws(StoreError) -> ConditionLog? {
    guard progress.revision > base else { return nil }
    // The log includes the previous batches of the group.
    if progress.conditionLog?.end ?? base < progress.revision { try progress.conditionLog?.read(reader.log) }
    return progress.conditionLog
  }

  /// Returns what the batch changes, without edits that leave a key as it is.
  private func changes(by batch: Batch, _ progress: Progress) throws(StoreError) -> [StoredChange] {
    try Allowance.ask(forEntries: batch.edits.count + batch.declarations.count, to: Self.purpose)
    let keys = batch.keys
    var allowance: Allowance? = keys.count > 1 ? Allowance() : nil
    let known = loader.known(keys, at: progress.start)
    var changes: [StoredChange] = []
    changes.reserveCapacity(keys.count)
    for (index, key) in keys.enumerated() {
      let (old, damage) = try old(key, known.isEmpty ? nil : known[index], progress, &allowance)
      let edit = batch.edits[key]
      // Declaring a key with an unreadable value would make it look absent.
      if let damage, edit == nil { throw damage }
      if let change = try batch.change(of: key, by: edit, from: old, at: progress.revision + 1) {
        changes.append(change)
      } else if damage != nil {
        // Any write replaces an unreadable value: this is how a damaged row is repaired.
        let gone = Entry(value: nil, revision: progress.revision + 1, declaration: old?.declaration)
        changes.append(StoredChange(key: key, old: old, new: gone))
      }
    }
    return changes
  }

  /// Returns the state before the batch: from the group itself, from the index, or from the database.
  private func old(
    _ key: KeyName, _ known: IndexedEntry?, _ progress: Progress, _ allowance: inout Allowance?
  ) throws(StoreError) -> (entry: Entry?, damage: StoreError?) {
    if let written = progress.written[key] { return (written, nil) }
    if let known { return (known.entry, nil) }
    guard let row = try reader.row(for: key, &allowance) else { return (nil, nil) }
    switch row.value {
    case .success: return (try row.entry(), nil)
    case .failure(let damage):
      return (Entry(value: nil, revision: row.revision, declaration: row.declaration), damage)
    }
  }

  private func store(_ changes: [StoredChange]) throws(StoreError) {
    guard changes.count > 1 else { return try store(changes[0]) }
    // SQLite may use all the memory that there is, and continues without it.
    var allowance = Allowance()
    for change in changes {
      try store(change)
      try allowance.take(change.new.value?.bytes ?? 0, to: Self.purpose)
    }
    // Once the transaction is visible, nothing after it may fail.
    try Allowance.ask(forEntries: changes.count, to: Self.purpose)
  }

  private func store(_ change: StoredChange) throws(StoreError) {
    do throws(StoreError) {
      if change.new.declaration != change.old?.declaration { try declare(change.key, change.new.declaration) }
      guard change.isOfValue else { return }
      if let value = change.new.value {
        try put(value, change.key, change.new.revision, isThere: change.old?.value != nil)
      } else {
        try delete(change.key)
      }
    } catch {
      throw error.about(change.key.text)
    }
  }

  private func declare(_ key: KeyName, _ declaration: Declaration?) throws(StoreError) {
    guard let declaration else {
      let row = try connection.statement("DELETE FROM declaration WHERE key = ?1")
      try row.bind(1, text: key.exact)
      return try row.finish()
    }
    let row = try connection.statement("INSERT OR REPLACE INTO declaration (key, schema) VALUES (?1, ?2)")
    try row.bind(1, text: key.exact)
    try row.bind(2, text: ExactString(declaration.json))
    try row.finish()
  }

  /// Writes a value: an update finds the row once, an upsert twice, and a REPLACE writes a tenth more pages.
  private func put(_ value: Value, _ key: KeyName, _ revision: Revision, isThere: Bool) throws(StoreError) {
    if isThere {
      try put(value, key, revision, "UPDATE entry SET kind = ?2, value = ?3, revision = ?4 WHERE key = ?1")
      if connection.changedRows > 0 { return }
    }
    try put(
      value, key, revision,
      """
      INSERT INTO entry (key, kind, value, revision) VALUES (?1, ?2, ?3, ?4)
      ON CONFLICT (key) DO UPDATE SET kind = ?2, value = ?3, revision = ?4
      """)
  }

  private func put(
    _ value: Value, _ key: KeyName, _ revision: Revision, _ sql: StaticString
  ) throws(StoreError) {
    let row = try connection.statement(sql)
    try row.bind(4, Int64(clamping: revision))
    try key.exact.withBytes { key throws(StoreError) in
      try row.bind(1, lentText: key)
      try row.finish(2, lentKindAnd: value)
    }
  }

  private func delete(_ key: KeyName) throws(StoreError) {
    let row = try connection.statement("DELETE FROM entry WHERE key = ?1")
    try row.bind(1, text: key.exact)
    try row.finish()
  }
}
