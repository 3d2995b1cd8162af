// Databases that another program has created or altered: nothing in their schema is executed. A store with an altered
// table is damaged, and salvaged; one with foreign tables is refused; a backup is refused in both cases.

import Foundation
@testable import KeptSchema
@testable import KeptValues
import Testing

@testable import KeptCore

/// The statements that alter a database with the sqlite3 shell.
private struct Attack: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let sql: String
  /// The error for a backup that was altered like this.
  ///
  /// A store fails with the same error, or is salvaged if it is corrupt.
  let code: StoreError.Code

  init(_ name: String, _ code: StoreError.Code, _ sql: String) {
    (testDescription, self.code, self.sql) = (name, code, sql)
  }

  private static let endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i FROM n)"

  static let all = [
    Attack(
      "a view in place of the store's row", .corrupt,
      "DROP TABLE store; "
        + "CREATE VIEW store (id, uuid, revision, quarantine) AS \(endless) SELECT 1, 1, max(i), 1 FROM n;"
    ),
    Attack(
      "a view in place of the entries", .corrupt,
      "DROP TABLE entry; CREATE VIEW entry (key, kind, value, revision) AS \(endless) SELECT 'a', 'int', i, 1 FROM n;"),
    Attack(
      "a view in place of the removals", .corrupt,
      "DROP TABLE removed; CREATE VIEW removed (key, revision) AS \(endless) SELECT 'k1', i FROM n;"),
    Attack(
      "a generated column", .corrupt,
      """
      ALTER TABLE declaration RENAME TO old;
      CREATE TABLE declaration (key TEXT NOT NULL PRIMARY KEY, schema TEXT AS (printf('%*c', 100000000, key)));
      DROP TABLE old;
      """),
    Attack("a column more", .corrupt, "ALTER TABLE entry ADD COLUMN more TEXT;"),
    Attack("a table more", .unsupported, "CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1);"),
    Attack("a view more", .unsupported, "CREATE VIEW theirs AS SELECT * FROM entry;"),
    Attack("a trigger more", .unsupported, "\(trigger("theirs"));"),
    Attack("an index over an expression", .unsupported, "CREATE INDEX theirs ON entry (length(value));"),
    Attack("statistics", .unsupported, "ANALYZE;"),
    Attack(
      "3,000 tables", .unsupported, "BEGIN;" + (1...3000).map { "CREATE TABLE t\($0) (a);" }.joined() + "COMMIT;"),
  ]

  private static func trigger(_ name: String) -> String {
    "CREATE TRIGGER \(name) AFTER DELETE ON entry BEGIN DELETE FROM removed; END"
  }
}

