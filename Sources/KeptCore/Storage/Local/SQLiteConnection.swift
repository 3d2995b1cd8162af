// One connection to a database, and how SQLite is asked. Not thread-safe: its owner keeps it behind a lock.

import CPlatform
import CSQLite

/// An open database connection with its prepared statements.
final class SQLiteConnection {
  /// For tests, to count what it does.
  let handle: OpaquePointer
  // A dozen: looking at each is faster than hashing one.
  private var statements: [(name: UInt, statement: SQLiteStatement)] = []
  private var patience: Int
  private var limitsWork = false
  // Until it is closed, no file of its database is read beside it.
  private let use: Int?

  /// Opens a database file that exists, for writing.
  convenience init(path: String, busyTimeoutMilliseconds: Int) throws(StoreError) {
    try self.init(path: path, busyTimeoutMilliseconds: busyTimeoutMilliseconds, access: SQLITE_OPEN_READWRITE)
  }

  /// - Parameters:
  ///   - path: without symbolic links.
  ///   - access: `SQLITE_OPEN_READWRITE` or `SQLITE_OPEN_READONLY`.
  init(path: String, busyTimeoutMilliseconds: Int, access: Int32) throws(StoreError) {
    let files = try DatabaseFiles.check(path, isWritten: access == SQLITE_OPEN_READWRITE)
    let use = try FilesInUse.enter(path, files, waiting: busyTimeoutMilliseconds)
    self.use = use
    var opened: OpaquePointer?
    let flags =
      access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_NOFOLLOW
    let status = sqlite3_open_v2(path, &opened, flags, SQLitePatience.vfs)
    guard status == SQLITE_OK, let opened else {
      let error = StoreError.sqlite(status, opened, at: path, doing: "open \(path)")
      sqlite3_close_v2(opened)
      FilesInUse.leave(use)
      throw error
    }
    // SQLite opens what it could not open for writing for reading, and never tries again.
    guard access & SQLITE_OPEN_READWRITE == 0 || sqlite3_db_readonly(opened, "main") == 0 else {
      let error = StoreError.sqlite(SQLITE_READONLY, nil, at: path, doing: "open \(path) for writing")
      sqlite3_close_v2(opened)
      FilesInUse.leave(use)
      throw error
    }
    handle = opened
    patience = busyTimeoutMilliseconds
    try configure(path, readsWholePages: SQLitePatience.vfs != nil)
  }

  /// Opens a copy in memory, for reading; it is freed with the connection.
  init(_ copy: DatabaseCopy, of path: String) throws(StoreError) {
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    var status = sqlite3_open_v2(":memory:", &opened, flags | SQLITE_OPEN_PRIVATECACHE, nil)
    let (bytes, size) = (copy.memory, sqlite3_int64(copy.memory.count))
    if status == SQLITE_OK {
      let flags = UInt32(SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_READONLY)
      let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
      // Where it fails it has freed the copy.
      status = sqlite3_deserialize(opened, "main", start, size, size, flags)
    } else {
      sqlite3_free(bytes.baseAddress)
    }
    guard status == SQLITE_OK, let opened else {
      let error = StoreError.sqlite(status, opened, doing: "read \(path)")
      sqlite3_close_v2(opened)
      throw error
    }
    (handle, patience, use) = (opened, 0, nil)
    try configure(path, readsWholePages: false)
  }

  private func configure(_ path: String, readsWholePages: Bool) throws(StoreError) {
    setPatience(milliseconds: patience)
    kept_sqlite_configure(handle, SQLITE_DBCONFIG_DEFENSIVE, 1)
    kept_sqlite_configure(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    // Ours are for those who know nothing of Kept.
    kept_sqlite_configure(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    // None of ours is a view, and one could take the place of a table.
    kept_sqlite_configure(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0)
    limitParsing()
    // Otherwise SQLite reads zeros where a database was cut off.
    if !readsWholePages {
      let reading = kept_sqlite_read_whole_pages(handle)
      guard reading == SQLITE_OK else { throw StoreError.sqlite(reading, nil, doing: "read \(path) strictly") }
    }
  }

  /// Whether the file begins as a database does; an empty one does not.
  var hasHeader: Bool { kept_sqlite_has_header(handle) != 0 }

  /// Far above what Kept's own schema and statements need: what a file holds is parsed before it can be judged.
  private func limitParsing() {
    sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, 64 << 10)
    sqlite3_limit(handle, SQLITE_LIMIT_COLUMN, 200)
    sqlite3_limit(handle, SQLITE_LIMIT_EXPR_DEPTH, 100)
    sqlite3_limit(handle, SQLITE_LIMIT_COMPOUND_SELECT, 10)
    sqlite3_limit(handle, SQLITE_LIMIT_FUNCTION_ARG, 20)
    sqlite3_limit(handle, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100)
    sqlite3_limit(handle, SQLITE_LIMIT_VARIABLE_NUMBER, 20)
    sqlite3_limit(handle, SQLITE_LIMIT_TRIGGER_DEPTH, 1)
    // VACUUM attaches one.
    sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 1)
  }

  /// A statement that takes more steps of SQLite's machine from now on fails with `unsupported`; 0: none does.
  ///
  /// Steps are counted and not time, so that a busy machine changes nothing.
  func limitWork(steps: Int64) {
    limitsWork = steps > 0
    kept_sqlite_limit_work(handle, Int32(clamping: steps))
  }

