// Reads the history. A change has what it replaced; what it made of its key is in the next change of the key, or is
// what the key has now.

import KeptSchema
import KeptValues

extension LocalReader {
  private static let purpose = "read the history"

  /// Returns the changes in a scope, newest first, also those that have changed nothing, in a transaction.
  func history(in scope: Scope) throws(StoreError) -> History {
    guard let rows = try connection.statement(ifThere: "SELECT id, revision, changes FROM history ORDER BY id") else {
      return try emptyHistory()
    }
    var history = History(changes: [], completeAfter: 0)
    var isOn = true
    var allowance = Allowance()
    try rows.each { () throws(StoreError) in
      let revision = Revision(clamping: rows.integer(1))
      if rows.integer(0) == 0 {
        isOn = HistoryLimits(stored: rows.string(2)).isOn
        return history.completeAfter = max(history.completeAfter, revision)
      }
      try rows.withBytes(2) { content throws(StoreError) in
        let bytes = UnsafeRawBufferPointer(content)
        let isWhole = try PackedChange.forEach(bytes) { change throws(StoreError) in
          guard change.isIn(scope, bytes), let key = String(exactly: change.key(in: bytes)),
            let name = try? KeyName(key)
          else { return }
          try allowance.take(change.total(in: bytes), to: Self.purpose)
          try Memory.makeRoom(in: &history.changes, to: Self.purpose)
          history.changes.append(
            PastChange(
              key: name, revision: change.revision, time: Timestamp(milliseconds: change.time),
              old: try old(of: change, bytes, name), new: .absent, tag: change.tag(in: bytes), first: change.first,
              isTorn: change.isTorn))
        }
        // Another program has written it.
        if !isWhole { history.completeAfter = max(history.completeAfter, revision) }
      }
    }
    // Its commits have not been added.
    guard isOn else { return try emptyHistory() }
    history.changes.sort { one, other in
      one.revision == other.revision ? one.key < other.key : one.revision > other.revision
    }
    try addNewValues(to: &history.changes)
    return history
  }

  /// The history of a store that keeps none: it only knows the present.
  private func emptyHistory() throws(StoreError) -> History {
    History(changes: [], completeAfter: try SettledPlace.read(connection).revision)
  }

  /// Returns the same, and the entries that were settled together with the last of these changes.
  func historyAndEntries(in scope: Scope) throws(StoreError) -> (History, StoredEntries) {
    (try history(in: scope), try entries(in: [scope], at: SettledPlace.read(connection).revision))
  }

  /// The limits of the history that were set, as stored.
  func historyLimits() throws(StoreError) -> HistoryLimits {
    let row = try connection.statement(ifThere: "SELECT changes FROM history WHERE id = 0")
    return HistoryLimits(stored: try row?.first { row?.string(0) } ?? nil)
  }

  private func old(
    of change: PackedChange, _ bytes: UnsafeRawBufferPointer, _ key: KeyName
  ) throws(StoreError) -> PastValue {
    switch change.form {
    case .absent: return .absent
    case .secret: return .secret
    case .tooLarge: return .notKept
    case .forgotten: return .unknown
    case .integer, .real, .text, .blob, .large: break
    }
    // As a row again, values are read as everywhere.
    let row = try connection.statement(
      change.form == .large ? "SELECT ?1, (SELECT value FROM large WHERE id = ?2)" : "SELECT ?1, ?2")
    try row.bind(1, text: change.kind(in: bytes))
    let value = change.value(in: bytes)
    switch change.form {
    case .text: try row.bind(2, text: value)
    case .blob: try row.bind(2, bytes: Array(value))
    case .real: try row.bind(2, Double(bitPattern: UInt64(bitPattern: change.number(in: bytes))))
    default: try row.bind(2, change.number(in: bytes))
    }
    let old = try row.first { () throws(StoreError) -> PastValue in
      do throws(StoreError) { return .value(try row.value(0)) } catch {
        guard error.code != .failed else { throw error.about(key.text) }
        return .unknown
      }
    }
    return old ?? .unknown
  }

  /// Adds what the changes have made of their keys.
  private func addNewValues(to changes: inout [PastChange]) throws(StoreError) {
    var following: [KeyName: PastValue] = [:]
    for place in changes.indices {
      let key = changes[place].key
      if let known = following[key] {
        changes[place].new = known
      } else {
        changes[place].new = try presentValue(of: key)
      }
      following[key] = changes[place].old
    }
  }

  /// The entry of a key in the database.
  private func presentValue(of key: KeyName) throws(StoreError) -> PastValue {
    guard let row = try row(for: key) else { return .absent }
    switch row.value {
    case .success(nil): return .absent
    case _ where row.declaration?.isSecret == true: return .secret
    case .success(let value?): return .value(value)
    case .failure: return .unknown
    }
  }
}

extension PackedChange {
  fileprivate func isIn(_ scope: Scope, _ bytes: UnsafeRawBufferPointer) -> Bool {
    let key = key(in: bytes)
    switch scope {
    case .key(let name): return name.exact.withBytes { $0.elementsEqual(key) }
    case .prefix(let prefix): return prefix.withBytes { key.starts(with: $0) }
    }
  }
}

extension Timestamp {
  fileprivate init(milliseconds: Int64) {
    self.init(nanosecondsSince1970: milliseconds.multipliedReportingOverflow(by: 1_000_000).partialValue)
  }
}
