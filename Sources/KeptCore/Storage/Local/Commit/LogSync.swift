// Syncs the write-ahead log to the disk: one sync serves every commit before it.

/// Syncs the log on a connection of its own, so that others can commit meanwhile.
final class LogSync: Sendable {
  private struct Log {
    // Opened by the first sync; its log is the one that all connections write.
    var connection: LazyConnection<SQLiteConnection>
    // A sync has failed. The system may have dropped what it could not write, and the next sync would succeed without
    // it. A sync of the log proves nothing until everything is in the database and the log is empty.
    var isDoubtful = false
  }
  private let log: Monitor<Log>
  // A round that begins after a commit has returned writes this commit to the disk.
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

  /// Closes the connection; the next use opens another one.
  func disconnect() { log.update { $0.connection.disconnect() } }

  func afterForkInChild() { queue.afterForkInChild() }

  /// Returns when every commit from before the call is on the disk.
  func wait() throws(StoreError) {
    if let failure = queue.serve(()) { throw failure }
  }

  private static func sync(_ log: Monitor<Log>) throws(StoreError) {
    try log.update { log throws(StoreError) in
      // The log of a database that has moved is not found again, so a sync of it is not durable.
      if log.connection.hasMoved == true { log.connection.disconnect() }
      let connection = try log.connection.get()
      // SQLite opens its log at the first read.
      _ = try connection.integer("SELECT floor FROM store")
      let wasDoubtful = log.isDoubtful
      log.isDoubtful = true
      if wasDoubtful { try connection.copyLog() } else { try connection.syncLog() }
      log.isDoubtful = false
    }
  }
}
