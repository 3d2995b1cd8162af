// The table `history` as a whole: how it is made, limited and forgotten. HistoryWriter.swift describes its rows.

/// The table `history` of a database, in a write transaction.
struct HistoryTable {
  private let connection: SQLiteConnection

  init(_ connection: SQLiteConnection) { self.connection = connection }

  /// Creates the table; changes up to a revision are not in it.
  func make(after revision: Revision) throws(StoreError) {
    try connection.run("\(SchemaPart.history.sql); PRAGMA user_version = \(LocalSchema.versionWithHistory)")
    let row = try connection.statement("INSERT INTO history (id, revision, time, key) VALUES (0, ?1, 0, '')")
    try row.bind(1, Int64(clamping: revision))
    try row.finish()
  }

  /// Sets the limits from now on.
  func set(_ limits: HistoryLimits, after revision: Revision, at time: Int64) throws(StoreError) {
    let known = try connection.statement(ifThere: "SELECT value FROM history WHERE id = 0")
    let before = HistoryLimits(stored: try known?.first { known?.string(0) } ?? nil)
    if known == nil { try make(after: revision) }
    let row = try connection.statement("UPDATE history SET value = ?1 WHERE id = 0")
    try row.bind(1, text: ExactString(limits.json))
    try row.finish()
    if limits.isOn, before.isOn { try prune(to: limits, at: time) } else { try forget(after: revision) }
  }

  /// Forgets all changes up to a revision, which is the store's.
  func forget(after revision: Revision) throws(StoreError) {
    for sql: StaticString in [
      "DELETE FROM large WHERE id IN (SELECT large FROM history WHERE large IS NOT NULL)",
      "DELETE FROM history WHERE id > 0",
    ] { try connection.statement(sql).finish() }
    try raiseStart(to: revision)
  }

  /// Forgets the values of a key, which is secret.
  func forgetValues(of key: KeyName) throws(StoreError) {
    for sql: StaticString in [
      "DELETE FROM large WHERE id IN (SELECT large FROM history WHERE key = ?1 AND large IS NOT NULL)",
      "UPDATE history SET kind = 'secret', value = NULL, large = NULL WHERE key = ?1 AND kind IS NOT NULL",
    ] {
      let statement = try connection.statement(sql)
      try statement.bind(1, text: key.exact)
      try statement.finish()
    }
  }

  /// Whether the oldest change is older than the limits allow.
  func isOlder(_ limits: HistoryLimits, at time: Int64) throws(StoreError) -> Bool {
    try connection.integer("SELECT ifnull((SELECT time FROM history WHERE id > 0 ORDER BY id LIMIT 1), 1 << 62)")
      < limits.oldest(at: time)
  }

  /// Forgets what is beyond the limits.
  func prune(to limits: HistoryLimits, at time: Int64) throws(StoreError) {
    let rows = try connection.statement(
      """
      SELECT id, key, time,
        length(key) + 32 + ifnull(length(value), 0)
          + iif(large IS NULL, 0, (SELECT length(value) FROM large WHERE id = history.large))
      FROM history WHERE id > 0 ORDER BY id DESC
      """)
    // By the hash of each key: how many newer changes there are.
    var newer: [UInt64: Int] = [:]
    var surplus: [(id: Int64, isLastKept: Bool)] = []
    let oldest = limits.oldest(at: time)
    var (count, bytes) = (0, 0)
    // The last row that is too old, and all before it.
    var end: Int64 = 0
    try rows.each { () throws(StoreError) in
      guard end == 0 else { return }
      (count, bytes) = (count + 1, bytes + Int(clamping: rows.integer(3)))
      if count > limits.changes || bytes > limits.bytes || rows.integer(2) < oldest { return end = rows.integer(0) }
      var before = 0
      rows.withBytes(1) { key in
        newer[Index.hash(key), default: 0] += 1
        before = (newer[Index.hash(key)] ?? 1) - 1
      }
      guard before >= limits.changesPerKey else { return }
      try Memory.makeRoom(in: &surplus, to: "limit the history")
      surplus.append((rows.integer(0), before == limits.changesPerKey))
    }
    if end > 0 { try forget(upTo: end) }
    if !surplus.isEmpty { try forget(surplus) }
  }

  private func forget(upTo end: Int64) throws(StoreError) {
    try run(
      """
      UPDATE history SET revision = max(revision, (SELECT max(revision) FROM history WHERE id BETWEEN 1 AND ?1))
      WHERE id = 0
      """, end)
    try run("DELETE FROM large WHERE id IN (SELECT large FROM history WHERE id BETWEEN 1 AND ?1)", end)
    try run("DELETE FROM history WHERE id BETWEEN 1 AND ?1", end)
  }

  /// Forgets changes of keys that have more than they may.
  ///
  /// Of a commit with other changes it must stay known that such a key was one of them.
  private func forget(_ surplus: [(id: Int64, isLastKept: Bool)]) throws(StoreError) {
    var sizes: [Int64: Int] = [:]
    let rows = try connection.statement("SELECT revision FROM history WHERE id > 0")
    try rows.each { sizes[rows.integer(0), default: 0] += 1 }
    for row in surplus {
      try run("DELETE FROM large WHERE id = (SELECT large FROM history WHERE id = ?1)", row.id)
      let commit = try connection.statement("SELECT revision FROM history WHERE id = ?1")
      try commit.bind(1, row.id)
      let revision = try commit.first { commit.integer(0) } ?? 0
      let mustStay = row.isLastKept || sizes[revision] ?? 0 > 1
      try run(
        mustStay
          ? "UPDATE history SET kind = 'forgotten', value = NULL, large = NULL WHERE id = ?1"
          : "DELETE FROM history WHERE id = ?1", row.id)
    }
  }

  private func raiseStart(to revision: Revision) throws(StoreError) {
    try run("UPDATE history SET revision = max(revision, ?1) WHERE id = 0", Int64(clamping: revision))
  }

  private func run(_ sql: StaticString, _ parameter: Int64) throws(StoreError) {
    let statement = try connection.statement(sql)
    try statement.bind(1, parameter)
    try statement.finish()
  }
}
