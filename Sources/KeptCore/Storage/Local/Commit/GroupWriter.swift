// One group of batches at a time: its transaction, and what follows in this process.

/// Commits groups on a connection of its own, updates the index, and erases secrets.
final class GroupWriter: Sendable {
  private let writer: Monitor<LazyConnection<LocalWriter>>
  private let pulse: Pulse
  private let loader: IndexLoader
  private let log: LogSync
  private let eraser = SecretEraser()
  private let commitObserver = Monitor<(any CommitObserver)?>(nil)

  init(
    to store: StoreID, in database: LocalDatabase, _ pulse: Pulse, _ loader: IndexLoader, _ log: LogSync,
    limit: LogLimit
  ) {
    (self.pulse, self.loader, self.log) = (pulse, loader, log)
    // A handle that only reads needs no writer. The closure captures no `self`, which would be a reference cycle.
    writer = Monitor(
      LazyConnection { [eraser, commitObserver] () throws(StoreError) in
        try LocalWriter(
          try database.connect(to: store).connection, pulse, loader, limit: limit, eraser: eraser,
          commitObserver: commitObserver.read(\.self))
      })
  }

  /// Sets the observer of all commits; called once, before the first commit.
  func report(to commitObserver: any CommitObserver) { self.commitObserver.update { $0 = commitObserver } }

  /// Commits a group and updates the index, so that this process need not read what it has just written.
  func commit(_ group: [Batch], waiting milliseconds: Int) -> [Result<Commit, StoreError>] {
    writer.update { writer in
      let outcome: LocalWriter.Outcome
      do throws(StoreError) {
        var (first, isStuck) = try attempt(group, waiting: milliseconds, by: &writer)
        if isStuck {
          // The state that blocks all connections ends with the last of them.
          writer.disconnect()
          log.disconnect()
          loader.disconnect()
          (first, _) = try attempt(group, waiting: milliseconds, by: &writer)
        }
        outcome = first
      } catch {
        return group.map { _ in .failure(error) }
      }
      if let visible = outcome.visible {
        loader.apply(outcome.results, from: visible.start, pulse: visible.pulse)
      }
      // If it does not succeed, the maintenance thread tries again.
      if mustErase { _ = erase(by: &writer) }
      return outcome.results
    }
  }

  private func attempt(
    _ group: [Batch], waiting milliseconds: Int, by writer: inout LazyConnection<LocalWriter>
  ) throws(StoreError) -> (LocalWriter.Outcome, isStuck: Bool) {
    let writer = try writer.get()
    return (writer.commit(group, waiting: milliseconds), writer.connection.isStuckReading)
  }

  /// Whether the bytes of a secret remain to be erased.
  var mustErase: Bool { eraser.isDue }

  /// Erases what is due; returns whether it must be called again.
  func erase() -> Bool {
    mustErase && writer.update { !erase(by: &$0) }
  }

  private func erase(by writer: inout LazyConnection<LocalWriter>) -> Bool {
    guard let writer = try? writer.get() else { return false }
    return eraser.perform(on: writer.connection)
  }

  /// Makes the generation even after a writer was killed, unless another writer is at work.
  func settlePulse() { writer.update { writer in try? writer.get().settlePulse() } }

  /// Whether the database is no longer where it was; nil if there is no connection.
  var hasMoved: Bool? { writer.read { $0.hasMoved } }

  /// Closes the connection to a database that has moved, and makes readers ask SQLite.
  func leaveMoved() {
    writer.update { writer in
      writer.disconnect()
      // No commit of this process is running that would make it even again.
      pulse.distrust()
    }
  }

  /// Closes the connection; the next use opens another one.
  func disconnect() { writer.update { $0.disconnect() } }

  /// Closes the connection, and releases the observer.
  func close() {
    writer.update { $0.close() }
    commitObserver.update { $0 = nil }
  }
}
