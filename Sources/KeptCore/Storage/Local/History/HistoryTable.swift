// The table `history` as a whole: how it is made, limited and forgotten. HistoryWriter.swift describes its rows.

import KeptValues

/// The table `history` of a database, in a write transaction.
struct HistoryTable {
  private let connection: SQLiteConnection

  init(_ connection: SQLiteConnection) { self.connection = connection }

  /// Creates the table; changes up to a revision are not in it.
  func make(after revision: Revision) throws(StoreError) {
    try connection.run("\(SchemaPart.history.sql)")
    let row = try connection.statement("INSERT INTO history (id, revision, time, bytes) VALUES (0, ?1, 0, 0)")
    try row.bind(1, Int64(clamping: revision))
    try row.finish()
  }

  /// Sets the limits from now on.
  func set(_ limits: HistoryLimits, after revision: Revision, at time: Int64) throws(StoreError) {
    let known = try connection.statement(ifThere: "SELECT changes FROM history WHERE id = 0")
    let before = HistoryLimits(stored: try known?.first { known?.string(0) } ?? nil)
    if known == nil { try make(after: revision) }
    let row = try connection.statement("UPDATE history SET changes = ?1 WHERE id = 0")
    try row.bind(1, text: ExactString(limits.json))
    try row.finish()
    guard limits.isOn, before.isOn else { return try forget(after: revision) }
    try prune(to: limits, at: time)
  }

  /// Whether the oldest changes are older than the limits allow.
  func isOlder(_ limits: HistoryLimits, at time: Int64) throws(StoreError) -> Bool {
    let first = try connection.integer(
      "SELECT ifnull((SELECT time FROM history WHERE id > 0 ORDER BY id LIMIT 1), 1 << 62)")
    guard first < limits.oldest(at: time) else { return false }
    let last = try connection.statement("SELECT time FROM history WHERE id > 0 AND time <= ?1 ORDER BY id DESC LIMIT 1")
    try last.bind(1, limits.dayBefore(time))
    return try last.first { first < limits.oldest(at: time, last: last.integer(0)) } ?? false
  }

  /// Forgets the values of keys, which are secret.
  func forgetValues(of keys: Set<ExactString>) throws(StoreError) {
    let secrets = Set(keys.map { $0.withBytes(KeyHash.of) })
    try edit { change, key in change.form != .absent && secrets.contains(key) ? .empty(.secret) : .keep }
  }

  /// Removes the changes beyond the limits: the oldest commits, and of each key all but its last changes.
  ///
  /// Of a commit with other changes it must stay known that such a key was one of them, and of a key that it had more.
  func prune(to limits: HistoryLimits, at time: Int64) throws(StoreError) {
    let kept = try sizes()
    let cut = kept.lastBeyond(limits, at: time)
    var newer: [UInt64: Int] = [:]
    try edit { change, key in
      if change.revision <= cut { return .drop }
      let count = newer[key, default: 0]
      newer[key] = count + 1
      if count < limits.changesPerKey { return .keep }
      guard count == limits.changesPerKey || !kept.isAlone(change.revision) else { return .drop }
      return change.form == .forgotten ? .keep : .empty(.forgotten)
    }
    try raiseStart(to: max(cut, kept.damaged))
    try connection.statement(
      "UPDATE history SET bytes = (SELECT bytes FROM history ORDER BY id DESC LIMIT 1) WHERE id = 0"
    ).finish()
  }

  /// Forgets all changes up to a revision, which is the store's.
  func forget(after revision: Revision) throws(StoreError) {
    try edit { _, _ in .drop }
    // A row of another program may have no changes.
    try run("DELETE FROM history WHERE id <> ?1", 0)
    try raiseStart(to: revision)
  }

  /// Changes up to a revision are missing.
  private func raiseStart(to revision: Revision) throws(StoreError) {
    try run("UPDATE history SET revision = max(revision, ?1) WHERE id = 0", Int64(clamping: revision))
  }

  private func run(_ sql: StaticString, _ parameter: Int64) throws(StoreError) {
    let statement = try connection.statement(sql)
    try statement.bind(1, parameter)
    try statement.finish()
  }
}

// How rows are read and rewritten.
extension HistoryTable {
  /// A row with changes.
  private struct Row {
    let id: Int64
    let revision: Int64
    let time: Int64
    let bytes: UnsafeRawBufferPointer
    var changes: [PackedChange] = []
    var isWhole = true

    func hash(_ change: PackedChange) -> UInt64 { KeyHash.of(change.key(in: bytes)) }
  }

  /// The fate of a change.
  private enum Fate {
    case keep
    /// It is only known that it was.
    case empty(PastForm)
    case drop
  }

  /// Visits the rows, newest first; do not change them during the visit.
  private func eachRow(_ body: (Row) throws(StoreError) -> Void) throws(StoreError) {
    let rows = try connection.statement(
      "SELECT id, revision, changes, time FROM history WHERE id > 0 ORDER BY id DESC")
    var list: [PackedChange] = []
    try rows.each { () throws(StoreError) in
      try rows.withBytes(2) { content throws(StoreError) in
        let bytes = UnsafeRawBufferPointer(content)
        list.removeAll(keepingCapacity: true)
        let isWhole = try PackedChange.forEach(bytes) { change throws(StoreError) in
          try Memory.makeRoom(in: &list, to: "limit the history")
          list.append(change)
        }
        try body(
          Row(
            id: rows.integer(0), revision: rows.integer(1), time: rows.integer(3), bytes: bytes, changes: list,
            isWhole: isWhole))
      }
    }
  }

  /// The sizes of all changes.
  private func sizes() throws(StoreError) -> HistorySizes {
    var sizes = HistorySizes()
    try eachRow { row throws(StoreError) in
      if !row.isWhole { sizes.damaged = max(sizes.damaged, Revision(clamping: row.revision)) }
      for change in row.changes { try sizes.add(change.revision, row.time, change.total(in: row.bytes)) }
    }
    sizes.sort()
    return sizes
  }

  /// Rewrites the rows with a change that `fate` does not keep.
  ///
  /// `fate` is called with each change, newest first, and with the hash of its key.
  private func edit(_ fate: (PackedChange, UInt64) -> Fate) throws(StoreError) {
    var edits: [(id: Int64, changes: [UInt8])] = []
    var larges: [Int64] = []
    try eachRow { row in
      var fates: [Fate] = []
      // Rows that another program has left after a fault are lost.
      var isChanged = !row.isWhole
      for change in row.changes.reversed() {
        let fate = fate(change, row.hash(change))
        fates.append(fate)
        if case .keep = fate { continue }
        isChanged = true
        if change.form == .large { larges.append(change.number(in: row.bytes)) }
      }
      guard isChanged else { return }
      var changes: [UInt8] = []
      for (change, fate) in zip(row.changes, fates.reversed()) {
        switch fate {
        case .keep: change.append(to: &changes, row.bytes, nil)
        case .empty(let reason): change.append(to: &changes, row.bytes, reason)
        case .drop: break
        }
      }
      edits.append((row.id, changes))
    }
    for id in larges { try run("DELETE FROM large WHERE id = ?1", id) }
    for edit in edits {
      guard !edit.changes.isEmpty else {
        try run("DELETE FROM history WHERE id = ?1", edit.id)
        continue
      }
      let row = try connection.statement("UPDATE history SET changes = ?2 WHERE id = ?1")
      try row.bind(1, edit.id)
      try row.finish(2, lent: edit.changes)
    }
  }
}
