// One database connection, and how statements run on it. Not thread-safe: its owner keeps it behind a lock.

import CPlatform
import CSQLite
import KeptSystem
import KeptValues

/// An open database connection with its prepared statements.
final class SQLiteConnection {
  /// The handle of SQLite; visible for tests, which count its work.
  let handle: OpaquePointer
  // About a dozen entries: a linear search is faster than hashing.
  private var statements: [(name: UInt, statement: SQLiteStatement)] = []
  /// The notes of the function `replaced`; nil until it is registered.
  var pastChanges: PastChanges?
  private(set) var patience: Int
  private var limitsWork = false
  // Until this connection is closed, its database's files must not be read outside SQLite.
  private let use: Int?

  /// Opens an existing database file for writing.
  convenience init(path: String, busyTimeoutMilliseconds: Int) throws(StoreError) {
    try self.init(path: path, busyTimeoutMilliseconds: busyTimeoutMilliseconds, access: SQLITE_OPEN_READWRITE)
  }

  /// Opens an existing database file.
  ///
  /// - Parameters:
  ///   - path: without symbolic links.
  ///   - access: `SQLITE_OPEN_READWRITE` or `SQLITE_OPEN_READONLY`.
  init(path: String, busyTimeoutMilliseconds: Int, access: Int32) throws(StoreError) {
    let files = try DatabaseFiles.check(path, isWritten: access == SQLITE_OPEN_READWRITE)
    guard let vfs = SQLitePatience.vfs() else {
      throw StoreError.sqlite(SQLITE_NOMEM, nil, doing: "open \(shown: path)")
    }
    let use = try FilesInUse.enter(path, files, waiting: busyTimeoutMilliseconds)
    self.use = use
    var opened: OpaquePointer?
    let flags =
      access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_NOFOLLOW
    let status = sqlite3_open_v2(path, &opened, flags, vfs)
    guard status == SQLITE_OK, let opened else {
      let error = StoreError.sqlite(status, opened, at: path, doing: "open \(shown: path)")
      sqlite3_close_v2(opened)
      FilesInUse.leave(use)
      throw error
    }
    // If SQLite cannot open a file for writing it opens it for reading, and never tries again.
    guard access & SQLITE_OPEN_READWRITE == 0 || sqlite3_db_readonly(opened, "main") == 0 else {
      let error = StoreError.sqlite(SQLITE_READONLY, nil, at: path, doing: "open \(shown: path) for writing")
      sqlite3_close_v2(opened)
      FilesInUse.leave(use)
      throw error
    }
    handle = opened
    patience = busyTimeoutMilliseconds
    configure()
  }

  /// Opens a copy in memory for reading; it is freed with the connection.
  init(_ copy: DatabaseCopy, of path: String) throws(StoreError) {
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    var status = sqlite3_open_v2(":memory:", &opened, flags | SQLITE_OPEN_PRIVATECACHE, nil)
    let (bytes, size) = (copy.memory, sqlite3_int64(copy.memory.count))
    if status == SQLITE_OK {
      let flags = UInt32(SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY)
      let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
      // If this fails it has freed the copy.
      status = sqlite3_deserialize(opened, "main", start, size, size, flags)
    } else {
      sqlite3_free(bytes.baseAddress)
    }
    guard status == SQLITE_OK, let opened else {
      let error = StoreError.sqlite(status, opened, doing: "read \(shown: path)")
      sqlite3_close_v2(opened)
      throw error
    }
    (handle, patience, use) = (opened, 0, nil)
    configure()
    let reading = kept_sqlite_read_whole_pages(handle)
    guard reading == SQLITE_OK else { throw StoreError.sqlite(reading, nil, doing: "read \(shown: path) strictly") }
  }

