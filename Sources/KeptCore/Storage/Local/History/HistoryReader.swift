// Reads the history. A row has what its change replaced; what the change made of it is in the next row of the key, or
// is what the key has now.

extension LocalReader {
  private static let purpose = "read the history"

  /// Returns the changes in a scope, newest first, in a transaction.
  func history(in scope: Scope) throws(StoreError) -> History {
    guard let rows = try connection.statement(ifThere: Self.selectHistory) else {
      return History(changes: [], completeAfter: try SettledPlace.read(connection).revision)
    }
    switch scope {
    case .key(let key):
      try rows.bind(1, text: key.exact)
      try rows.bind(2, textBytes: Array(key.text.utf8) + [0])
    case .prefix(let prefix):
      try rows.bind(1, text: prefix)
      try rows.bind(2, textBytes: Array(prefix.text.utf8) + [0xFF])
    }
    var history = History(changes: [], completeAfter: 0)
    var start: Revision = 0
    var following: [ExactString: PastValue] = [:]
    var allowance = Allowance()
    history.changes = try rows.all { () throws(StoreError) -> PastChange? in
      let revision = Revision(clamping: rows.integer(1))
      if rows.integer(0) == 0 {
        start = revision
        return nil
      }
      try allowance.take(rows.count(3) + rows.count(5), to: Self.purpose)
      guard let text = rows.string(3), let key = try? KeyName(text) else { return nil }
      let old = try rows.pastValue(of: key)
      let new: PastValue
      if let known = following[key.exact] { new = known } else { new = try presentValue(of: key) }
      following[key.exact] = old
      return PastChange(
        key: key.text, revision: revision, time: Timestamp(milliseconds: rows.integer(2)), old: old, new: new,
        tag: rows.isNull(6) ? nil : rows.string(6))
    }
    history.completeAfter = start
    return history
  }

  /// The limits of the history that were set, as stored.
  func historyLimits() throws(StoreError) -> HistoryLimits {
    let row = try connection.statement(ifThere: "SELECT value FROM history WHERE id = 0")
    return HistoryLimits(stored: try row?.first { row?.string(0) } ?? nil)
  }

  private static let selectHistory: StaticString = """
    SELECT id, revision, time, key, kind, coalesce(value, (SELECT value FROM large WHERE id = history.large)), tag
    FROM history WHERE key >= ?1 AND key < ?2 OR id = 0 ORDER BY revision DESC, key
    """

  /// What a key has in the database.
  private func presentValue(of key: KeyName) throws(StoreError) -> PastValue {
    guard let row = try row(for: key) else { return .absent }
    if row.declaration?.isSecret == true { return .secret }
    switch row.value {
    case .success(let value): return value.map { .value($0) } ?? .absent
    case .failure: return .notKept
    }
  }
}

extension SQLiteStatement {
  fileprivate func pastValue(of key: KeyName) throws(StoreError) -> PastValue {
    if isNull(4) { return .absent }
    switch string(4) {
    case "secret": return .secret
    case "large", "forgotten": return .notKept
    default:
      do throws(StoreError) { return .value(try value(4)) } catch {
        guard error.code != .failed else { throw error.about(key.text) }
        return .notKept
      }
    }
  }
}

extension Timestamp {
  fileprivate init(milliseconds: Int64) {
    self.init(nanosecondsSince1970: milliseconds.multipliedReportingOverflow(by: 1_000_000).partialValue)
  }
}
