// What is asked of the database: entries, listings, and what changed since. Writers ask it too, inside their
// transaction.

/// The reading half of a LocalStorage.
///
/// Not thread-safe.
final class LocalReader {
  private let connection: SQLiteConnection

  init(_ connection: SQLiteConnection) { self.connection = connection }

  func entry(for key: KeyName) throws(StoreError) -> Entry? {
    let rows = try connection.statement("SELECT kind, value, revision FROM entry WHERE key = ?1")
    do {
      try rows.bind(1, text: key.exact)
      return try rows.first { () throws(StoreError) in
        Entry(value: try rows.value(0), revision: Revision(rows.integer(2)))
      }
    } catch {
      throw error.about(key.text)
    }
  }

  func revision() throws(StoreError) -> Revision {
    Revision(try connection.integer("SELECT revision FROM store"))
  }

  /// Below it, removals are forgotten.
  func floor() throws(StoreError) -> Revision {
    Revision(try connection.integer("SELECT floor FROM store"))
  }

  func keys(prefix: ExactString) throws(StoreError) -> Listing {
    try atOneMoment { () throws(StoreError) in
      let rows = try connection.statement(
        "SELECT key FROM entry WHERE key >= ?1 AND key < ?2 AND kind <> 'removed' ORDER BY key")
      try rows.bind(prefix: prefix)
      let keys = try rows.all { () throws(StoreError) in
        guard let text = rows.string(0) else { throw StoreError(.corrupt, "a stored key is not UTF-8") }
        return try KeyName(text)
      }
      return Listing(keys: keys, revision: try newestRevision(prefix: prefix))
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
      guard try floor() <= revision else { return .tooOld }
      let rows = try connection.statement(
        "SELECT kind, value, revision, key FROM entry WHERE revision > ?1 ORDER BY revision, key")
      try rows.bind(1, Int64(clamping: revision))
      let changed = try rows.all { () throws(StoreError) in
        let key = try KeyName(rows.string(3) ?? "")
        return KeyedEntry(key: key, entry: Entry(value: try rows.value(0), revision: Revision(rows.integer(2))))
      }
      return .changed(changed, upTo: try self.revision())
    }
  }

  /// Runs several statements on one state of the database.
  private func atOneMoment<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    try connection.statement("BEGIN").finish()
    defer { try? connection.statement("COMMIT").finish() }
    return try body()
  }
}

extension SQLiteStatement {
  /// Binds the bounds of a prefix: 0xFF occurs in no UTF-8, so it is above everything that begins with the prefix.
  fileprivate func bind(prefix: ExactString) throws(StoreError) {
    try bind(1, text: prefix)
    try bind(2, textBytes: Array(prefix.text.utf8) + [0xFF])
  }
}
