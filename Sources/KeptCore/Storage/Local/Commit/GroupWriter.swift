// One group of batches at a time: its frames, and what follows in this process.

import KeptSystem
import KeptValues

/// Commits groups, and erases secrets.
final class GroupWriter: Sendable {
  // Invariant: while there is a writer, the descriptor of its frames is open.
  struct State {
    var writer: JournalWriter?
    var isClosed = false
  }
  let writer = Monitor(State())
  private let journal: Journal
  private let loader: IndexLoader
  private let settler: Settler
  private let eraser = SecretEraser()
  private let commitObserver = Monitor<(any CommitObserver)?>(nil)

  init(_ journal: Journal, _ loader: IndexLoader, _ settler: Settler) {
    (self.journal, self.loader, self.settler) = (journal, loader, settler)
  }

  /// Sets the observer of all commits; called once, before the first commit.
  func report(to commitObserver: any CommitObserver) { self.commitObserver.update { $0 = commitObserver } }

  /// Commits a group.
  func commit(_ group: [Batch], waiting milliseconds: Int) -> [Result<Commit, StoreError>] {
    let results = writer.updateQuietly { state -> [Result<Commit, StoreError>] in
      do throws(StoreError) {
        return try writer(&state).commit(group, until: MonotonicTime.milliseconds + Int64(milliseconds))
      } catch { return group.map { _ in .failure(error) } }
    }
    // If it does not succeed, the maintenance thread tries again.
    if mustErase { _ = erase() }
    return results
  }

  /// Commits a batch that is made while other writers are kept out.
  func commit(
    waiting milliseconds: Int, making make: () throws(StoreError) -> Batch
  ) throws(StoreError) -> Commit {
    defer { if mustErase { _ = erase() } }
    return try writer.updateQuietly { state throws(StoreError) in
      try writer(&state).commit(until: MonotonicTime.milliseconds + Int64(milliseconds), making: make)
    }
  }

  private func writer(_ state: inout State) throws(StoreError) -> JournalWriter {
    guard !state.isClosed else { throw StoreError(.closed, "the store was closed; open it again") }
    let now =
      state.writer
      ?? JournalWriter(journal, loader, settler, eraser: eraser, commitObserver: commitObserver.read(\.self))
    state.writer = now
    return now
  }

  /// Settles, and lets an idle machine sleep: nothing is left to be done for any process.
  func settle() throws(StoreError) {
    let words = journal.words
    if words.isDoubtful { try endDoubt(waiting: 0) }
    try settler.settle()
    guard words.isDirty, words.settled == words.published else { return }
    writer.updateQuietly { _ in
      // A process that commits at the same time settles later.
      guard (try? journal.lockForWriting(until: 0)) != nil else { return }
      if words.settled == words.published { words.isDirty = false }
      journal.unlockForWriting()
    }
  }

  /// Makes the pulse again if it was removed or cut off.
  func repairPulse() throws(StoreError) {
    guard !journal.hasPulse else { return }
    try writer.updateQuietly { _ throws(StoreError) in try journal.repairPulse(settler) }
  }

  /// Makes syncs prove something again after one has failed.
  func endDoubt(waiting milliseconds: Int) throws(StoreError) {
    try writer.updateQuietly { _ throws(StoreError) in
      try journal.lockForWriting(until: MonotonicTime.milliseconds + Int64(milliseconds))
      defer { journal.unlockForWriting() }
      if journal.words.isDoubtful { try settler.endDoubt() }
    }
  }

  /// Whether the bytes of a secret remain to be erased.
  var mustErase: Bool { eraser.isDue }

  /// Erases the secrets that are due; returns whether it must be called again.
  func erase() -> Bool {
    guard mustErase else { return false }
    guard (try? settle()) != nil, !eraser.isDueInRing || eraseRing() else { return true }
    let isDone = try? settler.withConnection { connection throws(StoreError) in eraser.perform(on: connection) }
    return isDone != true
  }

  /// Begins another ring, which is zeroed; returns whether it succeeded.
  private func eraseRing() -> Bool {
    writer.updateQuietly { _ in
      guard (try? journal.lockForWriting(until: 0)) != nil else { return false }
      defer { journal.unlockForWriting() }
      guard (try? settler.beginRing(for: 0)) != nil else { return false }
      eraser.noteNewRing()
      return true
    }
  }

  /// Lets go of the descriptor of the parent, in the child of a fork.
  func afterForkInChild() { writer.update { $0.writer = nil } }

  /// Releases the observer.
  func close() {
    writer.update { $0 = State(isClosed: true) }
    commitObserver.update { $0 = nil }
  }
}
