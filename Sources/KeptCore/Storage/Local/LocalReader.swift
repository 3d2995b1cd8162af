// What is asked of the database: entries, listings, and what changed since. Writers ask it too, inside their
// transaction.

/// The reading half of a LocalStorage.
///
/// Not thread-safe.
final class LocalReader: OnConnection {
  let connection: SQLiteConnection
  let log: ChangeLog
  // A database keeps its id for life.
  private var knownID: StoreID?

  init(_ connection: SQLiteConnection) {
    self.connection = connection
    log = ChangeLog(connection: connection)
  }

  /// What a row holds: its revision is readable even where its value is not.
  struct Row {
    /// nil: the key was removed.
    let value: Result<Value?, StoreError>
    let revision: Revision
  }

  private static let selectRow: StaticString = "SELECT kind, value, revision FROM entry WHERE key = ?1"

  func row(for key: KeyName) throws(StoreError) -> Row? {
    let rows = try connection.statement(Self.selectRow)
    try rows.bind(1, text: key.exact)
    return try rows.first {
      let value: Result<Value?, StoreError>
      do throws(StoreError) { value = .success(try rows.value(0)) } catch { value = .failure(error.about(key.text)) }
      return Row(value: value, revision: Revision(clamping: rows.integer(2)))
    }
  }

  /// Throws `corrupt` where the row holds no value that Kept could have written.
  func entry(for key: KeyName) throws(StoreError) -> Entry? {
    guard let row = try row(for: key) else { return nil }
    return Entry(value: try row.value.get(), revision: row.revision)
  }

  func revision() throws(StoreError) -> Revision { try log.revision() }

  func storeID() throws(StoreError) -> StoreID {
    if let knownID { return knownID }
    // One statement asks two tables, because each that is prepared makes opening slower; the view would cost as much.
    let rows = try connection.statement("SELECT uuid, (SELECT max(revision) FROM change) FROM store")
    let bytes = try rows.first { rows.bytes(0) } ?? []
    guard bytes.count == 16 else { throw StoreError(.corrupt, "the store has lost its id; keep a copy of its folder") }
    func half(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
    let id = StoreID(high: half(bytes[..<8]), low: half(bytes[8...]))
    knownID = id
    return id
  }

  /// Throws unless every table can be asked.
  func checkTables() throws(StoreError) {
    _ = try storeID()
    // An empty text is nobody's key.
    let rows = try connection.statement(Self.selectRow)
    try rows.bind(1, text: "")
    _ = try rows.first {}
  }

  func keys(prefix: ExactString) throws(StoreError) -> [KeyName] {
    let rows = try connection.statement("SELECT key FROM entry WHERE key >= ?1 AND key < ?2 ORDER BY key")
    try rows.bind(1, text: prefix)
    // 0xFF occurs in no UTF-8, so it is above everything that begins with the prefix.
    var end = Array(prefix.text.utf8)
    end.append(0xFF)
    try rows.bind(2, textBytes: end)
    // What others stored under a name that is no key of Kept is theirs: nobody could ask for it.
    return try rows.all { rows.string(0).flatMap { try? KeyName($0) } }.compactMap(\.self)
  }

  func changes(after revision: Revision) throws(StoreError) -> ChangesAfter {
    try atOneMoment { () throws(StoreError) in
      guard let rows = try rows(after: revision, limit: .max, where: { _ in true }) else { return .tooOld }
      var changed: [KeyedEntry] = []
      for (key, row) in rows {
        // A value that cannot be read was not removed: it is left out, and reading the key says what is wrong.
        if case .failure = row.value { continue }
        changed.append(KeyedEntry(key: key, entry: Entry(value: try row.value.get(), revision: row.revision)))
      }
      changed.sort { ($0.entry.revision, $0.key) < ($1.entry.revision, $1.key) }
      return .changed(changed, upTo: try self.revision())
    }
  }

  /// What changed after a revision, at the moment of the transaction around it; nil: too old, or too much.
  func rows(
    after revision: Revision, limit: Int, where isWanted: (KeyName) -> Bool
  ) throws(StoreError) -> [(KeyName, Row)]? {
    guard let keys = try log.keys(after: revision, limit: limit) else { return nil }
    var changed: [(KeyName, Row)] = []
    for (key, logged) in keys where isWanted(key) {
      let row = try row(for: key)
      changed.append((key, row ?? Row(value: .success(nil), revision: logged)))
    }
    return changed
  }

  /// Runs several statements on one state of the database.
  func atOneMoment<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    try connection.statement("BEGIN").finish()
    do throws(StoreError) {
      let result = try body()
      try? connection.statement("COMMIT").finish()
      return result
    } catch {
      // COMMIT would repeat the failure, and not know its reason any more.
      connection.rollBack()
      throw error
    }
  }
}
