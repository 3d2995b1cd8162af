// Queries on the database: entries, listings, and changes after a revision. Writers use them too, inside their
// transaction.

/// The reading half of a LocalStorage.
///
/// Not thread-safe.
final class LocalReader: ConnectionOwner {
  let connection: SQLiteConnection
  let log: ChangeLog
  // The id of a database never changes.
  private var knownID: StoreID?

  init(_ connection: SQLiteConnection) {
    self.connection = connection
    log = ChangeLog(connection: connection)
  }

  /// What is known of a key; its revision and its declaration are readable even if its value is not.
  struct Row {
    /// nil if nothing is stored.
    let value: Result<Value?, StoreError>
    let revision: Revision
    var declaration: Declaration?

    func entry() throws(StoreError) -> Entry {
      Entry(value: try value.get(), revision: revision, declaration: declaration)
    }
  }

  private static let listing = "list what is stored"

  // One statement reads both tables, so that the result is consistent. The row without a kind is a declaration.
  private static let selectRow: StaticString = """
    SELECT kind, value, revision FROM entry WHERE key = ?1
    UNION ALL SELECT NULL, schema, 0 FROM declaration WHERE key = ?1
    """

  func row(for key: KeyName) throws(StoreError) -> Row? {
    var none: Allowance?
    return try row(for: key, &none)
  }

  /// Returns the row of a key, and takes its size from the allowance of a caller that reads many keys.
  func row(for key: KeyName, _ allowance: inout Allowance?) throws(StoreError) -> Row? {
    let rows = try connection.statement(Self.selectRow)
    try rows.bind(1, text: key.exact)
    var value: Result<Value?, StoreError> = .success(nil)
    var revision: Revision = 0
    var declaration: Declaration?
    let found: [Void] = try rows.all { () throws(StoreError) in
      try allowance?.take(rows.count(1), to: Self.listing)
      if rows.isNull(0) { return declaration = .stored(rows.string(1) ?? "") }
      (value, revision) = try rows.result(0, of: key, at: rows.integer(2))
    }
    return found.isEmpty ? nil : Row(value: value, revision: revision, declaration: declaration)
  }

  /// Returns the entry of a key; throws `corrupt` if the row holds no value that Kept could have written.
  func entry(for key: KeyName) throws(StoreError) -> Entry? { try row(for: key)?.entry() }

  func revision() throws(StoreError) -> Revision { try log.revision() }

  /// The schema version of the program; 0 without the table, which the first version creates.
  func schemaVersion() throws(StoreError) -> UInt32 {
    guard try connection.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'application'") > 0 else { return 0 }
    return UInt32(clamping: try connection.integer("SELECT schema_version FROM application"))
  }

  // One statement for everything that opening needs, because preparing each one makes it slower. The revisions are not
  // used here: reading them checks that the log is readable and has room for more.
  private static let selectStore: StaticString = """
    SELECT uuid, quarantine, (SELECT max(revision) FROM change), floor FROM store
    """