  /// How long statements wait from now on for what another connection has locked.
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
    try check(sqlite3_exec(handle, sql, nil, nil, nil), doing: "run \"\(sql)\"")
  }

  /// A statement that is prepared once and kept.
  ///
  /// Use it up, or reset it, before the next use; the time for which it may wait begins now.
  func statement(_ sql: StaticString) throws(StoreError) -> SQLiteStatement {
    SQLitePatience.begin(milliseconds: patience)
    // A literal is known by its address: finding its prepared statement makes no String.
    let name = UInt(bitPattern: sql.utf8Start)
    for kept in statements where kept.name == name {
      if limitsWork { kept.statement.forgetWork() }
      return kept.statement
    }
    let (status, statement) = prepare(sql, name)
    guard let statement else { throw StoreError.sqlite(status, handle, doing: "prepare \"\(sql)\"") }
    return statement
  }

  /// The same for a damaged database; nil: the table or a column of it cannot be found there.
  func statement(ifThere sql: StaticString) throws(StoreError) -> SQLiteStatement? {
    SQLitePatience.begin(milliseconds: patience)
    let name = UInt(bitPattern: sql.utf8Start)
    for kept in statements where kept.name == name {
      if limitsWork { kept.statement.forgetWork() }
      return kept.statement
    }
    let (status, statement) = prepare(sql, name)
    // The text is ours and has no mistake: it is about what is not there.
    guard statement != nil || status == SQLITE_ERROR else {
      throw StoreError.sqlite(status, handle, doing: "prepare \"\(sql)\"")
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
  /// It holds the write lock from the beginning, and is undone when `body` throws.
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

  /// Begins a write transaction; it holds the write lock from now on.
  func begin() throws(StoreError) {
    endUnended()
    try statement("BEGIN IMMEDIATE").finish()
  }

  /// Begins a transaction that only reads.
  func beginReading() throws(StoreError) {
    endUnended()
    try statement("BEGIN").finish()
  }

  /// Ends a transaction for whose end there was no memory: a new one could not begin.
  private func endUnended() {
    if sqlite3_get_autocommit(handle) == 0 { rollBack() }
  }

  func commit() throws(StoreError) { try statement("COMMIT").finish() }

  /// Undoes the transaction, if there is one: after some failures SQLite has done so by itself.
  func rollBack() {
    guard sqlite3_get_autocommit(handle) == 0 else { return }
    sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
  }

  /// Moves with every commit that this connection sees, its own and others'.
  ///
  /// It is up to date inside a transaction.
  var dataVersion: UInt32 { kept_sqlite_data_version(handle) }

  /// Whether every page is in the database file or in the log; a cut-off database lacks some.
  ///
  /// Ask inside a transaction.
  func hasAllPages() throws(StoreError) -> Bool {
    var answer = KEPT_PAGES_MISSING
    var status = kept_sqlite_has_pages(handle, -1, &answer)
    if answer == KEPT_PAGES_UNCOUNTED {
      status = kept_sqlite_has_pages(handle, try integer("PRAGMA page_count"), &answer)
    }
    // A file was asked, not the connection: that knows of no failure.
    guard status == SQLITE_OK else { throw StoreError.sqlite(status, nil, doing: "look for all pages of the database") }
    return answer == KEPT_PAGES_WHOLE
  }

  /// What is damaged, in SQLite's words; nil: nothing.
  func damage() throws(StoreError) -> String? {
    _ = kept_sqlite_take_reading(handle)
    let check = try statement("PRAGMA integrity_check(1)")
    let answer = try check.first { check.string(0) ?? "" } ?? ""
    if answer == "ok" { return nil }
    // SQLite tells in the same words of what it could not read, be it damaged or not.
    let reading = kept_sqlite_take_reading(handle)
    if reading.failure != 0 {
      let (code, advice) = StoreError.meaning(ofSystemError: reading.failure)
      throw StoreError(code, "could not check the database: \(String(cString: strerror(reading.failure))); \(advice)")
    }
    let isPageMissing = answer.split(separator: " ").dropLast().suffix(4) == ["failed", "to", "get", "page"]
    if answer.hasSuffix(" code=7") || answer.hasSuffix(" code=3082") || isPageMissing && reading.found_cut == 0 {
      throw StoreError.sqlite(SQLITE_NOMEM, nil, doing: "check the database")
    }
    return answer
  }

  /// Syncs every commit of every process that is in the log now.
  func syncLog() throws(StoreError) {
    guard kept_sqlite_sync_log(handle) != SQLITE_OK else { return }
    // The log was asked, not the connection: that knows of no failure, and errno is still that of the sync.
    throw StoreError.unsynced(errno: kept_errno())
  }

  /// Brings every commit that is in the log into the database, syncs that, and empties the log.
  func copyLog() throws(StoreError) {
    try check(
      sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_TRUNCATE, nil, nil),
      doing: "bring the log into the database")
  }

  /// Whether SQLite could open a file only for reading once, and has just refused to write.
  ///
  /// It goes on refusing until this process has no connection to the database any more.
  var isStuckReading: Bool { sqlite3_errcode(handle) & 0xFF == SQLITE_READONLY }

  /// Whether another database is in this one's place by now, or none.
  var hasMoved: Bool { kept_sqlite_has_moved(handle) != 0 }

  /// How many rows the last statement that changes rows has changed.
  var changedRows: Int64 { sqlite3_changes64(handle) }

  /// How long the log may grow before a commit copies it into the database.
  func checkpointsAutomatically(afterPages pages: Int32) { sqlite3_wal_autocheckpoint(handle, pages) }

  /// Closing will neither copy the log into the database nor remove it.
  func leaveLog() { kept_sqlite_configure(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1) }

  /// Lets the tables that can be understood be read where another, or a trigger, cannot: SQLite would read none.
  func overlookDamagedSchema() {
    kept_sqlite_configure(handle, SQLITE_DBCONFIG_DEFENSIVE, 0)
    kept_sqlite_configure(handle, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1)
  }

  /// Reads the schema anew, as it is inside the present transaction.
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
