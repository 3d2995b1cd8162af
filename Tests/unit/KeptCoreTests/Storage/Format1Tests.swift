// Stores and backups of format 1, which Kept wrote before it had a journal.

import Foundation
import Testing

@testable import KeptCore

@Suite("A store of format 1")
final class Format1Tests {
  private let folder: TemporaryFolder
  private var path: String { folder.path + "/store" }
  private var database: String { path + "/values.sqlite" }

  init() throws {
    folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try make(database)
  }

  private func make(_ path: String, with extra: String = "") throws {
    try StoreFolder.makeFile(path)
    let connection = try SQLiteConnection(path: path, busyTimeoutMilliseconds: 0)
    try connection.run(
      """
      PRAGMA page_size = 1024;
      PRAGMA journal_mode = WAL;
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
      CREATE TABLE application (
        id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
        schema_version INTEGER NOT NULL
      ) STRICT;
      CREATE VIEW revision (number) AS
        SELECT max(floor, coalesce((SELECT max(revision) FROM change), 0)) FROM store;
      CREATE TRIGGER inserted_by_others AFTER INSERT ON entry BEGIN
        INSERT INTO change (revision, keys) SELECT number + 1, CAST(NEW.key AS BLOB) FROM revision;
        UPDATE entry SET revision = (SELECT number FROM revision) WHERE key = NEW.key;
      END;
      CREATE TRIGGER updated_by_others AFTER UPDATE OF kind, value ON entry BEGIN
        INSERT INTO change (revision, keys) SELECT number + 1, CAST(NEW.key AS BLOB) FROM revision;
        UPDATE entry SET revision = (SELECT number FROM revision) WHERE key = NEW.key;
      END;
      CREATE TRIGGER renamed_by_others AFTER UPDATE OF key ON entry BEGIN
        INSERT INTO change (revision, keys) SELECT number + 1, CAST(OLD.key || char(0) || NEW.key AS BLOB) \
      FROM revision;
        UPDATE entry SET revision = (SELECT number FROM revision) WHERE key = NEW.key;
      END;
      CREATE TRIGGER deleted_by_others AFTER DELETE ON entry BEGIN
        INSERT INTO change (revision, keys) SELECT number + 1, CAST(OLD.key AS BLOB) FROM revision;
      END;
      INSERT INTO store VALUES (1, 0, randomblob(16), NULL);
      INSERT INTO application VALUES (1, 3);
      INSERT INTO entry VALUES ('name', 'string', 'Ann', 4), ('volume', 'int', 70, 7);
      INSERT INTO declaration VALUES ('volume', '{"type":"integer"}');
      INSERT INTO change VALUES (7, CAST('volume' AS BLOB), NULL);
      PRAGMA application_id = 0x4B657074;
      PRAGMA user_version = 1;
      \(extra)
      """)
    try connection.copyLog()
  }

  private func expectContents(of store: Store) throws {
    #expect(try store.value(forKey: "name") == "Ann")
    #expect(try store.value(forKey: "volume") == 70)
    #expect(try store.declaration(forKey: "volume") != nil)
    #expect(throws: StoreError.self) { try store.set("loud", forKey: "volume") }
  }

  @Test func `is converted when it is opened, and keeps everything`() throws {
    let store = Store(storage: try LocalStorage(path: path))
    try expectContents(of: store)
    #expect(try store.currentRevision() == 7)
    #expect(try LocalStorage(path: path).schemaVersion() == 3)
    try store.set(71, forKey: "volume")
    store.close()
    #expect(try Store(storage: LocalStorage(path: path)).value(forKey: "volume") == 71)
  }

  @Test func `leaves a copy in backups that can be restored`() throws {
    let store = Store(storage: try LocalStorage(path: path))
    try store.set("Bob", forKey: "name")
    _ = try store.restore(from: path + "/backups/format-1.sqlite")
    try expectContents(of: store)
  }

  @Test func `is refused, and left as it is, with a table that is not Kept's`() throws {
    try FileManager.default.removeItem(atPath: database)
    try make(database, with: "CREATE TABLE other (a);")
    let before = try Data(contentsOf: URL(fileURLWithPath: database))
    let error = #expect(throws: StoreError.self) { try LocalStorage(path: path) }
    #expect(error?.code == .unsupported)
    #expect(try Data(contentsOf: URL(fileURLWithPath: database)) == before)
  }

  @Test func `is read without being converted where it cannot be written`() throws {
    let storage = try ReadOnlyStorage(StoreFolder(path: path))
    #expect(try storage.value(key("name")) == "Ann")
    #expect(try storage.schemaVersion() == 3)
    #expect(!FileManager.default.fileExists(atPath: path + "/backups"))
  }
}
