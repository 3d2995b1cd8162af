// A prepared statement: bind, step, read columns.

import CSQLite
import KeptValues

/// A prepared statement of one connection.
///
/// Parameters count from 1, columns from 0, as in SQLite.
struct SQLiteStatement {
  private let statement: OpaquePointer
  private let connection: OpaquePointer

  init(_ statement: OpaquePointer, of connection: OpaquePointer) {
    self.statement = statement
    self.connection = connection
  }

  func bind(_ index: Int32, _ value: Int64) throws(StoreError) {
    try check(sqlite3_bind_int64(statement, index, value))
  }

  func bind(_ index: Int32, _ value: Double) throws(StoreError) {
    try check(sqlite3_bind_double(statement, index, value))
  }

  func bindNull(_ index: Int32) throws(StoreError) {
    try check(sqlite3_bind_null(statement, index))
  }

  func bind(_ index: Int32, text: ExactString) throws(StoreError) {
    try check(text.withBytes { kept_sqlite_bind_text(statement, index, $0.baseAddress, UInt64($0.count)) })
  }

  func bind(_ index: Int32, text: UnsafeBufferPointer<UInt8>) throws(StoreError) {
    try check(kept_sqlite_bind_text(statement, index, text.baseAddress, UInt64(text.count)))
  }

  /// Binds static text without a copy.
  func bind(_ index: Int32, constant text: StaticString) throws(StoreError) {
    try check(kept_sqlite_bind_lent_text(statement, index, text.utf8Start, UInt64(text.utf8CodeUnitCount)))
  }

  /// Binds text without a copy; it must stay in place until the statement has finished.
  func bind(_ index: Int32, lentText text: UnsafeBufferPointer<UInt8>) throws(StoreError) {
    try check(kept_sqlite_bind_lent_text(statement, index, text.baseAddress, UInt64(text.count)))
  }

  /// Binds bytes without a copy; they must stay in place until the statement has finished.
  func bind(_ index: Int32, lentBytes bytes: UnsafeBufferPointer<UInt8>) throws(StoreError) {
    try check(kept_sqlite_bind_lent_bytes(statement, index, bytes.baseAddress, UInt64(bytes.count)))
  }

  /// Binds what another statement has in a column of its row.
  func bind(_ index: Int32, copyOf rows: SQLiteStatement, _ column: Int32) throws(StoreError) {
    try check(sqlite3_bind_value(statement, index, rows.columnValue(column)))
  }

  /// Binds text that need not be UTF-8: it serves only as a bound for comparisons.
  func bind(_ index: Int32, textBytes: [UInt8]) throws(StoreError) {
    try check(
      textBytes.withUnsafeBufferPointer {
        kept_sqlite_bind_text(statement, index, $0.baseAddress, UInt64($0.count))
      })
  }

  func bind(_ index: Int32, bytes: [UInt8]) throws(StoreError) {
    try check(
      bytes.withUnsafeBufferPointer {
        kept_sqlite_bind_bytes(statement, index, $0.baseAddress, UInt64($0.count))
      })
  }

  /// The number of parameters.
  var parameters: Int32 { sqlite3_bind_parameter_count(statement) }

  /// Resets the step count of the statement, so that its next use has the whole limit: SQLite counts steps over all
  /// uses.
  func forgetWork() { sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1) }

  /// Moves to the next row; returns false, with the statement reset, if there is none.
  func step() throws(StoreError) -> Bool {
    let status = sqlite3_step(statement)
    switch status {
    case SQLITE_ROW:
      return true
    case SQLITE_DONE:
      reset()
      return false
    default:
      let error = StoreError.sqlite(status, connection, doing: "use the database")
      reset()
      throw error
    }
  }

  /// Runs a statement to its end.
  func finish() throws(StoreError) {
    while try step() {}
  }

  /// Binds the last parameter without a copy, and runs the statement to its end.
  func finish(_ index: Int32, lent text: ExactString) throws(StoreError) {
    try text.withBytes { text throws(StoreError) in
      try bind(index, lentText: text)
      try finish()
    }
  }

  /// Binds the last parameter to bytes without a copy, and runs the statement to its end.
  func finish(_ index: Int32, lent bytes: [UInt8]) throws(StoreError) {
    try bytes.withUnsafeBufferPointer { bytes throws(StoreError) in
      try bind(index, lentBytes: bytes)
      try finish()
    }
  }

  /// Reads the first row, if there is one.
  func first<Row>(_ read: () throws(StoreError) -> Row) throws(StoreError) -> Row? {
    guard try step() else { return nil }
    defer { reset() }
    return try read()
  }

  /// Visits all rows.
  @inline(never)
  func each(_ read: () throws(StoreError) -> Void) throws(StoreError) {
    defer { reset() }
    while try step() { try read() }
  }

  /// Reads all rows, without those for which `read` returns nil.
  func all<Row>(_ read: () throws(StoreError) -> Row?) throws(StoreError) -> [Row] {
    var rows: [Row] = []
    try each { () throws(StoreError) in
      try Memory.makeRoom(in: &rows, to: "list the stored keys")
      if let row = try read() { rows.append(row) }
    }
    return rows
  }

  /// Releases rows and locks, and clears the bindings.
  func reset() {
    sqlite3_reset(statement)
    sqlite3_clear_bindings(statement)
  }

  func finalize() { sqlite3_finalize(statement) }

  /// The type of a column: one of SQLITE_INTEGER, SQLITE_FLOAT, SQLITE_TEXT, SQLITE_BLOB and SQLITE_NULL.
  func type(_ column: Int32) -> Int32 { sqlite3_column_type(statement, column) }
  func isNull(_ column: Int32) -> Bool { type(column) == SQLITE_NULL }
  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }
  func double(_ column: Int32) -> Double { sqlite3_column_double(statement, column) }

  /// The content of a column in SQLite's memory, valid until the next step and in this thread only.
  func columnValue(_ column: Int32) -> OpaquePointer? { sqlite3_column_value(statement, column) }

  /// The number of bytes in the text or the blob of a column.
  func count(_ column: Int32) -> Int { Int(sqlite3_column_bytes(statement, column)) }

  /// Calls `body` with text or bytes in SQLite's own memory, valid until the next step; it allocates nothing.
  func withBytes<T, Failure: Error>(
    _ column: Int32, _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> T
  ) throws(Failure) -> T {
    let start = sqlite3_column_blob(statement, column)
    let count = Int(sqlite3_column_bytes(statement, column))
    return try body(
      UnsafeBufferPointer(start: start?.assumingMemoryBound(to: UInt8.self), count: start == nil ? 0 : count))
  }

  func bytes(_ column: Int32) -> [UInt8] { withBytes(column) { Array($0) } }

  /// Returns text; nil if the bytes are not UTF-8.
  func string(_ column: Int32) -> String? { withBytes(column) { String(exactly: $0) } }

  private func check(_ status: Int32) throws(StoreError) {
    guard status == SQLITE_OK else { throw StoreError.sqlite(status, connection, doing: "use the database") }
  }
}
