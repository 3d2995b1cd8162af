// The log of commits in the database: which keys each revision changed, and for how many revisions this is kept.

/// Reads, extends and truncates the table `change`.
///
/// Not thread-safe: it belongs to a connection.
struct ChangeLog {
  let connection: SQLiteConnection

  /// The lowest number that is no valid revision.
  ///
  /// A stored number below 0, or equal to this one or above, is damage. A salvage begins at the seconds since 1970
  /// times 2^30, which is 2^62 in the year 2106.
  static let end: Revision = 3 << 61
  /// The distance from `end` within which a salvage ignores the revisions it finds, because too few would be left.
  static let room: Revision = 1 << 60

  /// Converts a stored number to a revision; nil if the number is damage.
  static func revision(_ number: Int64) -> Revision? {
    Revision(exactly: number).flatMap { $0 < end ? $0 : nil }
  }

  func revision() throws(StoreError) -> Revision {
    Revision(
      clamping: try connection.integer("SELECT max(floor, coalesce((SELECT max(revision) FROM change), 0)) FROM store"))
  }

  /// The revision up to which changes are forgotten.
  func floor() throws(StoreError) -> Revision {
    Revision(clamping: try connection.integer("SELECT floor FROM store"))
  }

  /// The range of revisions that the log covers: from after `floor` up to the current revision.
  func extent() throws(StoreError) -> (floor: Revision, revision: Revision) {
    let rows = try connection.statement("SELECT floor, (SELECT max(revision) FROM change) FROM store")
    let found = try rows.first { (Revision(clamping: rows.integer(0)), Revision(clamping: rows.integer(1))) }
    let (floor, last) = found ?? (0, 0)
    return (floor, max(floor, last))
  }

  /// The keys that changed after a revision, each with the last revision that changed it.
  struct Keys {
    var revisions: [KeyName: Revision] = [:]
    /// The first and the last revision found in the log; 0 if there are none.
    var first: Revision = 0
    var last: Revision = 0
    /// The tag shared by all these commits; nil if they differ.
    var tag: String?
  }

  /// Returns what changed after `revision`, up to `last`.
  ///
  /// - Returns: nil if part of the log is forgotten, or if there are more than `limit` keys.
  func keys(after revision: Revision, upTo last: Revision = .max, limit: Int = .max) throws(StoreError) -> Keys? {
    guard try floor() <= revision else { return nil }
    return try remembered(after: revision, upTo: last, limit: limit)
  }

  /// Returns what changed after `revision`, which must not be below the floor.
  ///
  /// - Returns: nil if there are more than `limit` keys.
  func remembered(after revision: Revision, upTo last: Revision, limit: Int) throws(StoreError) -> Keys? {
    let rows = try connection.statement(
      "SELECT revision, keys, tag FROM change WHERE revision > ?1 AND revision <= ?2 ORDER BY revision")
    try rows.bind(1, Int64(clamping: revision))
    try rows.bind(2, Int64(clamping: last))
    defer { rows.reset() }
    var changed = Keys()
    var allowance = Allowance()
    while try rows.step() {
      // In memory a short name takes more than its bytes.
      try Memory.ask(for: 32 * rows.count(1), to: "read what has changed")
      let at = Revision(clamping: rows.integer(0))
      let names = rows.withBytes(1, Self.names)
      for key in names {
        try allowance.take(key.text.utf8.count, to: "read what has changed")
        changed.revisions[key] = at
      }
      if changed.revisions.count > limit { return nil }
      let tag = rows.isNull(2) ? nil : rows.string(2)
      changed.tag = changed.first == 0 || changed.tag == tag ? tag : nil
      // The first row of a log does not describe what came before.
      if changed.first == 0, !names.isEmpty { changed.first = at }
      changed.last = at
    }
    return changed
  }

  /// Calls `body` with each commit after a revision and the names of its keys, separated by NULs.
  func eachRow(
    after revision: Revision, _ body: (Revision, UnsafeBufferPointer<UInt8>) -> Void
  ) throws(StoreError) {
    let rows = try connection.statement("SELECT revision, keys FROM change WHERE revision > ?1 ORDER BY revision")
    try rows.bind(1, Int64(clamping: revision))
    defer { rows.reset() }
    while try rows.step() { rows.withBytes(1) { body(Revision(clamping: rows.integer(0)), $0) } }
  }

  /// Logs a commit.
  func append(_ changes: [StoredChange], at revision: Revision, tag: String?) throws(StoreError) {
    let row = try connection.statement("INSERT INTO change (revision, keys, tag) VALUES (?1, ?2, ?3)")
    try row.bind(1, Int64(clamping: revision))
    if let tag { try row.bind(3, text: ExactString(tag)) }
    guard changes.count == 1 else { return try row.finish(2, lent: Self.names(of: changes)) }
    try changes[0].key.exact.withBytes { name throws(StoreError) in
      try row.bind(2, lentBytes: name)
      try row.finish()
    }
  }

  /// The names of the changed keys, separated by NULs.
  private static func names(of changes: [StoredChange]) -> [UInt8] {
    var names: [UInt8] = []
    for change in changes {
      if !names.isEmpty { names.append(0) }
      change.key.exact.withBytes { names.append(contentsOf: $0) }
    }
    return names
  }

  /// Starts an empty log above a revision.
  ///
  /// This adds a row without keys, because the triggers for other programs count from the newest row.
  func begin(above revision: Revision) throws(StoreError) {
    for sql: StaticString in ["UPDATE store SET floor = ?1", "INSERT INTO change (revision, keys) VALUES (?1, x'')"] {
      let statement = try connection.statement(sql)
      try statement.bind(1, Int64(clamping: revision))
      try statement.finish()
    }
  }

  /// Splits a row's bytes into key names; names that are not keys of Kept come from other programs and are skipped.
  static func names(_ bytes: UnsafeBufferPointer<UInt8>) -> [KeyName] {
    bytes.split(separator: 0).compactMap { name in
      String(exactly: UnsafeBufferPointer(rebasing: name)).flatMap { try? KeyName($0) }
    }
  }
}

/// How much of the log is kept for readers that catch up later.
struct LogLimit: Sendable {
  /// The number of newest revisions that are kept.
  var revisions: Revision = 10_000
  /// The log is truncated when the revision passes a multiple of this, so most commits skip the work.
  var interval: Revision = 1024

  /// Truncates the log; runs inside the write transaction of a commit that leads from `start` to `revision`.
  func cutOff(_ connection: SQLiteConnection, from start: Revision, to revision: Revision) throws(StoreError) {
    guard start / interval < revision / interval, revision > revisions else { return }
    let newest = Int64(clamping: revision - revisions)
    try run("DELETE FROM change WHERE revision <= ?1", newest, connection)
    try run("UPDATE store SET floor = max(floor, ?1)", newest, connection)
  }

  private func run(_ sql: StaticString, _ revision: Int64, _ connection: SQLiteConnection) throws(StoreError) {
    let statement = try connection.statement(sql)
    try statement.bind(1, revision)
    try statement.finish()
  }
}
