// Format 1, which had SQLite in the path of every commit: a log of commits as a table, and triggers for other programs.
// A store of that format is converted when it is opened alone.

import CPlatform

/// Converts a database of format 1.
struct Format1 {
  private let folder: StoreFolder
  private let connection: SQLiteConnection

  /// Converts the database in a folder; false if it has another format, or is damaged.
  ///
  /// This process has the store alone.
  ///
  /// Throws `busy` if a program has it open that knows only format 1, and `unsupported` if the database holds anything
  /// that is not Kept's. A copy of what was there stays in `backups`.
  static func convert(_ folder: StoreFolder, waiting milliseconds: Int) throws(StoreError) -> Bool {
    do throws(StoreError) { return try look(folder, waiting: milliseconds) } catch {
      // What is damaged is salvaged, whatever its format.
      guard error.code == .corrupt else { throw error }
      return false
    }
  }

  private static func look(_ folder: StoreFolder, waiting milliseconds: Int) throws(StoreError) -> Bool {
    // SQLite would remove the log of an empty database.
    if try folder.isCutToNothing() { return false }
    let connection = try SQLiteConnection(path: folder.database, busyTimeoutMilliseconds: milliseconds)
    // What is converted is replaced with its log, and everything else is left as it is.
    connection.leaveLog()
    connection.limitWork(steps: LocalSchema.mostSteps)
    guard try connection.integer("PRAGMA user_version") == 1 else { return false }
    try Format1(folder: folder, connection: connection).convert(waiting: milliseconds)
    return true
  }

  /// Converts a copy in memory, of a backup or of a store that may only be read; false if it is not one of format 1.
  static func convert(copy connection: SQLiteConnection, of size: Int) throws(StoreError) -> Bool {
    connection.limitWork(steps: LocalSchema.mostSteps)
    defer { connection.limitWork(steps: 0) }
    // The check of the schema says what is wrong with it.
    guard try connection.integer("PRAGMA user_version") == 1, try isKnown(connection) else { return false }
    connection.limitWork(steps: Int64(size) * 20 + LocalSchema.mostSteps)
    try connection.write { () throws(StoreError) in try connection.run(steps) }
    return true
  }

  private func convert(waiting milliseconds: Int) throws(StoreError) {
    guard try Self.isKnown(connection) else {
      throw StoreError(
        .unsupported,
        "the database in \(folder.path) has format 1 and holds something that is not Kept's; remove it with the "
          + "sqlite3 shell, and open the store again")
    }
    connection.limitWork(steps: 0)
    // Programs that know only format 1 hold a lock on the pulse.
    let descriptor = try OpenFolder.own(folder.path).openOrMake(PulseFile.name, O_RDWR)
    let lock = FileLock(descriptor: descriptor)
    defer { lock.close() }
    guard lock.take(waiting: milliseconds) else {
      throw StoreError(
        .busy,
        "the store in \(folder.path) has format 1, and programs that know no other have it open; close them and "
          + "try again")
    }
    try setCopyAside()
    try Salvage(folder).replace { draft throws(StoreError) in
      // The pages of format 1 have no room for checksums, those of a copy have.
      try connection.copy(into: draft)
      let copy = try SQLiteConnection(path: draft, busyTimeoutMilliseconds: 0)
      try copy.run("PRAGMA journal_mode = WAL")
      try copy.write { () throws(StoreError) in try copy.run(Self.steps) }
      try copy.copyLog()
    }
  }

  /// Whether the schema is that of format 1, and nothing else.
  private static func isKnown(_ connection: SQLiteConnection) throws(StoreError) -> Bool {
    let rows = try connection.statement("SELECT sql FROM sqlite_schema")
    defer { rows.reset() }
    var isKnown = true
    while try rows.step() { isKnown = isKnown && parts.contains(rows.string(0) ?? "") }
    return isKnown
  }

  private func setCopyAside() throws(StoreError) {
    let path = folder.path + "/backups"
    guard kept_make_folder(path) == 0 || kept_errno() == EEXIST else { throw .system("make the folder", path) }
    let copy = path + "/format-1.sqlite"
    guard FileStatus(of: copy) == nil else { return }
    let draft = path + "/" + StoreFolder.draftName()
    try StoreFolder.makeFile(draft)
    try connection.copy(into: draft)
    try StoreFolder.sync(draft)
    guard rename(draft, copy) == 0 else { throw .system("put a copy into", path) }
    try StoreFolder.sync(folder: path)
  }

