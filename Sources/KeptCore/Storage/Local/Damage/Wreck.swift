// What can still be read of a damaged database: rows from both ends of it, and of every stretch between damaged pages;
// and each key that its log of commits names.

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
    connection.overlookDamagedSchema()
    try? connection.run("PRAGMA cell_size_check = ON; PRAGMA query_only = ON")
  }

  /// Gives each entry that can be read, perhaps several times.
  func forEachEntry(_ body: (KeyedEntry) throws(StoreError) -> Void) throws(StoreError) {
    try search(body)
    for key in loggedKeys() {
      guard let entry = (try? reader.entry(for: key)) ?? nil else { continue }
      try give(key, entry, body)
    }
    if let floor = try? reader.log.floor() { note(floor) }
  }

  /// nil: it cannot be read, and programs have to find out by themselves.
  var schemaVersion: UInt32? { try? reader.schemaVersion() }

  /// Gives each declaration that can be read from either end of the table, or by a key that the log names.
  func forEachDeclaration(_ body: (KeyName, Declaration) throws(StoreError) -> Void) throws(StoreError) {
    let fromBothEnds: [StaticString] = [
      "SELECT key, schema FROM declaration ORDER BY 1", "SELECT key, schema FROM declaration ORDER BY 1 DESC",
    ]
    for sql in fromBothEnds {
      guard let rows = try? connection.statement(sql) else { continue }
      defer { rows.reset() }
      while (try? rows.step()) == true {
        guard let key = rows.string(0).flatMap({ try? KeyName($0) }), let schema = rows.string(1) else { continue }
        try body(key, .stored(schema))
      }
    }
    for key in loggedKeys() {
      if let declaration = (try? reader.row(for: key))??.declaration { try body(key, declaration) }
    }
  }

  /// Gives the rows that can be reached.
  ///
  /// A stretch is read from both ends. Where both meet a damaged page it is halved, since what lies between two of them
  /// may be whole. The keys of a damaged page are halved in vain, so there is an end to the attempts.
  private func search(_ body: (KeyedEntry) throws(StoreError) -> Void) throws(StoreError) {
    // The first from the very ends: finding a key compares others, and one of those may go on in a damaged page.
    var all = KeyStretch(low: [], high: [0xFF])
    if try scan("SELECT kind, value, revision, key FROM entry ORDER BY key", &all, \.low, body) { return }
    _ = try scan("SELECT kind, value, revision, key FROM entry ORDER BY key DESC", &all, \.high, body)
    var stretches = all.halves
    for attempt in 0..<Self.attempts {
      guard attempt < stretches.count else { return }
      var stretch = stretches[attempt]
      if try scan(
        "SELECT kind, value, revision, key FROM entry WHERE key > ?1 AND key < ?2 ORDER BY key", &stretch, \.low, body)
      {
        continue
      }
      _ = try scan(
        "SELECT kind, value, revision, key FROM entry WHERE key > ?1 AND key < ?2 ORDER BY key DESC", &stretch, \.high,
        body)
      stretches += stretch.halves
    }
  }

  private static let attempts = 1000

  /// Reads to the other end, or to the first page that is damaged; the end where it begins comes along.
  ///
  /// - Returns: whether it came to the other end.
  private func scan(
    _ sql: StaticString, _ stretch: inout KeyStretch, _ end: WritableKeyPath<KeyStretch, [UInt8]>,
    _ body: (KeyedEntry) throws(StoreError) -> Void
  ) throws(StoreError) -> Bool {
    guard let rows = try? connection.statement(sql) else { return true }
    defer { rows.reset() }
    // The statements for all have no bounds.
    try? rows.bind(1, textBytes: stretch.low)
    try? rows.bind(2, textBytes: stretch.high)
    while true {
      guard let isRow = try? rows.step() else { return false }
      guard isRow else { return true }
      stretch[keyPath: end] = rows.bytes(3)
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

/// What may lie between two keys; the bytes need not be UTF-8.
private struct KeyStretch {
  var low: [UInt8]
  var high: [UInt8]

  /// Divided at a place that need be no key; none where the ends are next to each other, or almost.
  var halves: [KeyStretch] {
    let prefix = zip(low, high).prefix { $0 == $1 }.map(\.0)
    let start = Self.number(low.dropFirst(prefix.count))
    let end = Self.number(high.dropFirst(prefix.count))
    guard start < end, end - start > 1 else { return [] }
    let number = start + (end - start) / 2
    let middle = prefix + (1...7).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * UInt64($0))) }
    return [KeyStretch(low: low, high: middle), KeyStretch(low: middle, high: high)]
  }

  /// The first seven bytes.
  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    (bytes.prefix(7) + repeatElement(0, count: max(0, 7 - bytes.count))).reduce(0) { $0 << 8 | UInt64($1) }
  }
}
