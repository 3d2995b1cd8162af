// One connection to a database, and how SQLite is asked. Not thread-safe: its owner keeps it behind a lock.

import CSQLite

/// An open database connection with its prepared statements.
final class SQLiteConnection {
  private let handle: OpaquePointer
  // A dozen: looking at each is faster than hashing one.
  private var statements: [(name: UInt, statement: SQLiteStatement)] = []

  /// Opens a database file that exists.
  ///
  /// - Parameter access: `SQLITE_OPEN_READWRITE`, or `SQLITE_OPEN_READONLY`, also with `SQLITE_OPEN_URI`.
  init(
    path: String, busyTimeoutMilliseconds: Int, access: Int32 = SQLITE_OPEN_READWRITE
  ) throws(StoreError) {
    var opened: OpaquePointer?
    let flags = access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_PRIVATECACHE
    let status = sqlite3_open_v2(path, &opened, flags, nil)
    guard status == SQLITE_OK, let opened else {
      let error = StoreError.sqlite(status, opened, doing: "open \(path)")
      sqlite3_close_v2(opened)
      throw error
    }
    handle = opened
    sqlite3_busy_timeout(handle, Int32(clamping: busyTimeoutMilliseconds))
    kept_sqlite_configure(handle, SQLITE_DBCONFIG_DEFENSIVE, 1)
    kept_sqlite_configure(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    // Ours are for those who know nothing of Kept.
    kept_sqlite_configure(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
  }

  deinit {
    for kept in statements { kept.statement.finalize() }
    sqlite3_close_v2(handle)
  }

  /// Runs statements that take and return nothing.
  func run(_ sql: String) throws(StoreError) {
    try check(sqlite3_exec(handle, sql, nil, nil, nil), doing: "run \"\(sql)\"")
  }

  /// A statement that is prepared once and kept.
  ///
  /// Use it up, or reset it, before the next use.
  func statement(_ sql: StaticString) throws(StoreError) -> SQLiteStatement {
    // A literal is known by its address: finding its prepared statement makes no String.
    let name = UInt(bitPattern: sql.utf8Start)
    for kept in statements where kept.name == name { return kept.statement }
    var prepared: OpaquePointer?
    let status = sqlite3_prepare_v3(
      handle, sql.description, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    guard status == SQLITE_OK, let prepared else {
      throw StoreError.sqlite(status, handle, doing: "prepare \"\(sql)\"")
    }
    let statement = SQLiteStatement(prepared, of: handle)
    statements.append((name, statement))
    return statement
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
  func begin() throws(StoreError) { try statement("BEGIN IMMEDIATE").finish() }

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

  /// Syncs every commit of every process that is in the log now.
  func syncLog() throws(StoreError) {
    try check(kept_sqlite_sync_log(handle), doing: "sync the store to the disk")
  }

  /// How many rows the last statement that changes rows has changed.
  var changedRows: Int64 { sqlite3_changes64(handle) }

  /// How long the log may grow before a commit copies it into the database.
  func checkpointsAutomatically(afterPages pages: Int32) { sqlite3_wal_autocheckpoint(handle, pages) }

  /// Closing will neither copy the log into the database nor remove it.
  func leaveLog() { kept_sqlite_configure(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1) }

  private func check(_ status: Int32, doing what: String) throws(StoreError) {
    guard status == SQLITE_OK else { throw StoreError.sqlite(status, handle, doing: what) }
  }
}

extension SQLiteConnection: OnConnection {
  var connection: SQLiteConnection { self }
}