  func storeID() throws(StoreError) -> StoreID {
    if let knownID { return knownID }
    let rows = try connection.statement(Self.selectStore)
    let found = try rows.first { () throws(StoreError) in (rows.bytes(0), rows.integer(2), rows.integer(3)) }
    let (bytes, last, floor) = found ?? ([], 0, 0)
    guard ChangeLog.revision(last) != nil, ChangeLog.revision(floor) != nil else {
      throw StoreError(
        .corrupt, "the store's log ends at a revision that Kept never gives out; open it again, and it is salvaged")
    }
    guard bytes.count == 16 else { throw StoreError(.corrupt, "the store has lost its id; keep a copy of its folder") }
    func half(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
    let id = StoreID(high: half(bytes[..<8]), low: half(bytes[8...]))
    knownID = id
    return id
  }

  /// The path, inside the folder, where a salvage has set the damaged database aside; nil if there is none to report.
  func quarantine() throws(StoreError) -> String? {
    let rows = try connection.statement(Self.selectStore)
    return try rows.first { rows.isNull(1) ? nil : rows.string(1) ?? "quarantine" } ?? nil
  }

  /// Throws unless every table is readable.
  func checkTables() throws(StoreError) {
    _ = try storeID()
    // The empty text is not a valid key.
    let rows = try connection.statement(Self.selectRow)
    try rows.bind(1, text: "")
    _ = try rows.first {}
  }

  func keys(prefix: ExactString) throws(StoreError) -> [KeyName] {
    let rows = try connection.statement("SELECT key FROM entry WHERE key >= ?1 AND key < ?2 ORDER BY key")
    try rows.bind(1, text: prefix)
    try rows.bind(2, textBytes: Self.end(of: prefix))
    var allowance = Allowance()
    // Names that are not keys of Kept come from other programs, and no call could read them.
    return try rows.all { () throws(StoreError) in
      try allowance.take(rows.count(0), to: Self.listing)
      return rows.string(0).flatMap { try? KeyName($0) }
    }.compactMap(\.self)
  }

  func changes(after revision: Revision) throws(StoreError) -> ChangesAfter {
    try atOneMoment { () throws(StoreError) in
      let keys = try log.remembered(after: revision, upTo: .max, limit: .max) ?? ChangeLog.Keys()
      // If the log is complete from `revision` on, the floor need not be read.
      if keys.first != 0, keys.first - 1 == revision { return .changed(try delta(keys, upTo: keys.last)) }
      let (floor, upTo) = try log.extent()
      // A revision in the future belongs to a store that was here before.
      guard floor <= revision, revision <= upTo else { return .tooOld }
      return .changed(try delta(keys, upTo: upTo))
    }
  }

  /// Returns the current values of keys that changed.
  ///
  /// - Parameter instead: returns the entry to use in place of the current one; nil to use the current one.
  func delta(
    _ keys: ChangeLog.Keys, upTo: Revision, instead: (KeyName) -> Entry? = { _ in nil }
  ) throws(StoreError) -> Delta {
    try Allowance.ask(forEntries: keys.revisions.count, to: "read what has changed")
    var allowance: Allowance? = Allowance()
    var entries: [KeyedEntry] = []
    for (key, logged) in keys.revisions {
      if var entry = instead(key) {
        entry.revision = logged
        entries.append(KeyedEntry(key: key, entry: entry))
        continue
      }
      let row = try row(for: key, &allowance)
      // An unreadable value was not removed: it is left out, and reading the key reports the failure.
      if case .failure = row?.value { continue }
      let entry = Entry(value: try row?.value.get(), revision: logged, declaration: row?.declaration)
      entries.append(KeyedEntry(key: key, entry: entry))
    }
    return Delta(entries.inOrder(of: \.entry.revision, then: \.key.exact), upTo: upTo, tag: keys.tag)
  }

  /// Returns what is stored in the given scopes, as one consistent state; the keys of each scope are in order.
  ///
  /// Throws if the database cannot be read.
  func entries(in scopes: [Scope]) throws(StoreError) -> StoredEntries {
    try atOneMoment { () throws(StoreError) in
      var found = StoredEntries(entries: [], revision: try revision())
      var allowance: Allowance? = Allowance()
      for scope in scopes {
        switch scope {
        case .key(let key): if let row = try row(for: key, &allowance) { found.add(key, row) }
        case .prefix(let prefix):
          for (key, row) in try rows(prefix: prefix) { found.add(key, row) }
        }
      }
      if scopes.count > 1 { found.removeDuplicates() }
      return found
    }
  }

  func declarations(prefix: ExactString) throws(StoreError) -> [(key: KeyName, declaration: Declaration)] {
    let rows = try connection.statement(
      "SELECT key, schema FROM declaration WHERE key >= ?1 AND key < ?2 ORDER BY key")
    try rows.bind(1, text: prefix)
    try rows.bind(2, textBytes: Self.end(of: prefix))
    var allowance = Allowance()
    return try rows.all { () throws(StoreError) -> (key: KeyName, declaration: Declaration)? in
      try allowance.take(rows.count(0) + rows.count(1), to: Self.listing)
      return rows.string(0).flatMap { try? KeyName($0) }.map { (key: $0, declaration: .stored(rows.string(1) ?? "")) }
    }.compactMap(\.self)
  }

  /// An upper bound for keys with a prefix: 0xFF does not occur in UTF-8, so it sorts after all of them.
  private static func end(of prefix: ExactString) -> [UInt8] { Array(prefix.text.utf8) + [0xFF] }

  /// Returns what is stored and declared under a prefix, in the order of the keys.
  private func rows(prefix: ExactString) throws(StoreError) -> [(KeyName, Row)] {
    let stored = try storedRows(prefix: prefix)
    let declared = try declarations(prefix: prefix)
    if declared.isEmpty { return stored }
    var all: [(KeyName, Row)] = []
    all.reserveCapacity(stored.count + declared.count)
    // Both lists are sorted.
    var next = declared.makeIterator()
    var waiting = next.next()
    for (key, row) in stored {
      while let (name, declaration) = waiting, name < key {
        all.append((name, Row(value: .success(nil), revision: 0, declaration: declaration)))
        waiting = next.next()
      }
      var row = row
      if let (name, declaration) = waiting, name == key {
        row.declaration = declaration
        waiting = next.next()
      }
      all.append((key, row))
    }
    while let (name, declaration) = waiting {
      all.append((name, Row(value: .success(nil), revision: 0, declaration: declaration)))
      waiting = next.next()
    }
    return all
  }

  private func storedRows(prefix: ExactString) throws(StoreError) -> [(KeyName, Row)] {
    let rows = try connection.statement(
      "SELECT kind, value, revision, key FROM entry WHERE key >= ?1 AND key < ?2 ORDER BY key")
    try rows.bind(1, text: prefix)
    try rows.bind(2, textBytes: Self.end(of: prefix))
    var allowance = Allowance()
    let found = try rows.all { () throws(StoreError) -> (KeyName, Row)? in
      guard let key = rows.string(3).flatMap({ try? KeyName($0) }) else { return nil }
      // Only the text of a structure is counted here; building it takes the rest.
      try allowance.take(rows.count(1) + rows.count(3), to: Self.listing)
      let (value, revision) = try rows.result(0, of: key, at: rows.integer(2))
      return (key, Row(value: value, revision: revision, declaration: nil))
    }
    // The rows are converted several times, and each conversion needs memory.
    try Allowance.ask(forEntries: found.count, to: Self.listing)
    return found.compactMap(\.self)
  }

  /// Returns what changed after a revision, in the current transaction; nil if the log is too short or holds too much.
  func rows(
    after revision: Revision, limit: Int, where isWanted: (KeyName) -> Bool
  ) throws(StoreError) -> [(KeyName, Row)]? {
    guard let keys = try log.keys(after: revision, limit: limit) else { return nil }
    var allowance: Allowance? = Allowance()
    var changed: [(KeyName, Row)] = []
    for (key, logged) in keys.revisions where isWanted(key) {
      let row = try row(for: key, &allowance)
      changed.append((key, row ?? Row(value: .success(nil), revision: logged, declaration: nil)))
    }
    return changed
  }

  /// Runs several statements on one state of the database.
  func atOneMoment<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    try connection.beginReading()
    do throws(StoreError) {
      let result = try body()
      do throws(StoreError) { try connection.commit() } catch { connection.rollBack() }
      return result
    } catch {
      // COMMIT would repeat the failure without its reason.
      connection.rollBack()
      throw error
    }
  }
}

