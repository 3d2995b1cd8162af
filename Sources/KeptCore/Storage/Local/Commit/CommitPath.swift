// The path of a batch: into a group, from there into the journal and the index of this process, and to the disk.

import KeptSystem
import KeptValues

/// The writing half of a LocalStorage: group commit, sync of the journal, settling, and erasing of secrets.
///
/// Its parts hold no reference to it, so the closures of the maintenance thread may.
final class CommitPath: Sendable {
  private let folder: StoreFolder
  private let journal: Journal
  private let loader: IndexLoader
  private let settler: Settler
  let writer: GroupWriter
  private let commits: GroupCommit
  private let syncs: CombiningQueue<Void, StoreError?>

  init(_ journal: Journal, in database: LocalDatabase, _ settler: Settler, _ loader: IndexLoader) {
    let writer = GroupWriter(journal, loader, settler)
    commits = GroupCommit(timeoutMilliseconds: database.busyTimeoutMilliseconds) { writer.commit($0, waiting: $1) }
    syncs = CombiningQueue { waiting in
      var failure: StoreError?
      do throws(StoreError) {
        // A sync of a file that has lost its place is not durable.
        try journal.checkInPlace()
        if journal.words.isDoubtful { try writer.endDoubt(waiting: database.busyTimeoutMilliseconds) }
        try settler.sync()
      } catch { failure = error }
      return waiting.map { failure }
    }
    folder = database.folder
    (self.journal, self.loader, self.settler, self.writer) = (journal, loader, settler, writer)
  }

  /// Sets the observer of all commits; called once, before the first commit.
  func report(to commitObserver: any CommitObserver) { writer.report(to: commitObserver) }

  /// Commits a batch, in one group with those that arrive at the same time; afterwards it is visible, and not yet
  /// synced.
  func commit(_ batch: Batch) throws(StoreError) -> Commit {
    _ = try journal.end()
    return try commits.commit(batch)
  }

  /// Returns when every commit from before the call is on the disk.
  func sync() throws(StoreError) {
    if let failure = syncs.serve(()) { throw failure }
  }

  /// Moves every commit into the database, onto the disk.
  func settle() throws(StoreError) { try writer.settle() }

  /// Sets the limits of the history, on the disk.
  func set(_ limits: HistoryLimits) throws(StoreError) { try settler.set(limits) }

  /// Whether there is something to settle, by any process.
  var mustSettle: Bool { journal.words.isDirty }

  /// Whether the bytes of a secret remain to be erased.
  var mustErase: Bool { writer.mustErase }

  /// Erases the secrets that are due; returns whether it must be called again.
  func erase() -> Bool { writer.erase() }

  /// Detects that the folder was removed, renamed or replaced.
  ///
  /// The next call then connects by the path and reports what it finds there.
  ///
  /// While it is there, the pulse is made again if that was removed.
  func stayInPlace() {
    guard loader.hasMoved == true || settler.hasMoved == true || !folder.isInPlace || !journal.isInPlace else {
      // If it fails, the next look tries again.
      try? writer.repairPulse()
      return
    }
    journal.noteMove()
    settler.disconnect()
    loader.disconnect()
    loader.distrust()
  }

  /// Closes the connections; the next use opens others.
  func disconnect() { settler.disconnect() }

  /// Resets the queues in the child of a fork: the threads that committed or synced are the parent's.
  func afterForkInChild() {
    commits.afterForkInChild()
    writer.afterForkInChild()
    syncs.afterForkInChild()
  }

  /// Settles, erases the secrets that are due, and closes the connections.
  func close() {
    // A connection that is closed removes the log at its path.
    stayInPlace()
    if mustSettle { try? settle() }
    _ = erase()
    journal.releaseSpace()
    writer.close()
    settler.close()
  }
}
