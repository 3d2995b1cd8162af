// A change made with the sqlite3 shell is a commit like any other: in a new store, in one that was salvaged or copied,
// and in one that an older version created.

import Foundation
import Testing

@testable import KeptCore

@Suite struct `What the sqlite3 shell writes` {
  let folder: TemporaryFolder
  let path: String
  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/store"
  }

  @Test func `has the revision of its commit`() throws {
    let storage = try LocalStorage(path: path)
    try storage.commit(key("a"), .set(1))
    storage.close()
    try check(from: 1)
  }

  @Test func `has a revision above all that were given out before a salvage`() throws {
    let storage = try LocalStorage(path: path)
    try storage.commit(key("a"), .set(1))
    storage.close()
    let database = URL(fileURLWithPath: path + "/values.sqlite")
    var bytes = try Data(contentsOf: database)
    bytes[0] = 0
    try bytes.write(to: database)
    let salvaged = try LocalStorage(path: path)
    try #require(try salvaged.salvaged() != nil)
    let revision = try salvaged.revision()
    #expect(try salvaged.changes(after: revision - 1) == .tooOld)
    salvaged.close()
    try check(from: revision)
  }

  @Test func `has a revision above those of the store that was copied`() throws {
    let memory = try Store.open("memory:")
    for value in 1...3 { try memory.set(.int(Int64(value)), forKey: "a") }
    try memory.backup(to: path + "/")
    let storage = try LocalStorage(path: path)
    #expect(try storage.revision() == 3)
    #expect(try storage.changes(after: 2) == .tooOld, "the copy has no log")
    #expect(try storage.changes(after: 3) == .changed(Delta([], upTo: 3)))
    storage.close()
    try check(from: 3)
  }

  @Test func `is logged by the longer triggers of an older store, too`() throws {
    try LocalStorage(path: path).close()
    try shell("drop trigger inserted_by_others; drop trigger updated_by_others; drop trigger deleted_by_others")
    try shell(Self.oldTriggers)
    let storage = try LocalStorage(path: path)
    try storage.commit(key("a"), .set(1))
    storage.close()
    try check(from: 1)
  }

  /// Changes a store, while it is closed and while it is open.
  private func check(from start: Revision) throws {
    try shell("insert or replace into entry (key, kind, value) values ('a', 'int', 1)")
    try shell("insert into entry (key, kind, value) values ('b', 'int', 1)")
    let storage = try LocalStorage(path: path)
    try shell("update entry set value = 2, kind = 'int' where key = 'b'")
    try shell("update entry set key = 'c' where key = 'a'")
    #expect(try storage.revision() == start + 4)
    #expect(try storage.entry(for: key("b")) == Entry(value: 2, revision: start + 3))
    #expect(try storage.entry(for: key("c")) == Entry(value: 1, revision: start + 4))
    try shell("delete from entry where key = 'b'")
    #expect(conflict { try storage.commit(key("x"), .set(1), .unchanged(key("b"), after: start + 4)) })
    let delta = Delta(
      [
        KeyedEntry(key: try key("a"), entry: Entry(value: nil, revision: start + 4)),
        KeyedEntry(key: try key("c"), entry: Entry(value: 1, revision: start + 4)),
        KeyedEntry(key: try key("b"), entry: Entry(value: nil, revision: start + 5)),
      ], upTo: start + 5)
    #expect(try storage.changes(after: start) == .changed(delta))
    #expect(try storage.commit(key("d"), .set(1)).revision == start + 6)
  }

  private func shell(_ statements: String) throws {
    _ = try run("/usr/bin/sqlite3", path + "/values.sqlite", statements)
  }

  private static let oldTriggers = """
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
      INSERT INTO change (revision, keys) SELECT number + 1, CAST(OLD.key || char(0) || NEW.key AS BLOB) FROM revision;
      UPDATE entry SET revision = (SELECT number FROM revision) WHERE key = NEW.key;
    END;
    CREATE TRIGGER deleted_by_others AFTER DELETE ON entry BEGIN
      INSERT INTO change (revision, keys) SELECT number + 1, CAST(OLD.key AS BLOB) FROM revision;
    END;
    """
}
