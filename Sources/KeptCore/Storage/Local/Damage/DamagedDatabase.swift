// The readable parts of a damaged database: rows from both ends of it, and of every range between damaged pages.

import KeptSchema
import KeptValues

/// A damaged database, which is read and never written.
///
/// It is read in place, because its log counts; SQLite writes only its own `-shm`. Damage is skipped. Any other failure
/// is thrown, be it of memory, of the disk, or because another program has the database open: it proves nothing about
/// the content.
final class DamagedDatabase {
  private let connection: SQLiteConnection
  /// The highest revision found anywhere in it.
  private(set) var highestRevision: Revision = 0
  private var alphabet = KeyAlphabet()
  /// Whether every entry was read, with its value.
  private var isWhole = true

  /// Whether the tables that every store has are known.
  private var hasTables = false

  /// Opens the damaged database of a folder, if need be with the first page of a new one.
  static func open(
    in folder: StoreFolder, _ new: SQLiteConnection, busyTimeoutMilliseconds: Int
  ) throws(StoreError) -> DamagedDatabase {
    do throws(StoreError) {
      let damaged = try DamagedDatabase(folder, nil, busyTimeoutMilliseconds)
      if damaged.hasTables, damaged.connection.hasChecksums { return damaged }
    } catch {
      // The header says that SQLite does not know the format.
      guard error.code == .unsupported else { throw error }
    }
    do {
      let damaged = try DamagedDatabase(folder, new, busyTimeoutMilliseconds)
      // Without checksums, no page verifies.
      for sql: StaticString in ["SELECT 1 FROM store", "SELECT 1 FROM entry LIMIT 1", "SELECT 1 FROM removed LIMIT 1"] {
        if try damaged.eachRow(sql, [], { _ in }) { return damaged }
      }
    }
    return try DamagedDatabase(folder, nil, busyTimeoutMilliseconds)
  }

