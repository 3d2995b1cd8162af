// Moves what frames have changed into the database.

import KeptSchema
import KeptSystem
import KeptValues

/// Writes the changes of frames into the tables; it belongs to a write transaction.
struct Settling {
  private let connection: SQLiteConnection
  /// Whether a frame may name a body that is not there: in a salvage its value is lost.
  private let isSalvage: Bool
  /// The writer that adds the changes to the history; nil in a salvage, and if the store keeps none.
  private var history: HistoryWriter?
  private var heads = FrameHeads()
  private var patches = JournalPatches()
  private var schemaVersion: UInt32?
  /// Whether a value may be in the table of large ones.
  private var hasLarge: Bool
  /// Whether a removal may be kept.
  private var hasRemovals: Bool

  /// Begins to settle frames.
  ///
  /// - Parameter settled: the revision before the first of them; nil in a salvage, which keeps no history.
  init(connection: SQLiteConnection, after settled: Revision?) throws(StoreError) {
    (self.connection, isSalvage) = (connection, settled == nil)
    // Without a history nothing reads them.
    let changes = try connection.collectPastChanges()
    history = if let settled { try HistoryWriter(connection, changes, after: settled) } else { nil }
    hasLarge = try connection.integer("SELECT EXISTS (SELECT 1 FROM large)") != 0
    hasRemovals = try connection.integer("SELECT EXISTS (SELECT 1 FROM removed)") != 0
  }

  /// Values of more bytes have a table of their own: in rows with them, keys are compared slowly.
  static let mostInRow = 512

  /// Adds the changes of a frame.
  mutating func add(_ frame: FrameReader) throws(StoreError) {
    var meeting = FrameHeads.Meeting.fold
    if history != nil { meeting = try heads.add(frame, over: patches) }
    if meeting == .part { try write() }
    try patches.add(frame, isTorn: meeting == .tear)
    guard let bulk = patches.bulk else { return }
    if isSalvage, try !connection.hasBody(bulk.id) {
      // It is settled. What it removed must not come back, so what precedes it counts as settled, too.
      schemaVersion = patches.schemaVersion ?? schemaVersion
      return patches.removeAll()
    }
    try write()
  }

  /// For how many commits the revision of a removal is kept.
  static let mostCommits: Revision = 1 << 18

  /// Forgets old removals from time to time: for conditions, a key that does not exist changed at that revision.
  func forgetRemovals(from before: Revision, to now: Revision) throws(StoreError) {
    guard before >> 14 != now >> 14, now > Self.mostCommits else { return }
    for sql: StaticString in [
      "DELETE FROM removed WHERE revision <= ?1",
      "UPDATE store SET floor = ?1 WHERE changes() > 0 AND floor < ?1",
    ] {
      let statement = try connection.statement(sql)
      try statement.bind(1, Int64(clamping: now - Self.mostCommits))
      try statement.finish()
    }
  }

  /// Writes the rest; returns the schema version, if it was changed.
  mutating func finish() throws(StoreError) -> UInt32? {
    try write()
    try history?.finish(at: MonotonicTime.nanosecondsSince1970 / 1_000_000)
    return schemaVersion
  }

  private mutating func write() throws(StoreError) {
    try apply(patches)
    schemaVersion = patches.schemaVersion ?? schemaVersion
    patches.removeAll()
  }

  private mutating func apply(_ patches: JournalPatches) throws(StoreError) {
    // In order, so that neighbours meet on few pages.
    for (key, patch) in Array(patches.keys).inOrder(of: \.key.exact) {
      do throws(StoreError) { try apply(patch, key) } catch { throw error.about(key.text) }
    }
    for body in patches.superseded { try connection.dropBodies(body) }
    if let bulk = patches.bulk { try apply(bulk: bulk.id, at: bulk.revision) }
  }

  private mutating func apply(_ patch: KeyPatch, _ key: KeyName) throws(StoreError) {
    if isSalvage, try isOlder(patch, key) { return }
    guard let value = patch.value else {
      if let declaration = patch.declaration { try declare(key, declaration, at: patch.revision) }
      return
    }
    var large = try largeID(of: key)
    if history != nil, let head = heads[value.revision], try history?.begin(key, head, patch, large: large) == true {
      large = nil
    }
    // The old value is secret if it was declared so before, and all are if the key is declared so now.
    if let declaration = patch.declaration { try declare(key, declaration, at: patch.revision) }
    switch value.new {
    case .removed: try remove(key, at: value.revision)
    case .inline(let new) where new.bytes > Self.mostInRow: return try put(large: new, key, value.revision, over: large)
    case .inline(let new): try put(new, key, value.revision)
    case .staged(let body): try put(staged: body, key, value.revision)
    }
    if let large { try forgetLarge(large) }
  }