  // The revisions of keys that were removed are unknown: they count as changed at the revision of the conversion.
  private static let steps = """
    DROP TRIGGER inserted_by_others;
    DROP TRIGGER updated_by_others;
    DROP TRIGGER deleted_by_others;
    DROP TRIGGER IF EXISTS renamed_by_others;
    DROP VIEW IF EXISTS revision;
    CREATE TABLE IF NOT EXISTS application (id INTEGER, schema_version INTEGER);
    ALTER TABLE entry RENAME TO entry_1;
    ALTER TABLE declaration RENAME TO declaration_1;
    ALTER TABLE store RENAME TO store_1;
    \(SchemaPart.entry.sql);
    \(SchemaPart.large.sql);
    \(SchemaPart.declaration.sql);
    \(SchemaPart.removed.sql);
    \(SchemaPart.body.sql);
    \(SchemaPart.store.sql);
    INSERT INTO store
      SELECT 1, uuid, number, 0, 0, 0, coalesce((SELECT schema_version FROM application), 0), number, quarantine
      FROM (SELECT *, max(floor, coalesce((SELECT max(revision) FROM change), 0)) AS number FROM store_1);
    INSERT INTO entry SELECT key, kind, value, NULL, revision FROM entry_1;
    INSERT INTO declaration SELECT key, schema, (SELECT revision FROM store) FROM declaration_1;
    DROP TABLE entry_1;
    DROP TABLE declaration_1;
    DROP TABLE store_1;
    DROP TABLE change;
    DROP TABLE application;
    PRAGMA user_version = \(LocalSchema.version);
    """

  /// Every text that Kept has written into the schema of format 1.
  private static let parts: Set<String> = [
    """
    CREATE TABLE entry (
      key TEXT NOT NULL PRIMARY KEY,
      kind TEXT NOT NULL,
      value ANY NOT NULL,
      revision INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE declaration (
      key TEXT NOT NULL PRIMARY KEY,
      schema TEXT NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE change (
      revision INTEGER NOT NULL PRIMARY KEY,
      keys BLOB NOT NULL,
      tag TEXT
    ) STRICT
    """,
    """
    CREATE TABLE store (
      id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
      floor INTEGER NOT NULL,
      uuid BLOB NOT NULL,
      quarantine TEXT
    ) STRICT
    """,
    """
    CREATE TABLE application (
      id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
      schema_version INTEGER NOT NULL
    ) STRICT
    """,
    """
    CREATE TRIGGER inserted_by_others AFTER INSERT ON entry BEGIN
      INSERT INTO change (keys) VALUES (CAST(NEW.key AS BLOB));
      UPDATE entry SET revision = last_insert_rowid() WHERE key = NEW.key;
    END
    """,
    """
    CREATE TRIGGER updated_by_others AFTER UPDATE OF key, kind, value ON entry BEGIN
      INSERT INTO change (keys) VALUES (CAST(OLD.key || char(0) || NEW.key AS BLOB));
      UPDATE entry SET revision = last_insert_rowid() WHERE key = NEW.key;
    END
    """,
    """
    CREATE TRIGGER deleted_by_others AFTER DELETE ON entry BEGIN
      INSERT INTO change (keys) VALUES (CAST(OLD.key AS BLOB));
    END
    """,
    """
    CREATE VIEW revision (number) AS
      SELECT max(floor, coalesce((SELECT max(revision) FROM change), 0)) FROM store
    """,
    """
    CREATE TRIGGER inserted_by_others AFTER INSERT ON entry BEGIN
      INSERT INTO change (revision, keys) SELECT number + 1, CAST(NEW.key AS BLOB) FROM revision;
      UPDATE entry SET revision = (SELECT number FROM revision) WHERE key = NEW.key;
    END
    """,
    """
    CREATE TRIGGER updated_by_others AFTER UPDATE OF kind, value ON entry BEGIN
      INSERT INTO change (revision, keys) SELECT number + 1, CAST(NEW.key AS BLOB) FROM revision;
      UPDATE entry SET revision = (SELECT number FROM revision) WHERE key = NEW.key;
    END
    """,
    """
    CREATE TRIGGER renamed_by_others AFTER UPDATE OF key ON entry BEGIN
      INSERT INTO change (revision, keys) SELECT number + 1, CAST(OLD.key || char(0) || NEW.key AS BLOB) \
    FROM revision;
      UPDATE entry SET revision = (SELECT number FROM revision) WHERE key = NEW.key;
    END
    """,
    """
    CREATE TRIGGER deleted_by_others AFTER DELETE ON entry BEGIN
      INSERT INTO change (revision, keys) SELECT number + 1, CAST(OLD.key AS BLOB) FROM revision;
    END
    """,
  ]
}