  private init(
    _ folder: StoreFolder, _ new: SQLiteConnection?, _ busyTimeoutMilliseconds: Int
  ) throws(StoreError) {
    connection = try SQLiteConnection(path: folder.database, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
    connection.leaveLog()
    connection.overlookDamagedSchema()
    if let new { try connection.replaceFirstPage(byThatOf: new) }
    // The schema is compared with what Kept writes, and repaired, so its pages need no checksums.
    try connection.ignoringChecksums { () throws(StoreError) in
      try ifReadable { () throws(StoreError) in try connection.run("PRAGMA cell_size_check = ON") }
      // The transaction never ends: other writers have to wait, and changes to the schema are never written.
      try ifReadable { () throws(StoreError) in
        try connection.beginSalvage()
        try connection.run("PRAGMA cache_spill = OFF")
        if case .known = try SchemaParts.judge(connection) {} else { try SchemaParts.restore(connection) }
        if case .known = try SchemaParts.judge(connection) { hasTables = true }
      }
    }
  }

  /// Calls `body` with each readable entry, perhaps several times.
  func forEachEntry(_ body: (KeyedEntry) throws(StoreError) -> Void) throws(StoreError) {
    try search(body)
    _ = try eachRow("SELECT revision FROM store") { rows in _ = note(rows.integer(0)) }
  }

  /// The id of the store, and the settled place; nil if that is unreadable.
  func settledPlace() throws(StoreError) -> (StoreID, SettledPlace)? {
    let reader = LocalReader(connection)
    let table = try ifReadable { () throws(StoreError) in
      try connection.statement(ifThere: "SELECT journal, position, checksum, schema_version, floor FROM store")
    }
    guard table ?? nil != nil else { return nil }
    return try ifReadable { () throws(StoreError) in (try reader.storeID(), try SettledPlace.read(connection)) }
  }

  /// Copies the bodies that frames of the journal may name.
  func copyBodies(to new: SQLiteConnection) throws(StoreError) {
    // A copy has its values in the table itself.
    _ = try eachRow(
      """
      SELECT id, key, kind, iif(typeof(value) = 'integer' AND kind NOT IN ('bool', 'int'),
        (SELECT value FROM large WHERE id = body.value), value), schema FROM body
      """
    ) { rows throws(StoreError) in
      let row = try new.statement("INSERT OR REPLACE INTO body VALUES (?1, ?2, ?3, ?4, ?5)")
      for column in 0..<5 as Range<Int32> { try row.bind(column + 1, copyOf: rows, column) }
      try row.finish()
    }
  }

  /// Notes in the new database which keys had values and have none there, as far as their names are known.
  ///
  /// Call it last: it reads keys on pages whose checksums are wrong. They are noted as removed at the revision -1.
  func noteLostKeys(in new: SQLiteConnection) throws(StoreError) {
    guard !isWhole else { return }
    let row = try new.statement("INSERT OR IGNORE INTO removed VALUES (?1, ?2)")
    func note(_ key: UnsafeBufferPointer<UInt8>, _ revision: Int64) throws(StoreError) {
      try row.bind(1, textBytes: Array(key))
      try row.bind(2, revision)
      try row.finish()
    }
    try connection.ignoringChecksums { () throws(StoreError) in
      // The history does not say that a key was removed last.
      _ = try eachRow("SELECT key FROM removed") { rows throws(StoreError) in
        try rows.withBytes(0) { key throws(StoreError) in try note(key, -2) }
      }
      _ = try eachRow("SELECT changes FROM history WHERE id > 0") { rows throws(StoreError) in
        _ = try rows.withBytes(0) { changes throws(StoreError) in
          let bytes = UnsafeRawBufferPointer(changes)
          return try PackedChange.forEach(bytes) { change throws(StoreError) in try note(change.key(in: bytes), -1) }
        }
      }
      try new.run("DELETE FROM removed WHERE revision = -2")
      for sql: StaticString in ["SELECT key FROM entry ORDER BY key", "SELECT key FROM entry ORDER BY key DESC"] {
        _ = try eachRow(sql) { rows throws(StoreError) in
          try rows.withBytes(0) { key throws(StoreError) in try note(key, -1) }
        }
      }
    }
  }

  private static func key(_ text: String?) -> KeyName? { text.flatMap { try? KeyName($0) } }

  /// Throws if anything could not be read for another reason than damage; called when everything was read.
  func checkReadings() throws(StoreError) { try connection.checkReadings() }

  /// Returns the schema version of the program; nil if it is unreadable, and programs have to detect it themselves.
  func schemaVersion() throws(StoreError) -> UInt32? {
    var version: UInt32?
    _ = try eachRow("SELECT schema_version FROM store") { rows in version = UInt32(clamping: rows.integer(0)) }
    return version
  }

  /// Returns the limits of the history, as stored; nil if none were set or they are unreadable.
  func historyLimits() throws(StoreError) -> HistoryLimits? {
    var text: String?
    _ = try eachRow("SELECT changes FROM history WHERE id = 0") { rows in text = rows.string(0) }
    return text.map { HistoryLimits(stored: $0) }
  }

  /// Calls `body` with each declaration that is readable from either end of the table.
  ///
  /// - Returns: the stretch where keys may have lost their declarations; nil if all were read.
  func forEachDeclaration(
    _ body: (KeyName, Declaration) throws(StoreError) -> Void
  ) throws(StoreError) -> KeyStretch? {
    var (lost, isThere) = (KeyStretch.all, false)
    _ = try eachRow("SELECT 1 FROM sqlite_schema WHERE name = 'declaration'") { _ in isThere = true }
    guard isThere else { return lost }
    let up: StaticString = "SELECT key, schema FROM declaration ORDER BY 1"
    if try eachRow(up, [], { rows throws(StoreError) in try give(rows, &lost.low, body) }) { return nil }
    let down: StaticString = "SELECT key, schema FROM declaration ORDER BY 1 DESC"
    _ = try eachRow(down) { rows throws(StoreError) in try give(rows, &lost.high, body) }
    return lost
  }

  private func give(
    _ rows: SQLiteStatement, _ reached: inout [UInt8], _ body: (KeyName, Declaration) throws(StoreError) -> Void
  ) throws(StoreError) {
    reached = rows.bytes(0)
    guard let key = Self.key(rows.string(0)) else { return }
    let declaration = rows.string(1).map(Declaration.stored) ?? .lost
    do throws(StoreError) { try declaration.checkText(of: key) } catch {
      guard error.code == .corrupt else { throw error }
      return try body(key, .lost)
    }
    try body(key, declaration)
  }

  /// The bytes of the keys with a staged value.
  func keysWithBodies() throws(StoreError) -> Set<[UInt8]> {
    var keys: Set<[UInt8]> = []
    _ = try eachRow("SELECT key FROM body WHERE kind IS NOT NULL") { rows in keys.insert(rows.bytes(0)) }
    return keys
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
    guard let rows = prepared ?? nil else {
      isWhole = false
      return true
    }
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
  /// damaged pages may be intact. Halving the keys of one damaged page finds nothing, so ranges where halving has found
  /// nothing come last, and the number of attempts is finite.
  private func search(_ body: (KeyedEntry) throws(StoreError) -> Void) throws(StoreError) {
    // The first reads use no bounds: finding a key compares others, and one of those may continue in a damaged page.
    var all = KeyStretch.all
    if try scan("SELECT kind, value, revision, key, large FROM entry ORDER BY key", [], &all, \.low, body) { return }
    isWhole = false
    _ = try scan("SELECT kind, value, revision, key, large FROM entry ORDER BY key DESC", [], &all, \.high, body)
    // By how many times in a row halving has found nothing.
    var waiting = [all.halves(in: alphabet.bytes)]
    for _ in 0..<Self.attempts {
      guard let level = waiting.firstIndex(where: { !$0.isEmpty }), var stretch = waiting[level].popLast() else {
        return
      }
      let before = stretch
      let up: StaticString =
        "SELECT kind, value, revision, key, large FROM entry WHERE key >= ?1 AND key < ?2 ORDER BY key"
      if try scan(up, [stretch.low, stretch.high], &stretch, \.low, body) { continue }
      let down: StaticString =
        "SELECT kind, value, revision, key, large FROM entry WHERE key >= ?1 AND key < ?2 ORDER BY key DESC"
      _ = try scan(down, [stretch.low, stretch.high], &stretch, \.high, body)
      let next = stretch == before ? level + 1 : 0
      if next == waiting.count { waiting.append([]) }
      waiting[next] += stretch.halves(in: alphabet.bytes)
    }
  }

  private static let attempts = 20_000

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
      alphabet.add(reached)
      try give(rows, body)
    }
  }

