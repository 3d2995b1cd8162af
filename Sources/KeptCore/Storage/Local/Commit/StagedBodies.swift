// Values that frames name instead of containing them: large ones, those of secret keys, which must not stay in the
// journal, and commits of very many keys.
//
// A row of the table `body` with a kind has the value that its key gets; if that is large, the id of its row in the
// table `large`, because SQLite compares keys slowly in rows with a large value. Values of this size are text or bytes,
// so a number in the place of one is an id. A row without a kind has in `value` a 0 if its key loses its value, and in
// `schema` the declaration that it gets, or an empty text if it loses that.

import KeptSchema
import KeptValues

/// The bodies of one group, written before its frames.
struct StagedBodies {
  private var bodies: [KeyName: [(value: Value, id: StagedBody)]] = [:]
  /// Whether one of them may be secret.
  private(set) var mayBeSecret = false

  static func mustStage(_ value: Value, _ declaration: Declaration?) -> Bool {
    value.bytes > JournalWriter.mostInline || declaration?.isSecret == true
  }

  /// Takes the body of a key with this value, which one frame names.
  mutating func take(_ key: KeyName, _ value: Value) -> StagedBody? {
    guard let place = bodies[key]?.firstIndex(where: { $0.value == value }) else { return nil }
    return bodies[key]?.remove(at: place).id
  }

  /// The bodies that were not taken.
  var left: [StagedBody] { bodies.values.flatMap { $0.map(\.id) } }

  init() {}

  /// Writes the values into the database, as one transaction.
  init(_ values: [(KeyName, Value)], mayBeSecret: Bool, _ settler: Settler) throws(StoreError) {
    self.mayBeSecret = mayBeSecret
    guard !values.isEmpty else { return }
    try Allowance.ask(forEntries: values.count, to: JournalWriter.purpose)
    bodies = try settler.withConnection { connection throws(StoreError) in
      try connection.write { () throws(StoreError) in
        var bodies: [KeyName: [(value: Value, id: StagedBody)]] = [:]
        for (key, value) in values {
          let id = Self.newID()
          try connection.stage(id, key, value)
          bodies[key, default: []].append((value, id))
        }
        return bodies
      }
    }
  }
}

extension StagedBodies {
  /// Random, so that no process must know what others have staged.
  fileprivate static func newID() -> StagedBody { .random(in: 1...(1 << 62)) }
}

/// The changes of a commit, written before its frame.
struct StagedBulk {
  let id: StagedBody
  private let changes: [StoredChange]

  /// Writes the changes into the database, as one transaction.
  init(_ changes: [StoredChange], _ settler: Settler) throws(StoreError) {
    let id = StagedBodies.newID()
    (self.id, self.changes) = (id, changes)
    try settler.withConnection { connection throws(StoreError) in
      try connection.write { () throws(StoreError) in
        for change in changes {
          if change.isOfValue, let value = change.new.value { try connection.stage(id, change.key, value) }
          if change.isOfValue, change.new.value == nil { try connection.stageRemoval(id, of: change.key) }
          guard change.new.declaration != change.old?.declaration else { continue }
          try connection.stage(id, change.new.declaration.map(\.json) ?? "", of: change.key)
        }
      }
    }
  }

  /// Whether a commit would still change exactly this.
  func match(_ now: [StoredChange]) -> Bool {
    now.count == changes.count
      && zip(now, changes).allSatisfy { now, staged in
        now.key == staged.key && now.new.value == staged.new.value && now.new.declaration == staged.new.declaration
          && now.isOfValue == staged.isOfValue
          && (now.new.declaration == now.old?.declaration) == (staged.new.declaration == staged.old?.declaration)
      }
  }

  /// Whether one of them may be secret.
  var mayBeSecret: Bool { changes.contains { $0.new.declaration?.isSecret == true } }
}

extension SQLiteConnection {
  fileprivate func stage(_ id: StagedBody, _ key: KeyName, _ value: Value) throws(StoreError) {
    let row = try statement("INSERT INTO body (id, key, kind, value) VALUES (?1, ?2, ?3, ?4)")
    try row.bind(1, Int64(bitPattern: id))
    try row.bind(2, text: key.exact)
    guard value.bytes > Settling.mostInRow else { return try row.finish(3, lentKindAnd: value) }
    let large = StagedBodies.newID()
    let content = try statement("INSERT INTO large (id, value) VALUES (?1, ?2)")
    try content.bind(1, Int64(bitPattern: large))
    try content.finish(2, lent: value)
    try row.bind(3, kindOf: value)
    try row.bind(4, Int64(bitPattern: large))
    try row.finish()
  }

