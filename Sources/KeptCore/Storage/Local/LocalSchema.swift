// The schema of values.sqlite: its tables, how they are created, and how a foreign or newer database is recognised.

import KeptSystem
import KeptValues

enum LocalSchema {
  /// "Kept" in ASCII; it identifies our databases.
  static let applicationID: Int64 = 0x4B65_7074
  /// The version of the format; another one is refused.
  static let version: Int64 = 1

  /// The limit on SQLite's work while a database is identified: a hundred times what one of ours takes.
  static let mostSteps: Int64 = 20_000

  // `entry` holds every key with its kind, value and revision; ValueColumns.swift describes `value`. The type ANY
  // keeps -0.0 and 5.0 as they are; a REAL column would not. Large values are in the table `large`, under the id that
  // the column `large` holds: SQLite compares keys of a table without row ids by reading whole rows, with all their
  // overflow pages. `declaration` holds the declarations of keys in canonical JSON, whether or not the keys are
  // stored, each with the revision that made it. `removed` has the revisions of keys that lost their value or their
  // declaration, above `floor`. `body` holds what frames of the journal name by an `id` instead of containing it:
  // StagedBodies.swift describes it. `store` has one row: the id of the store, the journal and the place up to which
  // its frames are settled, the revision and the schema version there, and after a salvage the place of the damaged
  // files (`quarantine`). The table `history` is made when the first change is settled: HistoryWriter.swift describes
  // it. Every connection parses the whole schema when it is opened, so each word costs time.
  static let creation = """
    \(SchemaPart.entry.sql);
    \(SchemaPart.large.sql);
    \(SchemaPart.declaration.sql);
    \(SchemaPart.removed.sql);
    \(SchemaPart.body.sql);
    \(SchemaPart.store.sql);
    INSERT INTO store VALUES (1, randomblob(16), 0, 0, 0, 0, 0, 0, NULL);
    PRAGMA application_id = \(applicationID);
    PRAGMA user_version = \(version);
    """

  /// Creates the tables in an empty database file, as one transaction.
  ///
  /// The file must be a draft, which is synced as a whole before it gets its name: nothing is synced here, nor by what
  /// the connection writes later.
  static func create(on connection: SQLiteConnection) throws(StoreError) {
    try connection.run("PRAGMA page_size = 4096")
    try connection.run("PRAGMA synchronous = OFF")
    connection.addChecksums()
    let mode = try connection.statement("PRAGMA journal_mode = WAL")
    let answer = try mode.first { mode.string(0) } ?? nil
    guard answer == "wal" else {
      throw StoreError(
        .unsupported, "the file system has no shared memory for SQLite's write-ahead log; put the store on a local disk"
      )
    }
    try connection.write { () throws(StoreError) in try connection.run(creation) }
    // Closing would do it too, but would hide a failure: the file would then be linked into place without its log.
    try connection.copyLog()
  }

  /// Begins a new database above a revision, in a write transaction; earlier removals count as changes at that
  /// revision.
  static func begin(
    above revision: Revision, schemaVersion: UInt32, _ connection: SQLiteConnection
  ) throws(StoreError) {
    let row = try connection.statement("UPDATE store SET revision = ?1, floor = ?1, schema_version = ?2")
    try row.bind(1, Int64(clamping: revision))
    try row.bind(2, Int64(schemaVersion))
    try row.finish()
  }

  /// Throws unless the database is ours, of a known version, and has Kept's tables and nothing else.
  ///
  /// Nothing from the file is executed before this check: everything executable is in its schema.
  static func check(_ connection: SQLiteConnection, path: String) throws(StoreError) {
    let judgement = try SchemaParts.judge(connection)
    // No other program has our complete schema.
    if case .known = judgement {} else { try checkOwner(connection, path: path) }
    let version = try connection.integer("PRAGMA user_version")
    guard version == Self.version else {
      throw StoreError(
        .unsupported,
        "\(shown: path) has format \(version), but this version of Kept knows format \(Self.version); open it with "
          + "the version that wrote it, or a later one")
    }
    switch judgement {
    case .known where !connection.hasChecksums:
      throw StoreError(
        .corrupt,
        "the pages of the database in \(shown: path) have lost their checksums; close it everywhere and open it "
          + "again to salvage the readable data")
    case .known: break
    case .altered(let name):
      throw StoreError(
        .corrupt,
        "the database in \(shown: path) is damaged: its table \(name) is missing or altered; close it everywhere and "
          + "open it again to salvage the readable data")
    case .foreign:
      let name = try SchemaParts.foreignName(connection) ?? "an object"
      throw StoreError(
        .unsupported,
        "the database in \(shown: path) contains \(name), which Kept did not create; move it to a database of "
          + "its own with the sqlite3 shell")
    }
  }

  /// Throws unless the application id of the database is ours.
  static func checkOwner(_ connection: SQLiteConnection, path: String) throws(StoreError) {
    let application = try connection.integer("PRAGMA application_id")
    guard application != applicationID else { return }
    guard try connection.integer("PRAGMA page_count") > 0 else {
      throw StoreError(.corrupt, "the database in \(shown: path) is empty: its contents are lost")
    }
    throw StoreError(
      .unsupported, "\(shown: path) is not a Kept store (application id \(application)); use another location")
  }
}

extension SQLiteConnection {
  /// Returns the integer result of a statement; 0 if it returns no row.
  func integer(_ sql: StaticString) throws(StoreError) -> Int64 {
    let statement = try statement(sql)
    return try statement.first { statement.integer(0) } ?? 0
  }
}