  /// Whether the row of a key is from after a frame: a salvage may not know which frames are settled.
  private func isOlder(_ patch: KeyPatch, _ key: KeyName) throws(StoreError) -> Bool {
    let row = try connection.statement("SELECT revision FROM entry WHERE key = ?1 AND revision >= ?2")
    try row.bind(1, text: key.exact)
    try row.bind(2, Int64(clamping: patch.revision))
    return try row.first {} != nil
  }

  private mutating func put(_ value: Value, _ key: KeyName, _ revision: Revision) throws(StoreError) {
    try put(
      key,
      "UPDATE entry SET kind = ?2, value = ?3, large = NULL, revision = replaced(?4, kind, value) WHERE key = ?1",
      "INSERT INTO entry (key, kind, value, revision) VALUES (?1, ?2, ?3, ?4)"
    ) { row throws(StoreError) in
      try row.bind(4, Int64(clamping: revision))
      try row.finish(2, lentKindAnd: value)
    }
    try forgetRemoval(of: key)
  }

  private mutating func put(
    large value: Value, _ key: KeyName, _ revision: Revision, over known: Int64?
  ) throws(StoreError) {
    let id = known ?? .random(in: 1...(.max))
    // An update writes only the pages that differ; a replacement writes all of them twice.
    let row = try connection.statement(
      known == nil ? "INSERT INTO large (id, value) VALUES (?1, ?2)" : "UPDATE large SET value = ?2 WHERE id = ?1")
    try row.bind(1, id)
    try row.finish(2, lent: value)
    hasLarge = true
    try put(
      key,
      "UPDATE entry SET kind = ?2, value = NULL, large = ?3, revision = replaced(?4, kind, value) WHERE key = ?1",
      "INSERT INTO entry (key, kind, large, revision) VALUES (?1, ?2, ?3, ?4)"
    ) { row throws(StoreError) in
      try row.bind(2, kindOf: value)
      try row.bind(3, id)
      try row.bind(4, Int64(clamping: revision))
      try row.finish()
    }
    try forgetRemoval(of: key)
  }

  /// Writes a row with a key as the first parameter: an update finds the row once, an upsert twice.
  private func put(
    _ key: KeyName, _ update: StaticString, _ insert: StaticString,
    _ finish: (SQLiteStatement) throws(StoreError) -> Void
  ) throws(StoreError) {
    for sql in [update, insert] {
      let row = try connection.statement(sql)
      try key.exact.withBytes { key throws(StoreError) in
        try row.bind(1, lentText: key)
        try finish(row)
      }
      if connection.changedRows > 0 { break }
    }
  }

  private func largeID(of key: KeyName) throws(StoreError) -> Int64? {
    guard hasLarge else { return nil }
    let row = try connection.statement("SELECT large FROM entry WHERE key = ?1")
    try row.bind(1, text: key.exact)
    return try row.first { row.isNull(0) ? nil : row.integer(0) } ?? nil
  }

  private func forgetLarge(_ id: Int64) throws(StoreError) {
    let row = try connection.statement("DELETE FROM large WHERE id = ?1")
    try row.bind(1, id)
    try row.finish()
  }

  private mutating func put(staged body: StagedBody, _ key: KeyName, _ revision: Revision) throws(StoreError) {
    try history?.collect(key)
    let row = try connection.statement(
      """
      INSERT OR REPLACE INTO entry (key, kind, value, large, revision)
      SELECT key, kind, iif(isLarge, NULL, value), iif(isLarge, value, NULL), ?3 FROM (
        SELECT *, typeof(value) = 'integer' AND kind NOT IN ('bool', 'int') AS isLarge
        FROM body WHERE id = ?2 AND key = ?1 AND kind IS NOT NULL)
      """)
    try row.bind(1, text: key.exact)
    try row.bind(2, Int64(bitPattern: body))
    try row.bind(3, Int64(clamping: revision))
    try row.finish()
    guard connection.changedRows == 1 else {
      if isSalvage { return }
      throw StoreError.missingBody(of: key)
    }
    hasLarge = true
    try forget(body)
    try forgetRemoval(of: key)
  }

