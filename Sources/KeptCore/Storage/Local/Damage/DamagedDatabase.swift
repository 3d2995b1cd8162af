// What is still readable in a damaged database: rows from both ends of it, and of every range between damaged pages,
// and each key that its log of commits names.

/// A damaged database, which is read and never written.
///
/// It is read in place, because its log counts; SQLite writes only its own `-shm`. Damage is skipped. Any other failure
/// is thrown, be it of memory, of the disk, or because another program has the database open: it proves nothing about
/// the content.
final class DamagedDatabase {
  private let connection: SQLiteConnection
  /// The highest revision found anywhere in it.
  private(set) var highestRevision: Revision = 0

  init(of folder: StoreFolder, busyTimeoutMilliseconds: Int) throws(StoreError) {
    connection = try SQLiteConnection(path: folder.database, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
    connection.leaveLog()
    connection.overlookDamagedSchema()
    try ifReadable { () throws(StoreError) in try connection.run("PRAGMA cell_size_check = ON") }
    // The transaction never ends: other writers have to wait, and changes to the schema are never written.
    try ifReadable { () throws(StoreError) in
      try connection.begin()
      try connection.run("PRAGMA cache_spill = OFF")
      switch try SchemaParts.judge(connection) {
      case .known: break
      case .altered, .foreign: try SchemaParts.restore(connection)
      }
    }
  }

  /// Calls `body` with each readable entry, perhaps several times.
  func forEachEntry(_ body: (KeyedEntry) throws(StoreError) -> Void) throws(StoreError) {
    try search(body)
    for key in try loggedKeys() {
      _ = try eachRow("SELECT kind, value, revision, key FROM entry WHERE key = ?1", [Array(key.exact.text.utf8)]) {
        rows throws(StoreError) in try give(rows, body)
      }
    }
    _ = try eachRow("SELECT floor FROM store") { rows in _ = note(rows.integer(0)) }
  }

  /// Returns the schema version of the program; nil if it is unreadable, and programs have to detect it themselves.
  func schemaVersion() throws(StoreError) -> UInt32? {
    var version: UInt32?
    _ = try eachRow("SELECT schema_version FROM application") { rows in version = UInt32(clamping: rows.integer(0)) }
    return version
  }

  /// Calls `body` with each declaration that is readable from either end of the table, or by a key that the log names.
  func forEachDeclaration(_ body: (KeyName, Declaration) throws(StoreError) -> Void) throws(StoreError) {
    let fromBothEnds: [StaticString] = [
      "SELECT key, schema FROM declaration ORDER BY 1", "SELECT key, schema FROM declaration ORDER BY 1 DESC",
    ]
    for sql in fromBothEnds {
      if try eachRow(sql, [], { rows throws(StoreError) in try give(rows, body) }) { break }
    }
    for key in try loggedKeys() {
      _ = try eachRow("SELECT key, schema FROM declaration WHERE key = ?1", [Array(key.exact.text.utf8)]) {
        rows throws(StoreError) in try give(rows, body)
      }
    }
  }

  private func give(
    _ rows: SQLiteStatement, _ body: (KeyName, Declaration) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard let key = rows.string(0).flatMap({ try? KeyName($0) }), let schema = rows.string(1) else { return }
    let declaration = Declaration.stored(schema)
    do throws(StoreError) { try declaration.checkText(of: key) } catch {
      guard error.code == .corrupt else { throw error }
      return
    }
    try body(key, declaration)
  }

  /// Runs a read; returns nil if it meets damage.
  @discardableResult
  private func ifReadable<Result>(_ read: () throws(StoreError) -> Result) throws(StoreError) -> Result? {
    do throws(StoreError) { return try read() } catch {
      guard error.code == .corrupt else { throw error }
      return nil
    }
  }

  /// Calls `body` with the rows of a query up to the first damaged page.
  ///
  /// - Returns: whether it reached the end.
  private func eachRow(
    _ sql: StaticString, _ bounds: [[UInt8]] = [], _ body: (SQLiteStatement) throws(StoreError) -> Void
  ) throws(StoreError) -> Bool {
    let prepared = try ifReadable { () throws(StoreError) in try connection.statement(ifThere: sql) }
    // A missing table has no other end to read from.
    guard let rows = prepared ?? nil else { return true }
    defer { rows.reset() }
    for (index, bound) in bounds.enumerated() { try rows.bind(Int32(index + 1), textBytes: bound) }
    while true {
      guard let isRow = try ifReadable({ () throws(StoreError) in try rows.step() }) else { return false }
      guard isRow else { return true }
      try body(rows)
    }
  }

  /// Calls `body` with every row that is reachable.
  ///
  /// A range is read from both ends. If both reads meet a damaged page the range is halved, since the rows between two
  /// damaged pages may be intact. Halving the keys of one damaged page finds nothing, so the number of attempts is
  /// finite.
  private func search(_ body: (KeyedEntry) throws(StoreError) -> Void) throws(StoreError) {
    // The first reads use no bounds: finding a key compares others, and one of those may continue in a damaged page.
    var all = KeyStretch(low: [], high: [0xFF])
    if try scan("SELECT kind, value, revision, key FROM entry ORDER BY key", [], &all, \.low, body) { return }
    _ = try scan("SELECT kind, value, revision, key FROM entry ORDER BY key DESC", [], &all, \.high, body)
    var stretches = all.halves
    for attempt in 0..<Self.attempts {
      guard attempt < stretches.count else { return }
      var stretch = stretches[attempt]
      let up: StaticString = "SELECT kind, value, revision, key FROM entry WHERE key > ?1 AND key < ?2 ORDER BY key"
      if try scan(up, [stretch.low, stretch.high], &stretch, \.low, body) { continue }
      let down: StaticString =
        "SELECT kind, value, revision, key FROM entry WHERE key > ?1 AND key < ?2 ORDER BY key DESC"
      _ = try scan(down, [stretch.low, stretch.high], &stretch, \.high, body)
      stretches += stretch.halves
    }
  }

  private static let attempts = 1000

  /// Reads to the other end of a range, or to the first damaged page, and moves the end where it begins.
  ///
  /// - Returns: whether it reached the other end.
  private func scan(
    _ sql: StaticString, _ bounds: [[UInt8]], _ stretch: inout KeyStretch,
    _ end: WritableKeyPath<KeyStretch, [UInt8]>, _ body: (KeyedEntry) throws(StoreError) -> Void
  ) throws(StoreError) -> Bool {
    var reached = stretch[keyPath: end]
    defer { stretch[keyPath: end] = reached }
    return try eachRow(sql, bounds) { rows throws(StoreError) in
      reached = rows.bytes(3)
      try give(rows, body)
    }
  }

  /// Calls `body` with the entry of a row, if the row is valid.
  private func give(
    _ rows: SQLiteStatement, _ body: (KeyedEntry) throws(StoreError) -> Void
  ) throws(StoreError) {
    let revision = note(rows.integer(2))
    guard let key = rows.string(3).flatMap({ try? KeyName($0) }),
      let value = try ifReadable({ () throws(StoreError) in try rows.value(0) })
    else { return }
    try body(KeyedEntry(key: key, entry: Entry(value: value, revision: revision)))
  }

  /// Returns the revision for a stored number; 0 if the number is damage.
  private func note(_ number: Int64) -> Revision {
    guard let revision = ChangeLog.revision(number), revision < ChangeLog.end - ChangeLog.room else { return 0 }
    highestRevision = max(highestRevision, revision)
    return revision
  }

  private func loggedKeys() throws(StoreError) -> Set<KeyName> {
    var keys: Set<KeyName> = []
    for sql: StaticString in ["SELECT revision, keys FROM change", "SELECT revision, keys FROM change ORDER BY 1 DESC"]
    {
      let isWhole = try eachRow(sql) { rows in
        _ = note(rows.integer(0))
        keys.formUnion(rows.withBytes(1, ChangeLog.names))
      }
      if isWhole { break }
    }
    return keys
  }
}

/// The range between two keys; the bytes need not be UTF-8.
private struct KeyStretch {
  var low: [UInt8]
  var high: [UInt8]

  /// The two halves, divided at bytes that need not be a key; empty if the ends are adjacent, or almost.
  var halves: [KeyStretch] {
    let prefix = zip(low, high).prefix { $0 == $1 }.map(\.0)
    let start = Self.number(low.dropFirst(prefix.count))
    let end = Self.number(high.dropFirst(prefix.count))
    guard start < end, end - start > 1 else { return [] }
    let number = start + (end - start) / 2
    let middle = prefix + (1...7).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * UInt64($0))) }
    return [KeyStretch(low: low, high: middle), KeyStretch(low: middle, high: high)]
  }

  /// The first seven bytes as a number.
  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    (bytes.prefix(7) + repeatElement(0, count: max(0, 7 - bytes.count))).reduce(0) { $0 << 8 | UInt64($1) }
  }
}