  /// Calls `body` with the entry of a row, if the row is valid.
  private func give(
    _ rows: SQLiteStatement, _ body: (KeyedEntry) throws(StoreError) -> Void
  ) throws(StoreError) {
    let revision = note(rows.integer(2))
    guard let key = Self.key(rows.string(3)),
      let value = try ifReadable({ () throws(StoreError) in try rows.isNull(1) ? large(rows) : rows.value(0) })
    else {
      isWhole = false
      return
    }
    try body(KeyedEntry(key: key, entry: Entry(value: value, revision: revision)))
  }

  /// Reads the value of a row that has it in another table.
  private func large(_ rows: SQLiteStatement) throws(StoreError) -> Value {
    if let row = try connection.statement(ifThere: "SELECT ?2, value FROM large WHERE id = ?1") {
      try row.bind(1, rows.integer(4))
      try row.bind(2, textBytes: rows.bytes(0))
      if let value = try row.first({ () throws(StoreError) in try row.value(0) }) { return value }
    }
    throw StoreError(.corrupt, "the database has no value for a key")
  }

  /// Returns the revision for a stored number; 0 if the number is damage.
  private func note(_ number: Int64) -> Revision {
    guard let revision = StoredRevision.revision(number), revision < StoredRevision.end - StoredRevision.room else {
      return 0
    }
    highestRevision = max(highestRevision, revision)
    return revision
  }
}

/// The bytes that occur in keys, in order: ranges are halved among texts of these, because few others are keys.
private struct KeyAlphabet {
  private var isSeen = [Bool](repeating: false, count: 256)

  /// Adds the bytes of a key.
  mutating func add(_ key: [UInt8]) { for byte in key { isSeen[Int(byte)] = true } }

  var bytes: [UInt8] {
    let seen = (0...UInt8.max).filter { isSeen[Int($0)] }
    return seen.isEmpty ? Array("-./0123456789_abcdefghijklmnopqrstuvwxyz".utf8) : seen
  }
}

/// The range between two keys; the bytes need not be UTF-8.
struct KeyStretch: Equatable {
  var low: [UInt8]
  var high: [UInt8]

  func contains(_ key: [UInt8]) -> Bool {
    !key.lexicographicallyPrecedes(low) && key.lexicographicallyPrecedes(high)
  }

  static var all: KeyStretch { KeyStretch(low: [], high: [0xFF]) }

  private static let places = 7

  /// The two halves, divided at a text of an alphabet that need not be a key; empty if there is none in between.
  fileprivate func halves(in alphabet: [UInt8]) -> [KeyStretch] {
    let prefix = zip(low, high).prefix { $0 == $1 }.map(\.0)
    let start = Self.number(low.dropFirst(prefix.count), alphabet)
    let end = Self.number(high.dropFirst(prefix.count), alphabet)
    guard start < end else { return [] }
    let middle = prefix + Self.text(start + (end - start + 1) / 2, alphabet)
    guard low.lexicographicallyPrecedes(middle), middle.lexicographicallyPrecedes(high) else { return [] }
    return [KeyStretch(low: low, high: middle), KeyStretch(low: middle, high: high)]
  }

  /// The first bytes as a number, whose digits are the places of the bytes in the alphabet; 0 is the end of the text.
  private static func number(_ bytes: ArraySlice<UInt8>, _ alphabet: [UInt8]) -> UInt64 {
    let digits = bytes.prefix(places).map { byte in UInt64(alphabet.count { $0 < byte }) + 1 }
    return (digits + repeatElement(0, count: places - digits.count)).reduce(0) { $0 * base(alphabet) + $1 }
  }

  private static func text(_ number: UInt64, _ alphabet: [UInt8]) -> [UInt8] {
    var (digits, rest): ([UInt64], UInt64) = ([], number)
    for _ in 0..<places {
      digits.insert(rest % base(alphabet), at: 0)
      rest /= base(alphabet)
    }
    while digits.last == 0 { digits.removeLast() }
    return digits.map { $0 > alphabet.count ? .max : alphabet[max(0, Int($0) - 1)] }
  }

  // One digit more for each end: at most 258 to the power of 7, which is below 2^57.
  private static func base(_ alphabet: [UInt8]) -> UInt64 { UInt64(alphabet.count) + 2 }
}
