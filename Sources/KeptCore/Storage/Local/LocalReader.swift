// What is asked of the database: entries, listings, and what changed since. Writers ask it too, inside their
// transaction.

/// The reading half of a LocalStorage.
///
/// Not thread-safe.
final class LocalReader {
  private let connection: SQLiteConnection

  init(_ connection: SQLiteConnection) { self.connection = connection }

  /// What a row holds: its revision is readable even where its value is not.
  struct Row {
    let value: Result<Value?, StoreError>
    let revision: Revision
  }

  func row(for key: KeyName) throws(StoreError) -> Row? {
    let rows = try connection.statement("SELECT kind, value, revision FROM entry WHERE key = ?1")
    try rows.bind(1, text: key.exact)
    return try rows.first { Self.row(rows, key) }
  }

  /// Throws `corrupt` where the row holds no value that Kept could have written.
  func entry(for key: KeyName) throws(StoreError) -> Entry? {
    guard let row = try row(for: key) else { return nil }
    return Entry(value: try row.value.get(), revision: row.revision)
  }

  func revision() throws(StoreError) -> Revision {
    Revision(try connection.integer("SELECT revision FROM store"))
  }

  /// Below it, removals are forgotten.
  func floor() throws(StoreError) -> Revision {
    Revision(try connection.integer("SELECT floor FROM store"))
  }

  func storeID() throws(StoreError) -> StoreID {
    let rows = try connection.statement("SELECT uuid FROM store")
    let bytes = try rows.first { rows.bytes(0) } ?? []
    guard bytes.count == 16 else { throw StoreError(.corrupt, "the store has lost its id; keep a copy of its folder") }
    func half(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
    return StoreID(high: half(bytes[..<8]), low: half(bytes[8...]))
  }

  func keys(prefix: ExactString) throws(StoreError) -> Listing {
    try atOneMoment { () throws(StoreError) in
      let rows = try connection.statement(
        "SELECT key FROM entry WHERE key >= ?1 AND key < ?2 AND kind <> 'removed' ORDER BY key")
      try rows.bind(prefix: prefix)
      // What others stored under a name that is no key of Kept is theirs: nobody could ask for it.
      let keys = try rows.all { Self.key(rows, 0) }
      return Listing(keys: keys.compactMap(\.self), revision: try newestRevision(prefix: prefix))
    }
  }

  /// The newest revision under a prefix, removals included.
  func newestRevision(prefix: ExactString) throws(StoreError) -> Revision {
    let newest = try connection.statement("SELECT max(revision) FROM entry WHERE key >= ?1 AND key < ?2")
    try newest.bind(prefix: prefix)
    return Revision(try newest.first { newest.integer(0) } ?? 0)
  }

  func changes(after revision: Revision) throws(StoreError) -> ChangesAfter {
    try atOneMoment { () throws(StoreError) in
      guard let changed = try rows(after: revision, limit: .max) else { return .tooOld }
      var entries: [KeyedEntry] = []
      for (key, row) in changed {
        // A value that cannot be read was not removed: it is left out, and reading the key says what is wrong.
        guard case .success(let value) = row.value else { continue }
        entries.append(KeyedEntry(key: key, entry: Entry(value: value, revision: row.revision)))
      }
      return .changed(entries, upTo: try self.revision())
    }
  }

  /// The rows that changed after a revision, at the moment of the transaction around it; nil: too old, or too many.
  func rows(after revision: Revision, limit: Int64) throws(StoreError) -> [(KeyName, Row)]? {
    guard try floor() <= revision else { return nil }
    let rows = try connection.statement(
      "SELECT kind, value, revision, key FROM entry WHERE revision > ?1 ORDER BY revision, key LIMIT ?2")
    try rows.bind(1, Int64(clamping: revision))
    try rows.bind(2, limit)
    let found = try rows.all { Self.key(rows, 3).map { ($0, Self.row(rows, $0)) } }
    return found.count < limit ? found.compactMap(\.self) : nil
  }

  /// Runs several statements on one state of the database.
  func atOneMoment<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    try connection.statement("BEGIN").finish()
    defer { try? connection.statement("COMMIT").finish() }
    return try body()
  }

  private static func row(_ rows: SQLiteStatement, _ key: KeyName) -> Row {
    let value: Result<Value?, StoreError>
    do throws(StoreError) { value = .success(try rows.value(0)) } catch { value = .failure(error.about(key.text)) }
    return Row(value: value, revision: Revision(clamping: rows.integer(2)))
  }

  private static func key(_ rows: SQLiteStatement, _ column: Int32) -> KeyName? {
    rows.string(column).flatMap { try? KeyName($0) }
  }
}

extension SQLiteStatement {
  /// Binds the bounds of a prefix: 0xFF occurs in no UTF-8, so it is above everything that begins with the prefix.
  fileprivate func bind(prefix: ExactString) throws(StoreError) {
    try bind(1, text: prefix)
    try bind(2, textBytes: Array(prefix.text.utf8) + [0xFF])
  }
}
