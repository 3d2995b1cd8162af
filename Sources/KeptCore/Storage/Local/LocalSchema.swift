// The schema of values.sqlite: its tables, how they are created, and how a foreign or newer database is recognised.

enum LocalSchema {
  /// "Kept" in ASCII; it identifies our databases.
  static let applicationID: Int64 = 0x4B65_7074
  /// The version of the format.
  ///
  /// A higher version was written by a later Kept and is refused.
  static let version: Int64 = 1

  /// The limit on SQLite's work while a database is identified: a hundred times what one of ours takes.
  static let mostSteps: Int64 = 20_000

  // `entry` holds every key with its kind, value and revision; ValueColumns.swift describes `value`. The type ANY keeps
  // -0.0 and 5.0 as they are; a REAL column would not. `declaration` holds the declarations of keys in canonical JSON,
  // whether or not the keys are stored. `change` is the log of commits: one row for each revision, with the keys that
  // it changed or declared, separated by NULs, which no key contains. A key that is listed there and missing in `entry`
  // was removed. The newest row gives the store's revision. `tag` is the name that the writer gives itself, if any.
  // `store` has one row: the revision up to which the log was truncated (`floor`), the id of the store, and after a
  // salvage the place of the damaged files (`quarantine`). The triggers are for other programs, such as the sqlite3
  // shell: they log what these change as a commit like any other, with the revision after that of the newest row.
  // Kept's own connections disable triggers and write the log themselves. But every connection parses the whole schema
  // when it is opened, so each word costs time. Databases that older versions created have longer triggers, and a view
  // that these use.
  static let creation = """
    \(SchemaPart.entry.sql);
    \(SchemaPart.declaration.sql);
    \(SchemaPart.change.sql);
    \(SchemaPart.store.sql);
    INSERT INTO store VALUES (1, 0, randomblob(16), NULL);
    \(SchemaPart.inserted.sql);
    \(SchemaPart.updated.sql);
    \(SchemaPart.deleted.sql);
    PRAGMA application_id = \(applicationID);
    PRAGMA user_version = \(version);
    """

  /// Stores the schema version of the program; runs inside a write transaction.
  static func write(schemaVersion version: UInt32, _ connection: SQLiteConnection) throws(StoreError) {
    if try connection.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'application'") == 0 {
      try connection.run("\(SchemaPart.application.sql)")
    }
    let row = try connection.statement("INSERT OR REPLACE INTO application (id, schema_version) VALUES (1, ?1)")
    try row.bind(1, Int64(version))
    try row.finish()
  }

  /// Creates the tables in an empty database file, as one transaction.
  static func create(on connection: SQLiteConnection) throws(StoreError) {
    // Each commit writes whole pages to the log, and values are small, so pages are small.
    try connection.run("PRAGMA page_size = 1024")
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

  /// Throws unless the database is ours, of a known version, and has Kept's tables and nothing else.
  ///
  /// Nothing from the file is executed before this check: everything executable is in its schema.
  static func check(_ connection: SQLiteConnection, path: String) throws(StoreError) {
    let judgement = try SchemaParts.judge(connection)
    // No other program has our complete schema.
    if case .known = judgement {} else { try checkOwner(connection, path: path) }
    let version = try connection.integer("PRAGMA user_version")
    guard version <= self.version else {
      throw StoreError(
        .unsupported,
        "\(path) has format \(version), and this Kept knows formats up to \(self.version); update Kept to open it")
    }
    switch judgement {
    case .known: break
    case .altered(let name):
      throw StoreError(
        .corrupt,
        "the database in \(path) does not have \(name) as Kept makes it; close it everywhere and open it again, and "
          + "what can be read is salvaged")
    case .foreign:
      let name = try SchemaParts.foreignName(connection) ?? "something"
      throw StoreError(
        .unsupported,
        "the database in \(path) holds \(name), which is not Kept's; remove it with the sqlite3 shell, and keep it in "
          + "a database of its own")
    }
  }

  /// Throws unless the application id of the database is ours.
  static func checkOwner(_ connection: SQLiteConnection, path: String) throws(StoreError) {
    let application = try connection.integer("PRAGMA application_id")
    guard application != applicationID else { return }
    guard try connection.integer("PRAGMA page_count") > 0 else {
      throw StoreError(.corrupt, "the database in \(path) is empty: what it held was cut off")
    }
    throw StoreError(
      .unsupported, "\(path) is not a store of Kept (application id \(application)); give another location")
  }
}

extension SQLiteConnection {
  /// Returns the integer result of a statement; 0 if it returns no row.
  func integer(_ sql: StaticString) throws(StoreError) -> Int64 {
    let statement = try statement(sql)
    return try statement.first { statement.integer(0) } ?? 0
  }
}
