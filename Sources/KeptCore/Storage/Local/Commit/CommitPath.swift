// The path of a batch: into a group, from there into the database and the index of this process, and to the disk.

/// The writing half of a LocalStorage: group commit, sync of the log, erasing of secrets, and the connections they
/// need.
///
/// Its parts hold no reference to it, so the closures of the maintenance thread may.
final class CommitPath: Sendable {
  private let folder: StoreFolder
  private let pulse: Pulse
  private let loader: IndexLoader
  private let writer: GroupWriter
  private let commits: GroupCommit
  private let log: LogSync

  init(to store: StoreID, in database: LocalDatabase, _ pulse: Pulse, _ loader: IndexLoader, limit: LogLimit) {
    let log = LogSync(of: store, in: database)
    let writer = GroupWriter(to: store, in: database, pulse, loader, log, limit: limit)
    commits = GroupCommit(timeoutMilliseconds: database.busyTimeoutMilliseconds) { writer.commit($0, waiting: $1) }
    folder = database.folder
    (self.pulse, self.loader, self.writer, self.log) = (pulse, loader, writer, log)
  }

  /// Sets the observer of all commits; called once, before the first commit.
  func report(to commitObserver: any CommitObserver) { writer.report(to: commitObserver) }

  /// Commits a batch, in one group with those that arrive meanwhile; afterwards it is visible, and not yet synced.
  func commit(_ batch: Batch) throws(StoreError) -> Commit { try commits.commit(batch) }

  /// Returns when every commit from before the call is on the disk.
  func sync() throws(StoreError) { try log.wait() }

  /// Whether the bytes of a secret remain to be erased.
  var mustErase: Bool { writer.mustErase }

  /// Erases what is due; returns whether it must be called again.
  func erase() -> Bool { writer.erase() }

  /// Makes the generation even after a writer was killed: readers never wait, but they are slow while it is odd.
  func settlePulse() { if pulse.generation % 2 == 1 { writer.settlePulse() } }

  /// Detects that the folder was removed, renamed or replaced.
  ///
  /// The next call then connects by the path and reports what it finds there.
  func stayInPlace() {
    guard let hasMoved = loader.hasMoved ?? writer.hasMoved else { return }
    guard hasMoved || !folder.isInPlace else { return pulse.stayInPlace() }
    log.disconnect()
    loader.disconnect()
    writer.leaveMoved()
  }

  /// Closes the connections; the next use opens others.
  func disconnect() {
    writer.disconnect()
    log.disconnect()
  }

  /// Resets the queues in the child of a fork: the threads that committed or synced are the parent's.
  func afterForkInChild() {
    commits.afterForkInChild()
    log.afterForkInChild()
  }

  /// Erases what is due, and closes the connections.
  func close() {
    _ = erase()
    writer.close()
    log.close()
  }
}
