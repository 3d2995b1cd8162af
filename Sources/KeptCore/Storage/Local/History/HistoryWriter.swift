// The table `history`, which settling writes: what each change replaced.
//
// A row has the revision, the time (milliseconds since 1970) and the tag of a commit, a key of it, and in `kind`,
// `value` and `large` the value that the key had before, as in the table `entry`. So what the change made of it is in
// the next row of the key, or in `entry`, and is not stored twice. There is no kind if the key had no value. Three
// kinds have no value: 'secret', 'large' (too large to be kept) and 'forgotten' (to make room). Rows are only appended,
// in the order of settling; the rows of a key are in the order of its revisions.
//
// The row with the id 0 is not a change: its `revision` is the one after which no row is missing, and its `value` has
// the limits that were set, as JSON.

/// Adds what is settled to the history; it belongs to a write transaction.
struct HistoryWriter {
  private let connection: SQLiteConnection
  private let limits: HistoryLimits
  /// The last id before this transaction; nil if there is no table yet.
  private var last: Int64?
  private let settled: Revision
  private var hasDeclarations: Bool
  private var isUsed = false
  private var takenBytes: Int64 = 0

  /// Larger values are not kept.
  private static let mostBytes: Int64 = 65_536
  /// How many rows are added before those beyond the limits are looked for.
  private static let rowsBetweenPrunings: Int64 = 8192

  /// Begins to add to the history of a store; nil if it keeps none.
  ///
  /// - Parameter settled: the revision before the first change that is added.
  init?(_ connection: SQLiteConnection, after settled: Revision) throws(StoreError) {
    let rows = try connection.statement(
      ifThere: "SELECT value, (SELECT max(id) FROM history) FROM history WHERE id = 0")
    let found = try rows?.first { (HistoryLimits(stored: rows?.string(0)), rows?.integer(1) ?? 0) }
    limits = found?.0 ?? HistoryLimits()
    guard limits.isOn else { return nil }
    last = found?.1
    (self.connection, self.settled) = (connection, settled)
    hasDeclarations = try connection.integer("SELECT EXISTS (SELECT 1 FROM declaration)") != 0
  }

  /// Adds that a key is about to change.
  ///
  /// - Parameter large: the row of the table `large` that its value has now.
  /// - Returns: whether that row belongs to the history from now on.
  mutating func note(_ key: KeyName, _ head: FrameHead, large: Int64?) throws(StoreError) -> Bool {
    try makeTable()
    let kind = try reasonNotToKeep(key, large)
    // Most keys have a value; an outer join would double the work.
    let row = try connection.statement(
      kind == nil
        ? """
        INSERT INTO history (revision, time, tag, key, kind, value, large)
        SELECT ?1, ?2, ?3, key, kind, value, large FROM entry WHERE key = ?4
        """
        : """
        INSERT INTO history (revision, time, tag, key, kind) SELECT ?1, ?2, ?3, key, ?5 FROM entry WHERE key = ?4
        """)
    try row.bind(head)
    if let kind { try row.bind(5, constant: kind) }
    try row.finish(4, lent: key.exact)
    if connection.changedRows == 0 {
      let first = try connection.statement("INSERT INTO history (revision, time, tag, key) VALUES (?1, ?2, ?3, ?4)")
      try first.bind(head)
      try first.finish(4, lent: key.exact)
    }
    return large != nil && kind == nil
  }

  private mutating func reasonNotToKeep(_ key: KeyName, _ large: Int64?) throws(StoreError) -> StaticString? {
    if hasDeclarations, try isSecret(key) { return "secret" }
    guard let large else { return nil }
    let row = try connection.statement("SELECT length(value) FROM large WHERE id = ?1")
    try row.bind(1, large)
    let bytes = try row.first { row.integer(0) } ?? 0
    if bytes > Self.mostBytes { return "large" }
    takenBytes += bytes
    return nil
  }

  private func isSecret(_ key: KeyName) throws(StoreError) -> Bool {
    let row = try connection.statement(
      "SELECT 1 FROM declaration WHERE key = ?1 AND instr(schema, '\"secret\":true')")
    try row.bind(1, text: key.exact)
    return try row.first {} != nil
  }

