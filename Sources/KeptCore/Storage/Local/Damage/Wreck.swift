// What can still be read of a damaged database: rows from both ends, and each key that its log of commits names.

/// A damaged database, read and never written.
///
/// It is read in place, because its log counts; SQLite writes nothing but its own `-shm`.
final class Wreck {
  private let connection: SQLiteConnection
  private let reader: LocalReader
  /// The highest revision that anything in it has.
  private(set) var highestRevision: Revision = 0

  /// Above this a number is damage, and no revision.
  private static let plausible: Revision = 1 << 62

  /// nil: it cannot even be opened.
  init?(of folder: StoreFolder) {
    guard let connection = try? SQLiteConnection(path: folder.database, busyTimeoutMilliseconds: 0) else { return nil }
    self.connection = connection
    reader = LocalReader(connection)
    connection.leaveLog()
    try? connection.run("PRAGMA cell_size_check = ON; PRAGMA query_only = ON")
  }

  /// Gives each entry that can be read, perhaps several times.
  func forEachEntry(_ body: (KeyedEntry) throws(StoreError) -> Void) throws(StoreError) {
    try scan("SELECT kind, value, revision, key FROM entry ORDER BY key", body)
    try scan("SELECT kind, value, revision, key FROM entry ORDER BY key DESC", body)
    for key in loggedKeys() {
      guard let entry = (try? reader.entry(for: key)) ?? nil else { continue }
      try give(key, entry, body)
    }
    if let floor = try? reader.log.floor() { note(floor) }
  }

  /// Reads until the end or the first damaged page.
  private func scan(
    _ sql: StaticString, _ body: (KeyedEntry) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard let rows = try? connection.statement(sql) else { return }
    defer { rows.reset() }
    while (try? rows.step()) == true {
      guard let key = rows.string(3).flatMap({ try? KeyName($0) }), let value = try? rows.value(0) else { continue }
      try give(key, Entry(value: value, revision: Revision(clamping: rows.integer(2))), body)
    }
  }

  private func give(
    _ key: KeyName, _ entry: Entry, _ body: (KeyedEntry) throws(StoreError) -> Void
  ) throws(StoreError) {
    note(entry.revision)
    let revision = entry.revision < Self.plausible ? entry.revision : 0
    try body(KeyedEntry(key: key, entry: Entry(value: entry.value, revision: revision)))
  }

  private func note(_ revision: Revision) {
    if revision < Self.plausible { highestRevision = max(highestRevision, revision) }
  }

  private func loggedKeys() -> Set<KeyName> {
    var keys: Set<KeyName> = []
    for sql: StaticString in ["SELECT revision, keys FROM change", "SELECT revision, keys FROM change ORDER BY 1 DESC"]
    {
      guard let rows = try? connection.statement(sql) else { continue }
      defer { rows.reset() }
      while (try? rows.step()) == true {
        note(Revision(clamping: rows.integer(0)))
        keys.formUnion(rows.withBytes(1, ChangeLog.names))
      }
    }
    return keys
  }
}
