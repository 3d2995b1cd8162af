// The shape of values.sqlite: its tables, how a new one is made, and how a foreign or newer one is recognised.

enum LocalSchema {
  /// "Kept" in ASCII: tells our databases from everybody else's.
  static let applicationID: Int64 = 0x4B65_7074
  /// The version of the format.
  ///
  /// A higher one was written by a later Kept and is refused, never guessed at.
  static let version: Int64 = 1

  // `entry` keeps every key with its kind, value and revision; ValueColumns.swift says what stands in `value`. ANY keeps
  // -0.0 and 5.0 as they are; a REAL column would not. Removed keys stay as tombstones, so that others learn of it.
  // `store` has one row: the count of commits, the newest revision of which a tombstone was pruned (`floor`), and what
  // tells this store from every other. Kept counts revisions by itself; the triggers count for whoever else writes, such
  // as the sqlite3 shell, so that such changes are commits like any other.
  static let tables = """
    CREATE TABLE entry (
      key TEXT NOT NULL PRIMARY KEY,
      kind TEXT NOT NULL,
      value ANY NOT NULL,
      revision INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX entry_by_revision ON entry (revision);
    CREATE INDEX removed_by_revision ON entry (revision) WHERE kind = 'removed';
    CREATE TABLE store (
      id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
      revision INTEGER NOT NULL,
      floor INTEGER NOT NULL,
      uuid BLOB NOT NULL
    ) STRICT;
    INSERT INTO store VALUES (1, 0, 0, randomblob(16));
    CREATE TRIGGER inserted_by_others AFTER INSERT ON entry WHEN NEW.revision = 0 BEGIN
      UPDATE store SET revision = revision + 1;
      UPDATE entry SET revision = (SELECT revision FROM store) WHERE key = NEW.key;
    END;
    CREATE TRIGGER updated_by_others AFTER UPDATE ON entry WHEN NEW.revision = OLD.revision BEGIN
      UPDATE store SET revision = revision + 1;
      UPDATE entry SET revision = (SELECT revision FROM store) WHERE key = NEW.key;
    END;
    CREATE TRIGGER deleted_by_others AFTER DELETE ON entry WHEN OLD.kind <> 'removed' BEGIN
      UPDATE store SET revision = revision + 1;
      INSERT INTO entry SELECT OLD.key, 'removed', unixepoch(), revision FROM store;
    END;
    PRAGMA application_id = \(applicationID);
    PRAGMA user_version = \(version);
    """

  /// Makes the tables in an empty database file, as one transaction.
  static func create(on connection: SQLiteConnection) throws(StoreError) {
    let mode = try connection.statement("PRAGMA journal_mode = WAL")
    let answer = try mode.first { mode.string(0) } ?? nil
    guard answer == "wal" else {
      throw StoreError(
        .unsupported, "the file system has no shared memory for SQLite's write-ahead log; put the store on a local disk"
      )
    }
    try connection.write { () throws(StoreError) in try connection.run(tables) }
  }

  /// Throws unless the database is ours and of a version that we know.
  static func check(_ connection: SQLiteConnection, path: String) throws(StoreError) {
    let application = try connection.integer("PRAGMA application_id")
    let version = try connection.integer("PRAGMA user_version")
    guard application == applicationID else {
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