  /// Removes the body staged under an id, with its values.
  func dropBodies(_ id: StagedBody) throws(StoreError) {
    for sql: StaticString in [
      """
      DELETE FROM large WHERE id IN (
        SELECT value FROM body WHERE id = ?1 AND typeof(value) = 'integer' AND kind NOT IN ('bool', 'int'))
      """, "DELETE FROM body WHERE id = ?1",
    ] {
      let rows = try statement(sql)
      try rows.bind(1, Int64(bitPattern: id))
      try rows.finish()
    }
  }

  fileprivate func stageRemoval(_ id: StagedBody, of key: KeyName) throws(StoreError) {
    let row = try statement("INSERT INTO body (id, key, value) VALUES (?1, ?2, 0)")
    try row.bind(1, Int64(bitPattern: id))
    try row.bind(2, text: key.exact)
    try row.finish()
  }

  fileprivate func stage(_ id: StagedBody, _ schema: String, of key: KeyName) throws(StoreError) {
    let row = try statement(
      "INSERT INTO body (id, key, schema) VALUES (?1, ?2, ?3) ON CONFLICT (id, key) DO UPDATE SET schema = ?3")
    try row.bind(1, Int64(bitPattern: id))
    try row.bind(2, text: key.exact)
    try row.bind(3, text: ExactString(schema))
    try row.finish()
  }
}

extension StoreError {
  /// The error for a body that a frame names and that is neither there nor settled.
  static func missingBody(of key: KeyName) -> StoreError {
    StoreError(.corrupt, key: key.text, "the journal refers to its value, which is missing from the database")
  }
}

extension SQLiteConnection {
  func hasBody(_ id: StagedBody) throws(StoreError) -> Bool {
    let row = try statement("SELECT 1 FROM body WHERE id = ?1")
    try row.bind(1, Int64(bitPattern: id))
    return try row.first {} != nil
  }

  /// Whether the bodies are there that a frame names.
  func hasBodies(of frame: FrameReader) throws(StoreError) -> Bool {
    var hasAll = true
    try frame.forEachChange { change throws(StoreError) in
      guard hasAll, change.effect == .staged || change.effect == .bulk else { return }
      hasAll = try hasBody(change.body())
    }
    return hasAll
  }
}

extension Batch.Edit {
  fileprivate var isLarge: Bool { (value?.bytes ?? 0) > JournalWriter.mostInline }
}

extension JournalWriter {
  /// Stages what the frames of a group will probably name.
  func stage(_ group: [Batch]) throws(StoreError) -> StagedBodies {
    var values: [(KeyName, Value)] = []
    var hasSecret = false
    var allowance = Allowance()
    for batch in group where mayBeSecret || batch.edits.contains(where: { $0.value.isLarge }) {
      let keys = batch.edits.map(\.key)
      let present = try loader.present(keys)
      for ((key, edit), stored) in zip(batch.edits, present.keys) {
        guard case .set = edit else { continue }
        let mayBe = stored.entry?.declaration?.isSecret == true || batch.declarations[key]??.isSecret == true
        guard mayBe || edit.isLarge else { continue }
        // A declaration may convert the value.
        if let change = try? batch.change(of: key, by: edit, from: stored.entry, at: present.revision + 1),
          change.isOfValue, let value = change.new.value
        {
          try allowance.take(0, to: Self.purpose)
          values.append((key, value))
          if mayBe { hasSecret = true }
        }
      }
    }
    do throws(StoreError) { return try StagedBodies(values, mayBeSecret: hasSecret, settler) } catch {
      // The log may have pages of uncommitted bodies.
      if hasSecret { eraser.noteStaged() }
      throw error
    }
  }

  /// Removes staged bodies that no frame names; if that fails, the next commit tries again.
  func drop(_ bodies: [StagedBody], mayBeSecret: Bool) {
    unnamed += bodies
    guard !unnamed.isEmpty else { return }
    if mayBeSecret { eraser.noteStaged() }
    let done: Void? = try? settler.withConnection { connection throws(StoreError) in
      try connection.write { () throws(StoreError) in for id in unnamed { try connection.dropBodies(id) } }
    }
    if done != nil { unnamed = [] }
  }
}
