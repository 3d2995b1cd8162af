// The shape of values.sqlite: its tables, how a new one is made, and how a foreign or newer one is recognised.

enum LocalSchema {
  /// "Kept" in ASCII: tells our databases from everybody else's.
  static let applicationID: Int64 = 0x4B65_7074
  /// The version of the format.
  ///
  /// A higher one was written by a later Kept and is refused, never guessed at.
  static let version: Int64 = 1

  /// How much work it may be to learn what a database is: a hundred times what one of ours takes.
  static let mostSteps: Int64 = 20_000

  // `entry` keeps every key with its kind, value and revision; ValueColumns.swift says what stands in `value`. ANY
  // keeps -0.0 and 5.0 as they are; a REAL column would not. `declaration` says in canonical JSON what keys are
  // declared as, be they stored or not. `change` is the log of commits: one row for each revision, with the keys that
  // it changed or declared, divided by NULs, which no key holds. A key that stands there and not in `entry` was
  // removed. Its newest row gives the store's revision. `tag` is what the writer calls itself, if anything. `store`
  // has one row: the revision up to which the log was cut off (`floor`), what tells this store from others, and after
  // a salvage where the damaged files are (`quarantine`). The triggers are for whoever else writes, such as the
  // sqlite3 shell: they log what that changes, so that it is a commit like any other, with the revision after the
  // newest row's. Kept's own connections have triggers switched off, and log by themselves. But every connection parses
  // all of this when it is opened, so each word costs: databases that older versions made have longer triggers, and a
  // view that these asked.
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

  /// Inside a write transaction.
  static func write(schemaVersion version: UInt32, _ connection: SQLiteConnection) throws(StoreError) {
    if try connection.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'application'") == 0 {
      try connection.run("\(SchemaPart.application.sql)")
    }
    let row = try connection.statement("INSERT OR REPLACE INTO application (id, schema_version) VALUES (1, ?1)")
    try row.bind(1, Int64(version))
    try row.finish()
  }

  /// Makes the tables in an empty database file, as one transaction.
  static func create(on connection: SQLiteConnection) throws(StoreError) {
    // Each commit writes whole pages to the log: small ones suit small values.
    try connection.run("PRAGMA page_size = 1024")
    let mode = try connection.statement("PRAGMA journal_mode = WAL")
    let answer = try mode.first { mode.string(0) } ?? nil
    guard answer == "wal" else {
      throw StoreError(
        .unsupported, "the file system has no shared memory for SQLite's write-ahead log; put the store on a local disk"
      )
    }
    try connection.write { () throws(StoreError) in try connection.run(creation) }
    // Closing would do it too, and keep a failure to itself: the file would then be linked into place without its log.
    try connection.copyLog()
  }

  /// Throws unless the database is ours, of a version that we know, and has Kept's tables and nothing else.
  ///
  /// Nothing that the file says is run before: what could be run, it says in its schema.
  static func check(_ connection: SQLiteConnection, path: String) throws(StoreError) {
    let judgement = try SchemaParts.judge(connection)
    // No other program has a whole schema of ours.
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

  /// Throws unless the database says that it is ours.
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
  /// The integer that a statement answers; 0 where it answers nothing.
  func integer(_ sql: StaticString) throws(StoreError) -> Int64 {
    let statement = try statement(sql)
    return try statement.first { statement.integer(0) } ?? 0
  }
}