extension StoredEntries {
  fileprivate mutating func add(_ key: KeyName, _ row: LocalReader.Row) {
    switch row.value {
    case .success(let value):
      let entry = Entry(value: value, revision: row.revision, declaration: row.declaration)
      entries.append(KeyedEntry(key: key, entry: entry))
    case .failure(let reason):
      unreadable.append(
        UnreadableEntry(key: key, reason: reason, revision: row.revision, declaration: row.declaration))
    }
  }

  /// Keeps one entry for each key, because scopes may overlap.
  fileprivate mutating func removeDuplicates() {
    var seen: Set<KeyName> = []
    entries.removeAll { !seen.insert($0.key).inserted }
    unreadable.removeAll { !seen.insert($0.key).inserted }
  }
}

extension SQLiteStatement {
  /// Returns the value of a key, or why it cannot be read, and its revision; 0 for a number that is no revision.
  ///
  /// Throws `failed` if memory is lacking: the value is intact, and must not be reported as damaged.
  fileprivate func result(
    _ column: Int32, of key: KeyName, at number: Int64
  ) throws(StoreError) -> (Result<Value?, StoreError>, Revision) {
    guard let revision = ChangeLog.revision(number) else {
      let reason = "its row has the revision \(number), which Kept never gives out; set it again"
      return (.failure(StoreError(.corrupt, key: key.text, reason)), 0)
    }
    do throws(StoreError) { return (.success(try value(column)), revision) } catch {
      guard error.code != .failed else { throw error.about(key.text) }
      return (.failure(error.about(key.text)), revision)
    }
  }
}
