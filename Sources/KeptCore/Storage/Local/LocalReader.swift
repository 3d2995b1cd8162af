// Queries on the database: entries, listings, and changes after a revision. Writers use them too, inside their
// transaction.

import KeptSchema
import KeptValues

/// The reading half of a LocalStorage.
///
/// Not thread-safe.
final class LocalReader: ConnectionOwner {
  let connection: SQLiteConnection
  // The id of a database never changes.
  private var knownID: StoreID?

  init(_ connection: SQLiteConnection) {
    self.connection = connection
  }

  /// The state of a key; its revision and its declaration are readable even if its value is not.
  struct Row {
    /// nil if nothing is stored.
    var value: Result<Value?, StoreError>
    var revision: Revision
    var declaration: Declaration?
    /// The revision of the last change of any kind, also of a removal.
    var changed: Revision = 0

    func entry() throws(StoreError) -> Entry {
      Entry(value: try value.get(), revision: revision, declaration: declaration)
    }
  }

  fileprivate static let listing = "list the stored keys"

  // One statement reads all tables, so that the result is consistent. The row without a kind is a declaration, and the
  // one without a value is a removal.
  private static let selectRow: StaticString = """
    SELECT kind, coalesce(value, (SELECT value FROM large WHERE id = entry.large)), revision FROM entry WHERE key = ?1
    UNION ALL SELECT NULL, schema, revision FROM declaration WHERE key = ?1
    UNION ALL SELECT NULL, NULL, revision FROM removed WHERE key = ?1
    """

  // The same, and how far the database was settled then: one statement costs less than a transaction of two.
  private static let selectRowAndPlace: StaticString = """
    SELECT kind, coalesce(value, (SELECT value FROM large WHERE id = entry.large)), revision, 0 FROM entry
      WHERE key = ?1
    UNION ALL SELECT NULL, schema, revision, 0 FROM declaration WHERE key = ?1
    UNION ALL SELECT NULL, NULL, revision, 0 FROM removed WHERE key = ?1
    UNION ALL SELECT position, floor, 0, 1 FROM store
    """

  func row(for key: KeyName) throws(StoreError) -> Row? {
    var none: Allowance?
    return try row(for: key, &none)
  }

  /// Returns the row of a key, and takes its size from the allowance of a caller that reads many keys.
  func row(for key: KeyName, _ allowance: inout Allowance?) throws(StoreError) -> Row? {
    let rows = try connection.statement(Self.selectRow)
    try rows.bind(1, text: key.exact)
    var found: Row?
    try rows.each { () throws(StoreError) in try rows.add(to: &found, of: key, &allowance) }
    return found
  }

  /// Returns the row of a key as ``row(for:_:)`` does, with the settled place and the forgotten removals from the same
  /// transaction.
  ///
  /// Call it outside a transaction.
  func rowAndPlace(
    for key: KeyName, _ allowance: inout Allowance?
  ) throws(StoreError) -> (row: Row?, settled: JournalPosition, floor: Revision) {
    connection.endUnended()
    let rows = try connection.statement(Self.selectRowAndPlace)
    try rows.bind(1, text: key.exact)
    var found: Row?
    var place: (settled: JournalPosition, floor: Revision)?
    try rows.each { () throws(StoreError) in
      guard rows.integer(3) == 1 else { return try rows.add(to: &found, of: key, &allowance) }
      guard let settled = JournalPosition(exactly: rows.integer(0)),
        let floor = StoredRevision.revision(rows.integer(1))
      else { return }
      place = (settled, floor)
    }
    guard let (settled, floor) = place else { throw SettledPlace.missing }
    return (found, settled, floor)
  }

  /// Returns a value that a frame names; nil if it has been settled.
  func body(_ id: StagedBody, of key: KeyName) throws(StoreError) -> Value? {
    let rows = try connection.statement(
      """
      SELECT kind, iif(typeof(value) = 'integer' AND kind NOT IN ('bool', 'int'),
        (SELECT value FROM large WHERE id = body.value), value)
      FROM body WHERE id = ?1 AND key = ?2
      """)
    try rows.bind(1, Int64(bitPattern: id))
    try rows.bind(2, text: key.exact)
    return try rows.first { () throws(StoreError) in
      do throws(StoreError) { return try rows.value(0) } catch { throw error.about(key.text) }
    }
  }

  /// Returns the entry of a key; throws `corrupt` if the row holds no value that Kept could have written.
  func entry(for key: KeyName) throws(StoreError) -> Entry? { try row(for: key)?.entry() }

  // One statement for everything that opening needs, because preparing each one makes it slower.
  private static let selectStore: StaticString = "SELECT uuid, quarantine FROM store"