  /// Adds that the keys of a large commit are about to change; a commit of more than fit in begins the history anew.
  mutating func note(bulk bodies: StagedBody, _ head: FrameHead) throws(StoreError) {
    try makeTable()
    let count = try connection.statement(
      "SELECT count(*) FROM body WHERE id = ?1 AND (kind IS NOT NULL OR value IS NOT NULL)")
    try count.bind(1, Int64(bitPattern: bodies))
    guard try count.first({ count.integer(0) }) ?? 0 <= Int64(limits.changes) else {
      return try HistoryTable(connection).forget(after: head.revision)
    }
    let rows = try connection.statement(
      """
      INSERT INTO history (revision, time, tag, key, kind, value, large)
      SELECT ?1, ?2, ?3, key, kind, iif(kind IN ('secret', 'large'), NULL, value),
        iif(kind IN ('secret', 'large'), NULL, large)
      FROM (
        SELECT body.key AS key, entry.value AS value, entry.large AS large,
          CASE
            WHEN entry.kind IS NULL THEN NULL
            WHEN EXISTS (SELECT 1 FROM declaration WHERE key = body.key AND instr(schema, '"secret":true'))
              THEN 'secret'
            WHEN (SELECT length(value) FROM large WHERE id = entry.large) > ?5 THEN 'large'
            ELSE entry.kind
          END AS kind
        FROM body LEFT JOIN entry ON entry.key = body.key
        WHERE body.id = ?4 AND (body.kind IS NOT NULL OR body.value IS NOT NULL))
      """)
    try rows.bind(head)
    try rows.bind(4, Int64(bitPattern: bodies))
    try rows.bind(5, Self.mostBytes)
    try rows.finish()
    // What belongs to the history now is not deleted with the entries.
    let taken = try connection.statement(
      """
      UPDATE entry SET large = NULL WHERE large IS NOT NULL
        AND key IN (SELECT key FROM history WHERE revision = ?1 AND large IS NOT NULL)
      """)
    try taken.bind(1, Int64(clamping: head.revision))
    try taken.finish()
    if connection.changedRows > 0 { takenBytes = Int64(limits.bytes) }
  }

  /// Forgets the values of keys that have been declared secret.
  mutating func noteDeclaration(of key: KeyName) throws(StoreError) {
    hasDeclarations = true
    guard last != nil, try isSecret(key) else { return }
    try HistoryTable(connection).forgetValues(of: key)
  }

  /// Forgets the values of keys that a large commit has declared secret.
  mutating func noteDeclarations(bulk bodies: StagedBody) throws(StoreError) {
    hasDeclarations = true
    guard last != nil else { return }
    let rows = try connection.statement("SELECT key FROM body WHERE id = ?1 AND instr(schema, '\"secret\":true')")
    try rows.bind(1, Int64(bitPattern: bodies))
    let keys = try rows.all { rows.string(0).flatMap { try? KeyName($0) } }
    for key in keys { try HistoryTable(connection).forgetValues(of: key) }
  }

  /// Forgets what is beyond the limits, now and then.
  func finish(at time: Int64) throws(StoreError) {
    guard isUsed, let last else { return }
    let table = HistoryTable(connection)
    let now = try connection.integer("SELECT max(id) FROM history")
    let step = Self.rowsBetweenPrunings
    // No process counts all bytes: on average an eighth of the limit is added in between.
    var isDue = now / step != last / step || .random(in: 0...Int64(limits.bytes) / 8) < takenBytes
    if !isDue { isDue = try table.isOlder(limits, at: time) }
    if isDue { try table.prune(to: limits, at: time) }
  }

  /// Makes the table with the first change.
  private mutating func makeTable() throws(StoreError) {
    isUsed = true
    guard last == nil else { return }
    try HistoryTable(connection).make(after: settled)
    last = 0
  }
}

extension SQLiteStatement {
  /// Binds the revision, the time and the tag of a commit to the first three parameters.
  fileprivate func bind(_ head: FrameHead) throws(StoreError) {
    try bind(1, Int64(clamping: head.revision))
    try bind(2, head.time / 1_000_000)
    if let tag = head.tag { try bind(3, text: ExactString(tag)) } else { try bindNull(3) }
  }
}