@Suite(.timeLimit(.minutes(30))) struct `A hostile database` {
  let folder: TemporaryFolder
  let path: String
  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/store"
    let storage = try LocalStorage(path: path)
    for index in 0..<20 { try storage.commit(key("k\(index)"), .set(.int(Int64(index)))) }
    storage.close()
  }

  private func shell(_ statements: String) throws {
    let script = folder.path + "/script.sql"
    try Data(statements.utf8).write(to: URL(fileURLWithPath: script))
    try KeptCoreTests.shell(path + "/values.sqlite", ".read '\(script)'")
  }

  private var isQuarantined: Bool { FileManager.default.fileExists(atPath: path + "/quarantine") }

  @Test(arguments: Attack.all) private func `is salvaged or refused as a store`(attack: Attack) throws {
    try shell(attack.sql)
    guard attack.code == .corrupt else {
      let error = #expect(throws: StoreError.self) { try LocalStorage(path: path) }
      #expect(error?.code == attack.code, "\(error?.description ?? "")")
      #expect(!isQuarantined)
      return
    }
    let storage = try LocalStorage(path: path)
    #expect(try storage.salvaged() != nil)
    let keys = try storage.keys(prefix: "")
    // The frames that are still in the ring bring back the dropped rows.
    #expect(keys.count == 20)
    for key in keys { #expect(try storage.value(key) != nil) }
    #expect(try storage.commit(key("new"), .set(1)).revision > 1 << 40)
    storage.close()
    try LocalStorage(path: path).close()
  }

  @Test(arguments: Attack.all) private func `is refused as a backup, and nothing is changed`(attack: Attack) throws {
    let store = try Store.open("memory:")
    try store.set(7, forKey: "mine")
    try shell(attack.sql)
    let error = #expect(throws: StoreError.self) { try store.restore(from: path) }
    #expect(error?.code == attack.code, "\(error?.description ?? "")")
    #expect(error?.message.contains("cannot be read") == true)
    #expect(try store.keys() == ["mine"])
  }

  static let damagedDeclarations = [
    "no json", "", #"{"type":"integer"} x"#, #"{"type":"integer"}},"values":{"a":1"#, "[]", "7",
    String(repeating: "[", count: 5000) + String(repeating: "]", count: 5000),
  ]

  @Test(arguments: damagedDeclarations)
  func `never becomes a part of an export by the text of a declaration`(_ text: String) throws {
    let declared = try Store.open(path)
    for name in ["k0", "k1"] { try declared.declare(Declaration(json: #"{"type":"integer"}"#), forKey: name) }
    declared.close()
    try shell("UPDATE declaration SET schema = '\(text)' WHERE key = CAST('k1' AS BLOB) OR key = 'k1'")

    let store = try Store.open(path)
    #expect(code { try store.declarations() } == .corrupt)
    #expect(code { try store.declaration(forKey: "k1") } == .corrupt)
    #expect(code { try store.snapshot().declarations() } == .corrupt)
    #expect(code { try store.export(ExportOptions(includesDeclarations: true)) } == .corrupt)
    #expect(code { try store.set(1, forKey: "k1") } == .corrupt)
    let rest = try store.export(ExportOptions(includesDeclarations: true, leavesOutUnreadable: true))
    #expect(try Value(json: rest).asDictionary?["declarations"]?.asDictionary?.count == 1)
    #expect(code { try Store.open("memory:").restore(from: path) } == .corrupt)
    try store.declare(Declaration(json: #"{"type":"integer"}"#), forKey: "k1")
    #expect(try store.declarations().declarations.count == 2)
    try store.set(1, forKey: "k1")
  }

  @Test func `names the obstacle, and opens when it is gone`() throws {
    try shell("CREATE TABLE theirs (a)")
    let error = #expect(throws: StoreError.self) { try LocalStorage(path: path) }
    #expect(error?.message.contains("the table \"theirs\"") == true)
    try shell("DROP TABLE theirs")
    #expect(try LocalStorage(path: path).keys(prefix: "").count == 20)
  }

  @Test func `is noticed by every connection, also of a store that is open`() throws {
    let storage = try LocalStorage(path: path)
    #expect(try storage.keys(prefix: "").count == 20)
    let other = try SQLiteConnection(path: path + "/values.sqlite", busyTimeoutMilliseconds: 0)
    try other.run("CREATE VIEW theirs AS SELECT * FROM entry")
    // Settling and copying open new connections.
    try storage.commit(key("new"), .set(1))
    #expect(code { try storage.copy(into: folder.path + "/copy") } == .unsupported)
    #expect(try storage.value(key("new")) == 1)
    storage.close()
    try shell("DROP VIEW theirs")
    #expect(try LocalStorage(path: path).value(key("new")) == 1)
  }

  @Test(arguments: [Int64.max, 3 << 61, -1, Int64.min])
  func `cannot keep others from writing by a revision out of range`(revision: Int64) throws {
    try shell("UPDATE store SET revision = \(revision)")
    let storage = try LocalStorage(path: path)
    #expect(try storage.salvaged() != nil)
    #expect(try storage.keys(prefix: "").count == 20)
    let revision = try storage.commit(key("new"), .set(1)).revision
    #expect(revision < 1 << 62)
    storage.close()
    let again = try LocalStorage(path: path)
    #expect(try again.commit(key("newer"), .set(1)).revision == revision + 1)
  }

  @Test(arguments: [
    "floor = -1", "floor = 9223372036854775807", "position = 7", "position = -8", "checksum = -1",
    "schema_version = 4294967296",
  ])
  func `is salvaged where its row says what cannot be`(sql: String) throws {
    try shell("UPDATE store SET \(sql)")
    let storage = try LocalStorage(path: path)
    #expect(try storage.salvaged() != nil)
    #expect(try storage.keys(prefix: "").count == 20)
    #expect(try storage.commit(key("new"), .set(1)).revision < 1 << 62)
  }

  @Test(arguments: [Int64.max, -1]) func `has no entry at such a revision`(revision: Int64) throws {
    try shell("UPDATE entry SET revision = \(revision) WHERE key = 'k3'")
    let storage = try LocalStorage(path: path)
    #expect(try storage.salvaged() == nil)
    #expect(code { try storage.value(key("k3")) } == .corrupt)
    #expect(try storage.commit(key("k3"), .set(4)).revision == 21, "a write repairs it")
    #expect(try storage.value(key("k3")) == 4)
    #expect(try storage.keys(prefix: "").count == 20)
    storage.close()
    try shell("UPDATE entry SET revision = \(revision) WHERE key = 'k3'")
    let store = try Store.open("memory:")
    #expect(code { try store.restore(from: path) } == .corrupt)
  }
}
