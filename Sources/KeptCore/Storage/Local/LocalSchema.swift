// The shape of values.sqlite: its tables, how a new one is made, and how a foreign or newer one is recognised.

enum LocalSchema {
  /// "Kept" in ASCII: tells our databases from everybody else's.
  static let applicationID: Int64 = 0x4B65_7074
  /// The version of the format.
  ///
  /// A higher one was written by a later Kept and is refused, never guessed at.
  static let version: Int64 = 1

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
  static let tables = """
    CREATE TABLE entry (
      key TEXT NOT NULL PRIMARY KEY,
      kind TEXT NOT NULL,
      value ANY NOT NULL,
      revision INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE declaration (
      key TEXT NOT NULL PRIMARY KEY,
      schema TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE change (
      revision INTEGER NOT NULL PRIMARY KEY,
      keys BLOB NOT NULL,
      tag TEXT
    ) STRICT;
    CREATE TABLE store (
      id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
      floor INTEGER NOT NULL,
      uuid BLOB NOT NULL,
      quarantine TEXT
    ) STRICT;
    INSERT INTO store VALUES (1, 0, randomblob(16), NULL);
    CREATE TRIGGER inserted_by_others AFTER INSERT ON entry BEGIN
      INSERT INTO change (keys) VALUES (CAST(NEW.key AS BLOB));
      UPDATE entry SET revision = last_insert_rowid() WHERE key = NEW.key;
    END;
    CREATE TRIGGER updated_by_others AFTER UPDATE OF key, kind, value ON entry BEGIN
      INSERT INTO change (keys) VALUES (CAST(OLD.key || char(0) || NEW.key AS BLOB));
      UPDATE entry SET revision = last_insert_rowid() WHERE key = NEW.key;
    END;
    CREATE TRIGGER deleted_by_others AFTER DELETE ON entry BEGIN
      INSERT INTO change (keys) VALUES (CAST(OLD.key AS BLOB));
    END;
    PRAGMA application_id = \(applicationID);
    PRAGMA user_version = \(version);
    """

  /// The table that is made when a program gives the store a schema version.
  private static let application = """
    CREATE TABLE IF NOT EXISTS application (
      id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
      schema_version INTEGER NOT NULL
    ) STRICT
    """

  /// Inside a write transaction.
  static func write(schemaVersion version: UInt32, _ connection: SQLiteConnection) throws(StoreError) {
    try connection.run(application)
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
    try connection.write { () throws(StoreError) in try connection.run(tables) }
    // Closing would do it too, and keep a failure to itself: the file would then be linked into place without its log.
    try connection.copyLog()
  }

  /// Throws unless the database is ours and of a version that we know.
  static func check(_ connection: SQLiteConnection, path: String) throws(StoreError) {
    let application = try connection.integer("PRAGMA application_id")
    let version = try connection.integer("PRAGMA user_version")
    guard application == applicationID else {
      guard try connection.integer("PRAGMA page_count") > 0 else {
        throw StoreError(.corrupt, "the database in \(path) is empty: what it held was cut off")
      }
      throw StoreError(
        .unsupported, "\(path) is not a store of Kept (application id \(application)); give another location")
    }
    guard version <= self.version else {
      throw StoreError(
        .unsupported,
        "\(path) has format \(version), and this Kept knows formats up to \(self.version); update Kept to open it")
    }
  }
}

extension SQLiteConnection {
  /// The integer that a statement answers; 0 where it answers nothing.
  func integer(_ sql: StaticString) throws(StoreError) -> Int64 {
    let statement = try statement(sql)
    return try statement.first { statement.integer(0) } ?? 0
  }
}