  func storeID() throws(StoreError) -> StoreID {
    if let knownID { return knownID }
    let rows = try connection.statement(Self.selectStore)
    let bytes = try rows.first { rows.bytes(0) } ?? []
    guard bytes.count == 16 else {
      throw StoreError(
        .corrupt,
        "the store has lost its id; close it everywhere and open it again to salvage the readable data")
    }
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
    _ = try SettledPlace.read(connection)
    // The empty text is not a valid key.
    let rows = try connection.statement(Self.selectRowAndPlace)
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
    }
  }

  /// Returns the entries in the given scopes, in the current transaction; the keys of each scope are in order.
  ///
  /// Throws if the database cannot be read.
  func entries(in scopes: [Scope], at revision: Revision) throws(StoreError) -> StoredEntries {
    var found = StoredEntries(entries: [], revision: revision)
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

  func declarations(prefix: ExactString) throws(StoreError) -> [(key: KeyName, declaration: Declaration)] {
    let rows = try connection.statement(
      "SELECT key, schema FROM declaration WHERE key >= ?1 AND key < ?2 ORDER BY key")
    try rows.bind(1, text: prefix)
    try rows.bind(2, textBytes: Self.end(of: prefix))
    var allowance = Allowance()
    return try rows.all { () throws(StoreError) -> (key: KeyName, declaration: Declaration)? in
      try allowance.take(rows.count(0) + rows.count(1), to: Self.listing)
      return rows.string(0).flatMap { try? KeyName($0) }.map { (key: $0, declaration: .stored(rows.string(1) ?? "")) }
    }
  }

  /// An upper bound for keys with a prefix: 0xFF does not occur in UTF-8, so it sorts after all of them.
  private static func end(of prefix: ExactString) -> [UInt8] { Array(prefix.text.utf8) + [0xFF] }

  /// Returns the values and declarations under a prefix, in the order of the keys.
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
      """
      SELECT kind, coalesce(value, (SELECT value FROM large WHERE id = entry.large)), revision, key FROM entry
      WHERE key >= ?1 AND key < ?2 ORDER BY key
      """)
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
    return found
  }

  /// Returns the last revision that changed a key under a prefix; a forgotten removal counts as a change.
  func lastChange(under prefix: ExactString) throws(StoreError) -> Revision {
    let row = try connection.statement(
      """
      SELECT max(floor,
        coalesce((SELECT max(revision) FROM entry WHERE key >= ?1 AND key < ?2), 0),
        coalesce((SELECT max(revision) FROM declaration WHERE key >= ?1 AND key < ?2), 0),
        coalesce((SELECT max(revision) FROM removed WHERE key >= ?1 AND key < ?2), 0)) FROM store
      """)
    try row.bind(1, text: prefix)
    try row.bind(2, textBytes: Self.end(of: prefix))
    return Revision(clamping: try row.first { row.integer(0) } ?? 0)
  }

  /// Runs several statements on one state of the database.
  func inOneTransaction<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
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
  /// Adds a row, unless it is only a removal.
  mutating func add(_ key: KeyName, _ row: LocalReader.Row) {
    switch row.value {
    case .success(let value):
      let entry = Entry(value: value, revision: row.revision, declaration: row.declaration)
      guard entry.isThere else { return }
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
  /// Adds what this row says of a key.
  fileprivate func add(
    to found: inout LocalReader.Row?, of key: KeyName, _ allowance: inout Allowance?
  ) throws(StoreError) {
    try allowance?.take(count(1), to: LocalReader.listing)
    var row = found ?? LocalReader.Row(value: .success(nil), revision: 0)
    if isNull(0) {
      if !isNull(1) { row.declaration = .stored(string(1) ?? "") }
    } else {
      (row.value, row.revision) = try result(0, of: key, at: integer(2))
    }
    row.changed = max(row.changed, StoredRevision.revision(integer(2)) ?? 0)
    found = row
  }

  /// Returns the value of a key, or why it cannot be read, and its revision; 0 for a number that is not a revision.
  ///
  /// Throws `failed` if memory is lacking: the value is intact, and must not be reported as damaged.
  fileprivate func result(
    _ column: Int32, of key: KeyName, at number: Int64
  ) throws(StoreError) -> (Result<Value?, StoreError>, Revision) {
    guard let revision = StoredRevision.revision(number) else {
      let reason = "its row has the revision \(number), which Kept never assigns; set the key again"
      return (.failure(StoreError(.corrupt, key: key.text, reason)), 0)
    }
    do throws(StoreError) { return (.success(try value(column)), revision) } catch {
      guard error.code != .failed else { throw error.about(key.text) }
      return (.failure(error.about(key.text)), revision)
    }
  }
}
