// Bringing the write-ahead log to the disk: one sync serves everyone whose commit came before it.

/// Syncs the log on a connection of its own, so that others go on committing meanwhile.
final class LogSync: Sendable {
  private struct Log {
    // Opened by the first sync; its log is the one that everybody writes.
    var connection: LazyConnection<SQLiteConnection>
    // A sync has failed: the system may have given up what it could not write, and the next sync would succeed without
    // it. Until everything is in the database, and the log is empty, no sync of the log says anything.
    var isDoubtful = false
  }
  private let log: Monitor<Log>
  // A round that begins after a commit has returned brings it to the disk.
  private let queue: CombiningQueue<Void, StoreError?>

  init(of store: StoreID, in database: LocalDatabase) {
    let log = Monitor(
      Log(connection: LazyConnection { () throws(StoreError) in try database.connect(to: store).connection }))
    self.log = log
    queue = CombiningQueue { waiting in
      var failure: StoreError?
      do throws(StoreError) { try Self.sync(log) } catch { failure = error }
      return waiting.map { failure }
    }
  }

  func close() { log.update { $0.connection.close() } }

  /// The next use connects again.
  func letGo() { log.update { $0.connection.letGo() } }

  func afterForkInChild() { queue.afterForkInChild() }

  /// Returns when everything that was committed before the call is on the disk.
  func wait() throws(StoreError) {
    if let failure = queue.serve(()) { throw failure }
  }

  private static func sync(_ log: Monitor<Log>) throws(StoreError) {
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
}
