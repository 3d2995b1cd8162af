// Bringing the write-ahead log to the disk: one sync serves everyone whose commit came before it.

/// Syncs the log on a connection of its own, so that others go on committing meanwhile.
final class LogSync: Sendable {
  // Invariant: without a failure, every commit that returned before sync number `done` began is on the disk. `begun`
  // numbers the syncs; while `begun > done` one is running. The failure is that of sync number `done`.
  fileprivate struct State {
    var begun: UInt64 = 0
    var done: UInt64 = 0
    var failure: StoreError?
  }
  private let state = Monitor(State())

  private struct Log {
    // Opened by the first sync; its log is the one that everybody writes.
    var connection: OnDemand<SQLiteConnection>
    // A sync has failed: the system may have given up what it could not write, and the next sync would succeed without
    // it. Until everything is in the database, and the log is empty, no sync of the log says anything.
    var isDoubtful = false
  }
  private let log: Monitor<Log>

  init(of store: StoreID, in database: LocalDatabase) {
    log = Monitor(
      Log(connection: OnDemand { () throws(StoreError) in try database.connect(to: store).connection }))
  }

  func close() { log.update { $0.connection.close() } }

  /// The next use connects again.
  func letGo() { log.update { $0.connection.letGo() } }

  /// A sync that was running has vanished with its thread, and so has everyone who waited for it.
  func afterForkInChild() { state.update { $0.begun = $0.done } }

  /// Returns when everything that was committed before the call is on the disk.
  func wait() throws(StoreError) {
    // A sync that runs already may have missed what was committed last: the next one will do.
    let needed = state.read { $0.begun + 1 }
    while true {
      let turn: Turn = state.wait { $0.turn(needed) }
      switch turn {
      case .done(let failure):
        if let failure { throw failure }
        return
      case .sync: perform()
      }
    }
  }

  fileprivate enum Turn {
    case done(StoreError?)
    case sync
  }

  private func syncOnce() throws(StoreError) {
    try log.update { log throws(StoreError) in
      // A log that nobody will find any more is no place for what must last.
      if log.connection.hasMoved == true { log.connection.letGo() }
      let connection = try log.connection.get()
      // SQLite opens its log when it first reads.
      _ = try connection.integer("SELECT floor FROM store")
      let wasDoubtful = log.isDoubtful
      log.isDoubtful = true
      if wasDoubtful { try connection.copyLog() } else { try connection.syncLog() }
      log.isDoubtful = false
    }
  }

  private func perform() {
    var failure: StoreError?
    do throws(StoreError) { try syncOnce() } catch { failure = error }
    state.update {
      $0.failure = failure
      $0.done = $0.begun
    }
  }
}

extension LogSync.State {
  fileprivate mutating func turn(_ needed: UInt64) -> LogSync.Turn? {
    if done >= needed { return .done(failure) }
    guard begun == done else { return nil }
    begun += 1
    return .sync
  }
}