  private func configure() {
    setPatience(milliseconds: patience)
    kept_sqlite_configure(handle, SQLITE_DBCONFIG_DEFENSIVE, 1)
    kept_sqlite_configure(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    // Kept has no triggers.
    kept_sqlite_configure(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    // Kept has no views, and a view could take the place of a table.
    kept_sqlite_configure(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0)
    limitParsing()
  }

  /// Whether the file begins with the header of a database; an empty file does not.
  var hasHeader: Bool { kept_sqlite_has_header(handle) != 0 }

  /// Limits the parser, far above what Kept needs, because a schema is parsed before it can be checked.
  private func limitParsing() {
    sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, 64 << 10)
    sqlite3_limit(handle, SQLITE_LIMIT_COLUMN, 200)
    sqlite3_limit(handle, SQLITE_LIMIT_EXPR_DEPTH, 100)
    sqlite3_limit(handle, SQLITE_LIMIT_COMPOUND_SELECT, 10)
    sqlite3_limit(handle, SQLITE_LIMIT_FUNCTION_ARG, 20)
    sqlite3_limit(handle, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100)
    sqlite3_limit(handle, SQLITE_LIMIT_VARIABLE_NUMBER, 20)
    sqlite3_limit(handle, SQLITE_LIMIT_TRIGGER_DEPTH, 1)
    // VACUUM attaches one database.
    sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 1)
  }

  /// Limits a statement to `steps` of SQLite's virtual machine, then it fails with `unsupported`; 0 removes the limit.
  ///
  /// It counts steps instead of time, so that a busy machine changes nothing.
  func limitWork(steps: Int64) {
    limitsWork = steps > 0
    kept_sqlite_limit_work(handle, Int32(clamping: steps))
  }

  /// Sets how long statements wait for locks of other connections.
  func setPatience(milliseconds: Int) {
    patience = milliseconds
    sqlite3_busy_timeout(handle, Int32(clamping: milliseconds))
  }

  deinit {
    for kept in statements { kept.statement.finalize() }
    sqlite3_close_v2(handle)
    if let use { FilesInUse.leave(use) }
  }

  /// Runs statements that take and return nothing.
  func run(_ sql: String) throws(StoreError) {
    SQLitePatience.begin(milliseconds: patience)
    try check(sqlite3_exec(handle, sql, nil, nil, nil), doing: "use the database")
  }

  /// Returns a statement that is prepared once and cached.
  ///
  /// Step it to its end, or reset it, before the next use. The time that it may wait for locks starts now.
  func statement(_ sql: StaticString) throws(StoreError) -> SQLiteStatement {
    SQLitePatience.begin(milliseconds: patience)
    // A literal is identified by its address, so finding its prepared statement makes no String.
    let name = UInt(bitPattern: sql.utf8Start)
    for kept in statements where kept.name == name {
      if limitsWork { kept.statement.forgetWork() }
      return kept.statement
    }
    let (status, statement) = prepare(sql, name)
    guard let statement else { throw StoreError.sqlite(status, handle, doing: "use the database") }
    return statement
  }

  /// Returns a statement on a damaged database; nil if the table or one of its columns is missing.
  func statement(ifThere sql: StaticString) throws(StoreError) -> SQLiteStatement? {
    SQLitePatience.begin(milliseconds: patience)
    let name = UInt(bitPattern: sql.utf8Start)
    for kept in statements where kept.name == name {
      if limitsWork { kept.statement.forgetWork() }
      return kept.statement
    }
    let (status, statement) = prepare(sql, name)
    // The SQL is ours and is correct, so this error means that something is missing.
    guard statement != nil || status == SQLITE_ERROR else {
      throw StoreError.sqlite(status, handle, doing: "use the database")
    }
    return statement
  }

  private func prepare(_ sql: StaticString, _ name: UInt) -> (Int32, SQLiteStatement?) {
    var prepared: OpaquePointer?
    // A StaticString ends with a NUL.
    let text = UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self)
    let status = sqlite3_prepare_v3(handle, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    guard status == SQLITE_OK, let prepared else { return (status, nil) }
    let statement = SQLiteStatement(prepared, of: handle)
    statements.append((name, statement))
    return (status, statement)
  }