  /// Removes the body staged under an id, whose values belong to their keys now.
  private func forget(_ body: StagedBody) throws(StoreError) {
    let row = try connection.statement("DELETE FROM body WHERE id = ?1")
    try row.bind(1, Int64(bitPattern: body))
    try row.finish()
  }

  /// Applies the changes of many keys.
  private mutating func apply(bulk bodies: StagedBody, at revision: Revision) throws(StoreError) {
    (hasLarge, hasRemovals) = (true, true)
    if history != nil, let head = heads[revision] { try history?.note(bulk: bodies, head) }
    for sql: StaticString in [
      """
      DELETE FROM large WHERE id IN (SELECT large FROM entry WHERE key IN (
        SELECT key FROM body WHERE id = ?1 AND value IS NOT NULL))
      """,
      """
      INSERT OR REPLACE INTO entry (key, kind, value, large, revision)
      SELECT key, kind, iif(isLarge, NULL, value), iif(isLarge, value, NULL), ?2 FROM (
        SELECT *, typeof(value) = 'integer' AND kind NOT IN ('bool', 'int') AS isLarge
        FROM body WHERE id = ?1 AND kind IS NOT NULL)
      """,
      "DELETE FROM entry WHERE key IN (SELECT key FROM body WHERE id = ?1 AND kind IS NULL AND value IS NOT NULL)",
      """
      INSERT OR REPLACE INTO declaration (key, schema, revision)
      SELECT key, schema, ?2 FROM body WHERE id = ?1 AND schema <> ''
      """,
      "DELETE FROM declaration WHERE key IN (SELECT key FROM body WHERE id = ?1 AND schema = '')",
      "DELETE FROM removed WHERE key IN (SELECT key FROM body WHERE id = ?1 AND kind IS NOT NULL)",
      """
      INSERT OR REPLACE INTO removed (key, revision)
      SELECT key, ?2 FROM body WHERE id = ?1 AND (kind IS NULL AND value IS NOT NULL OR schema = '')
      """,
    ] {
      let statement = try connection.statement(sql)
      try statement.bind(1, Int64(bitPattern: bodies))
      // Some have no second parameter.
      if statement.parameters > 1 { try statement.bind(2, Int64(clamping: revision)) }
      try statement.finish()
    }
    try history?.noteDeclarations(bulk: bodies)
    try forget(bodies)
    guard connection.changedRows > 0 || isSalvage else {
      throw StoreError(.corrupt, "the journal refers to values of a large commit that are missing from the database")
    }
  }

  private mutating func remove(_ key: KeyName, at revision: Revision) throws(StoreError) {
    try history?.collect(key)
    let row = try connection.statement("DELETE FROM entry WHERE key = ?1")
    try row.bind(1, text: key.exact)
    try row.finish()
    try noteRemoval(of: key, at: revision)
  }

  private mutating func declare(_ key: KeyName, _ declaration: Declaration?, at revision: Revision) throws(StoreError) {
    guard let declaration else {
      let row = try connection.statement("DELETE FROM declaration WHERE key = ?1")
      try row.bind(1, text: key.exact)
      try row.finish()
      return try noteRemoval(of: key, at: revision)
    }
    let row = try connection.statement("INSERT OR REPLACE INTO declaration (key, schema, revision) VALUES (?1, ?2, ?3)")
    try row.bind(1, text: key.exact)
    try row.bind(2, text: ExactString(declaration.json))
    try row.bind(3, Int64(clamping: revision))
    try row.finish()
    try history?.noteDeclaration(of: key)
  }

  /// Keeps the revision of a removal, for conditions.
  private mutating func noteRemoval(of key: KeyName, at revision: Revision) throws(StoreError) {
    hasRemovals = true
    let row = try connection.statement("INSERT OR REPLACE INTO removed (key, revision) VALUES (?1, ?2)")
    try row.bind(1, text: key.exact)
    try row.bind(2, Int64(clamping: revision))
    try row.finish()
  }

  private func forgetRemoval(of key: KeyName) throws(StoreError) {
    guard hasRemovals else { return }
    let row = try connection.statement("DELETE FROM removed WHERE key = ?1")
    try row.bind(1, text: key.exact)
    try row.finish()
  }
}
