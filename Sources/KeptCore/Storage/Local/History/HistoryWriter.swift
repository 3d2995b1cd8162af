// The table `history`, which settling writes: what each change replaced.
//
// A row has in `changes` the values that some changes have replaced, in the form that PastChanges.swift describes: a
// row for each change would cost more than settling it. What a change made of its key is in the next change of the key,
// or in `entry`, and is not stored twice. Rows are only appended, in the order of settling. The `id` is the number of
// changes up to and with the row, `bytes` the number of their bytes, since the history began; `revision` and `time` are
// the highest in the row.
//
// The row with the id 0 has no changes: its `revision` is the one after which nothing is missing, its `bytes` are those
// up to which the limits were applied, and its `changes` are the limits that were set, as JSON.

import KeptValues

/// Adds the settled frames to the history; it belongs to a write transaction.
struct HistoryWriter {
  private let connection: SQLiteConnection
  private let limits: HistoryLimits
  private let changes: PastChanges
  private let settled: Revision
  /// Whether the table is there.
  private var isThere: Bool
  // The id and the bytes of the last row.
  private var last: Int64 = 0
  private var bytes: Int64 = 0
  private let first: Int64
  /// The bytes up to which the limits were applied.
  private let prunedBytes: Int64
  private var hasDeclarations: Bool
  // The keys that have been declared secret.
  private var secrets: Set<ExactString> = []

  /// Larger values are not kept.
  private static let mostBytes = 65_536
  /// A row is written when it has so many bytes.
  private static let rowBytes = 65_536
  /// How many changes are added before those beyond the limits are looked for.
  private static let changesBetweenPrunings: Int64 = 8192

  /// Begins to add to the history of a store; nil if it keeps none.
  ///
  /// - Parameters:
  ///   - changes: what collects the changes.
  ///   - settled: the revision before the first change that is added.
  init?(_ connection: SQLiteConnection, _ changes: PastChanges, after settled: Revision) throws(StoreError) {
    let rows = try connection.statement(
      ifThere: """
        SELECT changes, bytes, (SELECT max(id) FROM history), (SELECT bytes FROM history ORDER BY id DESC LIMIT 1)
        FROM history WHERE id = 0
        """)
    let found = try rows?.first {
      (HistoryLimits(stored: rows?.string(0)), rows?.integer(1) ?? 0, rows?.integer(2) ?? 0, rows?.integer(3) ?? 0)
    }
    limits = found?.0 ?? HistoryLimits()
    guard limits.isOn else { return nil }
    isThere = found != nil
    (_, prunedBytes, last, bytes) = found ?? (limits, 0, 0, 0)
    first = last
    (self.connection, self.changes, self.settled) = (connection, changes, settled)
    hasDeclarations = try connection.integer("SELECT EXISTS (SELECT 1 FROM declaration)") != 0
  }

  /// Begins the next change of a key.
  ///
  /// The statement that makes it calls `replaced`, or ``collect(_:)`` is called first.
  ///
  /// - Parameters:
  ///   - patch: the changes that fold into this one.
  ///   - large: the row of the table `large` that its value has now.
  /// - Returns: whether that row belongs to the history from now on.
  mutating func begin(_ key: KeyName, _ head: FrameHead, _ patch: KeyPatch, large: Int64?) throws(StoreError) -> Bool {
    try makeRoom()
    let isSecret = hasDeclarations ? try isSecret(key) : false
    try changes.begin(key, head, after: patch.first, isTorn: patch.isTorn, isSecret: isSecret)
    guard let large else { return false }
    if isSecret {
      changes.note(.secret)
      return false
    }
    let row = try connection.statement(
      """
      SELECT entry.kind, length(CAST(large.value AS BLOB)) FROM entry JOIN large ON large.id = entry.large
      WHERE entry.key = ?1
      """)
    try row.bind(1, text: key.exact)
    return try row.first { () throws(StoreError) in try note(large, row, kind: 0, bytes: 1) } ?? false
  }

  /// Adds the value that a key has, before a statement that does not call `replaced`.
  func collect(_ key: KeyName) throws(StoreError) {
    let row = try connection.statement("SELECT replaced(NULL, kind, value) FROM entry WHERE key = ?1")
    try row.finish(1, lent: key.exact)
  }

  private func note(_ large: Int64, _ row: SQLiteStatement, kind: Int32, bytes: Int32) throws(StoreError) -> Bool {
    let bytes = Int(clamping: row.integer(bytes))
    guard bytes <= Self.mostBytes else {
      changes.note(.tooLarge)
      return false
    }
    // The bytes of a row belong to SQLite; what throws is not the closure, which only lends them.
    try row.withBytes(kind) { kind throws(StoreError) in try changes.note(large: large, of: bytes, kind) }
    return true
  }

  private func isSecret(_ key: KeyName) throws(StoreError) -> Bool {
    let row = try connection.statement(
      "SELECT 1 FROM declaration WHERE key = ?1 AND instr(schema, '\"secret\":true')")
    try row.bind(1, text: key.exact)
    return try row.first {} != nil
  }