  /// Runs `body` as one write transaction.
  ///
  /// It holds the write lock from the beginning, and is rolled back if `body` throws.
  func write<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    try begin()
    do throws(StoreError) {
      let result = try body()
      try commit()
      return result
    } catch {
      rollBack()
      throw error
    }
  }

  /// Begins a write transaction and takes the write lock.
  func begin() throws(StoreError) {
    endUnended()
    try statement("BEGIN IMMEDIATE").finish()
  }

  /// Begins a transaction that keeps other writers out of a damaged database, which is read.
  func beginSalvage() throws(StoreError) {
    do throws(StoreError) { try begin() } catch {
      // A changed bit in its head forbids writing, to others as well.
      guard sqlite3_db_readonly(handle, "main") == 1 else { throw error }
      try beginReading()
      _ = try integer("SELECT count(*) FROM sqlite_schema")
    }
  }

  /// Begins a read transaction.
  func beginReading() throws(StoreError) {
    endUnended()
    try statement("BEGIN").finish()
  }

  /// Rolls back a transaction that lacked the memory to end: a new one could not begin.
  func endUnended() {
    if sqlite3_get_autocommit(handle) == 0 { rollBack() }
  }

  func commit() throws(StoreError) { try statement("COMMIT").finish() }

  /// Rolls back the transaction, if there is one: after some failures SQLite has already done so.
  func rollBack() {
    guard sqlite3_get_autocommit(handle) == 0 else { return }
    sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
  }

  /// A number that changes with every commit that this connection sees, its own and others'.
  ///
  /// It is current inside a transaction.
  var dataVersion: UInt32 { kept_sqlite_data_version(handle) }

  /// Whether every page is in the database file or in the log; a truncated database lacks some.
  ///
  /// Call it inside a transaction.
  func hasAllPages() throws(StoreError) -> Bool {
    var answer = KEPT_PAGES_MISSING
    var status = kept_sqlite_has_pages(handle, -1, &answer)
    if answer == KEPT_PAGES_UNCOUNTED {
      status = kept_sqlite_has_pages(handle, try integer("PRAGMA page_count"), &answer)
    }
    // The call read a file and not the connection, so the connection has no error of it.
    guard status == SQLITE_OK else { throw StoreError.sqlite(status, nil, doing: "find all pages of the database") }
    return answer == KEPT_PAGES_WHOLE
  }

  /// Makes a new database, and every copy of this one, have checksums in its pages.
  func addChecksums() { kept_sqlite_reserve(handle) }

  /// Whether the pages have checksums.
  var hasChecksums: Bool { kept_sqlite_has_checksums(handle) != 0 }

  /// Reads pages with wrong checksums while `body` runs.
  func ignoringChecksums<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    kept_sqlite_ignore_checksums(handle, 1)
    defer { kept_sqlite_ignore_checksums(handle, 0) }
    return try body()
  }

  /// Reads the first page of a new database in place of the own one, which is damaged.
  func replaceFirstPage(byThatOf new: SQLiteConnection) throws(StoreError) {
    try check(kept_sqlite_replace_first_page(handle, new.handle), doing: "use the database")
  }

  /// Returns the damage in SQLite's words; nil if there is none.
  func damage() throws(StoreError) -> String? {
    _ = kept_sqlite_take_reading(handle)
    let check = try statement("PRAGMA integrity_check(1)")
    let answer = try check.first { check.string(0) ?? "" } ?? ""
    if answer == "ok" { return nil }
    // SQLite uses the same words for pages that it could not read, whether or not they are damaged.
    let reading = kept_sqlite_take_reading(handle)
    if reading.failure != 0 { throw Self.unreadable(reading.failure) }
    let words = answer.utf8.split(separator: UInt8(ascii: " ")).map { String(Substring($0)) }
    let isPageMissing = words.dropLast().suffix(4) == ["failed", "to", "get", "page"]
    if answer.ends(with: " code=7") || answer.ends(with: " code=3082") || isPageMissing && reading.found_damage == 0 {
      throw StoreError.sqlite(SQLITE_NOMEM, nil, doing: "check the database")
    }
    // One line, without the heading that SQLite puts above the damage of a database.
    let lines = answer.utf8.split(separator: UInt8(ascii: "\n")).map { String(Substring($0)) }
    return lines.filter { !$0.begins(with: "*** in database ") }.joined(separator: ", ")
  }

  /// Throws if reading a page has failed since the last call.
  ///
  /// With a schema that may be damaged, SQLite goes on as if the tables that it could not read were not there.
  func checkReadings() throws(StoreError) {
    let failure = kept_sqlite_take_reading(handle).failure
    if failure != 0 { throw Self.unreadable(failure) }
  }

  private static func unreadable(_ failure: Int32) -> StoreError {
    let (code, advice) = StoreError.meaning(ofSystemError: failure)
    return StoreError(code, "could not read the database: \(String(cString: strerror(failure))); \(advice)")
  }

  /// Lets the next process that opens the store exclusively salvage it.
  func markDamage() { DamageMark.leave(by: handle) }

  /// Syncs every commit of every process that is in the log now.
  func syncLog() throws(StoreError) {
    guard kept_sqlite_sync_log(handle) != SQLITE_OK else { return }
    // The call used the log and not the connection, so the connection has no error of it, and errno is that of the
    // sync.
    throw StoreError.unsynced(errno: kept_errno())
  }

  /// How far the log reaches.
  var logEnd: LogEnd {
    let end = kept_sqlite_log_end(handle)
    let salts = withUnsafeBytes(of: end.salts) { $0.loadUnaligned(as: UInt64.self) }
    return LogEnd(salts: UInt64(littleEndian: salts), frames: end.frames)
  }

  /// Whether SQLite takes the log for empty because its header is damaged.
  var isLogDamaged: Bool { kept_sqlite_log_is_damaged(handle) != 0 }

  /// Whether the log is that of another database; reading its pages is `corrupt`.
  func isLogForeign() throws(StoreError) -> Bool {
    var isForeign: Int32 = 0
    let status = kept_sqlite_log_is_foreign(handle, &isForeign)
    // The call read the files and not the connection, so the connection has no error of it.
    guard status == SQLITE_OK else { throw StoreError.sqlite(status, nil, doing: "access the log of the database") }
    return isForeign != 0
  }

  /// Checkpoints the whole log: copies its commits into the database, syncs the database, and truncates the log.
  func copyLog() throws(StoreError) {
    try check(
      sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_TRUNCATE, nil, nil),
      doing: "checkpoint the database")
  }

  /// Copies the database, without its deleted content, into an empty file.
  func copy(into path: String) throws(StoreError) {
    // VACUUM forgets it.
    addChecksums()
    let statement = try statement("VACUUM INTO ?1")
    try statement.bind(1, text: ExactString(path))
    try statement.finish()
  }

  /// Whether SQLite could once open a file for reading only, and has just refused to write.
  ///
  /// It keeps refusing until this process has closed its last connection to the database.
  var isStuckReading: Bool { sqlite3_errcode(handle) & 0xFF == SQLITE_READONLY }

  /// Whether the path of the database now leads to another file, or to none.
  var hasMoved: Bool { kept_sqlite_has_moved(handle) != 0 }

  /// The number of rows that the last modifying statement has changed.
  var changedRows: Int64 { sqlite3_changes64(handle) }

  /// Makes closing neither copy the log into the database nor remove it.
  func leaveLog() { kept_sqlite_configure(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1) }

  /// Makes intact tables readable although another table, or a trigger, is damaged: SQLite would otherwise read none.
  func overlookDamagedSchema() {
    kept_sqlite_configure(handle, SQLITE_DBCONFIG_DEFENSIVE, 0)
    kept_sqlite_configure(handle, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1)
  }

  /// Reads the schema again, as it is inside the current transaction.
  func reloadSchema() throws(StoreError) {
    try run("PRAGMA writable_schema = RESET")
    overlookDamagedSchema()
  }

  private func check(_ status: Int32, doing what: String) throws(StoreError) {
    guard status == SQLITE_OK else { throw StoreError.sqlite(status, handle, doing: what) }
  }
}

extension SQLiteConnection: ConnectionOwner {
  var connection: SQLiteConnection { self }
}
