// Every text that Kept writes into sqlite_schema, and how the schema of a database is compared with them. SQLite
// executes the texts in the schema, so a view in place of a table, an index over an endless expression or a foreign
// trigger is refused before the first query of any table.

import CPlatform
import KeptValues

/// A table of Kept, as its text in `sqlite_schema`.
enum SchemaPart: Int, CaseIterable {
  // In the order of their creation.
  case entry, large, declaration, removed, body, store, history

  var name: StaticString {
    switch self {
    case .entry: "entry"
    case .large: "large"
    case .declaration: "declaration"
    case .removed: "removed"
    case .body: "body"
    case .store: "store"
    case .history: "history"
    }
  }

  // No word, space or line of these may change: existing databases contain them as they are.
  var sql: StaticString {
    switch self {
    case .entry:
      """
      CREATE TABLE entry (
        key TEXT NOT NULL PRIMARY KEY,
        kind TEXT NOT NULL,
        value ANY,
        large INTEGER,
        revision INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID
      """
    case .large:
      """
      CREATE TABLE large (
        id INTEGER NOT NULL PRIMARY KEY,
        value ANY NOT NULL
      ) STRICT
      """
    case .declaration:
      """
      CREATE TABLE declaration (
        key TEXT NOT NULL PRIMARY KEY,
        schema TEXT NOT NULL,
        revision INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID
      """
    case .removed:
      """
      CREATE TABLE removed (
        key TEXT NOT NULL PRIMARY KEY,
        revision INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID
      """
    case .body:
      """
      CREATE TABLE body (
        id INTEGER NOT NULL,
        key TEXT NOT NULL,
        kind TEXT,
        value ANY,
        schema TEXT,
        PRIMARY KEY (id, key)
      ) STRICT, WITHOUT ROWID
      """
    case .store:
      """
      CREATE TABLE store (
        id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
        uuid BLOB NOT NULL,
        revision INTEGER NOT NULL,
        journal INTEGER NOT NULL,
        position INTEGER NOT NULL,
        checksum INTEGER NOT NULL,
        schema_version INTEGER NOT NULL,
        floor INTEGER NOT NULL,
        quarantine TEXT
      ) STRICT
      """
    case .history:
      """
      CREATE TABLE history (
        id INTEGER NOT NULL PRIMARY KEY,
        revision INTEGER NOT NULL,
        time INTEGER NOT NULL,
        bytes INTEGER NOT NULL,
        changes ANY
      ) STRICT
      """
    }
  }
}

/// The set of parts of Kept's schema that a database has.
struct SchemaParts: Equatable {
  private var bits: UInt = 0

  private init(_ parts: SchemaPart...) { for part in parts { insert(part) } }

  private mutating func insert(_ part: SchemaPart) { bits |= 1 << UInt(part.rawValue) }

  private func contains(_ part: SchemaPart) -> Bool { bits & 1 << UInt(part.rawValue) != 0 }

  private func isSuperset(of other: SchemaParts) -> Bool { bits & other.bits == other.bits }

  /// The parts that every store has; settling adds the history.
  private static var present: SchemaParts { SchemaParts(.entry, .large, .declaration, .removed, .body, .store) }

  /// How a schema compares with those that Kept writes.
  enum Assessment {
    case known
    /// A part of Kept's schema is different or missing: this is damage.
    case altered(String)
    /// All parts of Kept's schema are there, and something else.
    case foreign
  }

  static func judge(_ connection: SQLiteConnection) throws(StoreError) -> Assessment {
    var found = SchemaParts()
    var isForeign = false
    // One column only, because opening waits for this query.
    guard let rows = try connection.statement(ifThere: "SELECT sql FROM sqlite_schema") else {
      // The text of the query is correct, so the header is the cause: another version of the schema's format, or
      // another encoding.
      throw StoreError(
        .unsupported,
        "SQLite does not know the format of the database; open it with a newer SQLite, or restore a backup")
    }
    defer { rows.reset() }
    while try rows.step() {
      // SQLite itself has compared a row's other columns with its text.
      let part = rows.withBytes(0, SchemaPart.init(sql:))
      if let part, !found.contains(part) { found.insert(part) } else { isForeign = true }
    }
    guard found.isSuperset(of: present) else { return .altered(Self.missing(found)) }
    return isForeign ? .foreign : .known
  }

  /// Returns the name of an object in the schema that is not Kept's.
  static func foreignName(_ connection: SQLiteConnection) throws(StoreError) -> String? {
    let rows = try connection.statement("SELECT sql, type, name FROM sqlite_schema")
    defer { rows.reset() }
    while try rows.step() {
      guard rows.withBytes(0, SchemaPart.init(sql:)) == nil else { continue }
      return "the \(rows.string(1) ?? "thing") \"\(rows.string(2) ?? "")\""
    }
    return nil
  }

  /// Repairs the texts of tables and removes everything else from the schema, in a transaction that is never committed.
  ///
  /// The rows of a table exist even if its text is damaged. A table is identified by its name, else by its position.
  static func restore(_ connection: SQLiteConnection) throws(StoreError) {
    let tables = SchemaPart.allCases
    let known = tables.map { "'\($0.sql)'" }.joined(separator: ", ")
    for part in tables {
      let place = part.rawValue + 1
      try connection.run(
        """
        UPDATE sqlite_schema SET type = 'table', name = '\(part.name)', tbl_name = '\(part.name)', sql = '\(part.sql)'
        WHERE ifnull(sql, '') NOT IN (\(known))
          AND rowid = coalesce((SELECT rowid FROM sqlite_schema WHERE name = '\(part.name)'), \(place))
        """)
    }
    try connection.run("DELETE FROM sqlite_schema WHERE ifnull(sql, '') NOT IN (\(known))")
    try connection.reloadSchema()
  }

  private static func missing(_ found: SchemaParts) -> String {
    let part = SchemaPart.allCases.first { present.contains($0) && !found.contains($0) }
    return "\"\(part?.name ?? "")\""
  }
}

extension SchemaPart {
  /// Returns the part that has exactly this text.
  fileprivate init?(sql: UnsafeBufferPointer<UInt8>) {
    guard let start = sql.baseAddress else { return nil }
    // The list of all cases is avoided: it would be allocated again for each text.
    var number = 0
    while let part = SchemaPart(rawValue: number) {
      let known = part.sql
      if known.utf8CodeUnitCount == sql.count, memcmp(known.utf8Start, start, sql.count) == 0 {
        self = part
        return
      }
      number += 1
    }
    return nil
  }
}