  /// Adds that the keys of a large commit are about to change; a commit of more than fit in begins the history anew.
  mutating func note(bulk bodies: StagedBody, _ head: FrameHead) throws(StoreError) {
    try makeRoom()
    let count = try connection.statement(
      "SELECT count(*) FROM body WHERE id = ?1 AND (kind IS NOT NULL OR value IS NOT NULL)")
    try count.bind(1, Int64(bitPattern: bodies))
    guard try count.first({ count.integer(0) }) ?? 0 <= Int64(limits.changes) else {
      changes.removeAll()
      return try HistoryTable(connection).forget(after: head.revision)
    }
    let rows = try connection.statement(
      """
      SELECT body.key, entry.kind, entry.value, entry.large,
        (SELECT length(CAST(value AS BLOB)) FROM large WHERE id = entry.large),
        EXISTS (SELECT 1 FROM declaration WHERE key = body.key AND instr(schema, '"secret":true'))
      FROM body LEFT JOIN entry ON entry.key = body.key
      WHERE body.id = ?1 AND (body.kind IS NOT NULL OR body.value IS NOT NULL)
      """)
    try rows.bind(1, Int64(bitPattern: bodies))
    var taken: [KeyName] = []
    try rows.each { () throws(StoreError) in
      guard let key = rows.string(0).flatMap({ try? KeyName($0) }) else { return }
      try makeRoom()
      let isSecret = rows.integer(5) != 0
      try changes.begin(key, head, after: head.revision, isTorn: false, isSecret: isSecret)
      if rows.isNull(1) { return }
      if rows.isNull(3) || isSecret { return try rows.note(kind: 1, value: 2, in: changes) }
      if try note(rows.integer(3), rows, kind: 1, bytes: 4) {
        try Memory.makeRoom(in: &taken, to: "add to the history")
        taken.append(key)
      }
    }
    // Values that belong to the history now are not deleted with the entries.
    for key in taken {
      let entry = try connection.statement("UPDATE entry SET large = NULL WHERE key = ?1")
      try entry.finish(1, lent: key.exact)
    }
  }

  /// Notes that a key has been declared: if it is secret, its values are forgotten.
  mutating func noteDeclaration(of key: KeyName) throws(StoreError) {
    hasDeclarations = true
    guard try isSecret(key) else { return }
    changes.hide()
    secrets.insert(key.exact)
  }

  /// Notes the declarations of a large commit.
  mutating func noteDeclarations(bulk bodies: StagedBody) throws(StoreError) {
    hasDeclarations = true
    let rows = try connection.statement("SELECT key FROM body WHERE id = ?1 AND instr(schema, '\"secret\":true')")
    try rows.bind(1, Int64(bitPattern: bodies))
    try rows.each { () throws(StoreError) in if let key = rows.string(0) { secrets.insert(ExactString(key)) } }
  }

  /// Writes the rest, and from time to time removes the changes beyond the limits.
  mutating func finish(at time: Int64) throws(StoreError) {
    try writeRow()
    guard isThere else { return }
    let table = HistoryTable(connection)
    if !secrets.isEmpty { try table.forgetValues(of: secrets) }
    guard last != first else { return }
    // A quarter of the bytes may come in between, so that each byte is looked at a few times only.
    let step = Self.changesBetweenPrunings
    var isDue = last / step != first / step || bytes &- prunedBytes > Int64(limits.bytes) / 4
    if !isDue { isDue = try table.isOlder(limits, at: time) }
    if isDue { try table.prune(to: limits, at: time) }
  }

  /// Makes the table with the first change, and writes a row when it is long.
  private mutating func makeRoom() throws(StoreError) {
    if changes.bytes.count >= Self.rowBytes { try writeRow() }
    guard !isThere else { return }
    try HistoryTable(connection).make(after: settled)
    isThere = true
  }

  private mutating func writeRow() throws(StoreError) {
    guard changes.count > 0 else { return }
    // Only another program writes such numbers.
    if last >= 1 << 60 || bytes >= 1 << 60 || bytes < 0 {
      try HistoryTable(connection).forget(after: settled)
      (last, bytes) = (0, 0)
    }
    let row = try connection.statement(
      "INSERT OR REPLACE INTO history (id, revision, time, bytes, changes) VALUES (?1, ?2, ?3, ?4, ?5)")
    (last, bytes) = (last &+ Int64(changes.count), bytes &+ Int64(changes.total))
    try row.bind(1, last)
    try row.bind(2, Int64(clamping: changes.revision))
    try row.bind(3, changes.time)
    try row.bind(4, bytes)
    try row.bind(5, lentBytes: changes.bytes.bindMemory(to: UInt8.self))
    try row.finish()
    changes.removeAll()
  }
}

extension SQLiteStatement {
  /// Notes what two columns of the row have.
  fileprivate func note(kind: Int32, value: Int32, in changes: PastChanges) throws(StoreError) {
    try changes.note(columnValue(kind), columnValue(value))
  }
}
