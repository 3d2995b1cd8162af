// Which storages keep a history: those with a database.

import KeptValues

extension LocalStorage: HistoricalStorage {
  func history(in scope: Scope) throws(StoreError) -> History {
    try settled { reader throws(StoreError) in try reader.history(in: scope) }
  }

  func historyAndEntries(in scope: Scope) throws(StoreError) -> (History, StoredEntries) {
    try settled { reader throws(StoreError) in try reader.historyAndEntries(in: scope) }
  }

  func historyLimits() throws(StoreError) -> HistoryLimits {
    try loader.scan { reader throws(StoreError) in try reader.reader.historyLimits() }
  }

  func set(_ limits: HistoryLimits) throws(StoreError) {
    _ = try revision()
    try commitPath.set(limits)
  }

  /// Runs `body` with the database after every commit from before the call.
  private func settled<Result>(_ body: (LocalReader) throws(StoreError) -> Result) throws(StoreError) -> Result {
    // A closed store throws here.
    _ = try revision()
    try commitPath.settle()
    return try loader.scan { reader throws(StoreError) in try body(reader.reader) }
  }
}

extension ReadOnlyStorage: HistoricalStorage {
  /// Commits that its owner has not settled yet are missing.
  func history(in scope: Scope) throws(StoreError) -> History {
    try read { reader throws(StoreError) in
      try reader.reader.inOneTransaction { () throws(StoreError) in try reader.reader.history(in: scope) }
    }
  }

  func historyAndEntries(in scope: Scope) throws(StoreError) -> (History, StoredEntries) {
    try read { reader throws(StoreError) in
      try reader.reader.inOneTransaction { () throws(StoreError) in try reader.reader.historyAndEntries(in: scope) }
    }
  }

  func historyLimits() throws(StoreError) -> HistoryLimits {
    try read { reader throws(StoreError) in try reader.reader.historyLimits() }
  }

  func set(_ limits: HistoryLimits) throws(StoreError) {
    // It says why nothing can be written.
    _ = try commit(Batch())
  }
}
