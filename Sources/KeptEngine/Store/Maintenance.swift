// When commits are synced, and when a checkpoint is made.

import CPlatform
import KeptSystem
import KeptValues

/// The attempts of this process at a checkpoint that have failed since one has succeeded.
struct FailedCheckpoints {
  private var count = 0
  /// Before this time, no other attempt is made.
  private(set) var next: Int64 = 0
  private(set) var cause: StoreError?

  private static let longest: Int64 = 64_000

  /// Notes a failure: the next attempt is after 1 s, then after 2 s, and so on.
  mutating func note(_ error: StoreError, now: Int64) {
    cause = error
    next = now + min(1000 << min(count, 16), Self.longest)
    count += 1
  }
}

extension Engine {
  /// Does the work that is due within a second of any commit: makes a checkpoint of a long journal, of one that has
  /// replaced secrets, or of one that the system may not have written to the disk, and syncs.
  ///
  /// - Parameter now: the time, in milliseconds.
  /// - Returns: in how many milliseconds it must be called again; nil if that is needed only after another commit.
  package func maintain(now: Int64 = MonotonicTime.milliseconds) -> Int64? {
    var again: Int64?
    // Threads that wait for commits would never wake.
    if (try? checkPlace()) == nil { wake() }
    do throws(StoreError) {
      again = try checkpointDue().map { max($0, failed.read(\.next)) - now }
      if again ?? 1 <= 0 {
        try makeDueCheckpoint(now)
        // Another process may be making one, or this one had to finish one first.
        again = try checkpointDue().map { max($0, failed.read(\.next), now + Self.usualPause) - now }
      }
      // In doubt, a sync proves nothing, and makes a checkpoint.
      if pulse.words.doubt == 0, try !syncIfDirty() { again = Self.usualPause }
    } catch {
      if error.code == .closed { return nil }
      again = Self.usualPause
    }
    return again
  }

  private static let usualPause: Int64 = 1000

  private func makeDueCheckpoint(_ now: Int64) throws(StoreError) {
    do throws(StoreError) {
      try checkpoint { () throws(StoreError) in try checkpointDue().map { $0 <= now } ?? false }
      failed.updateQuietly { $0 = FailedCheckpoints() }
    } catch {
      if error.code == .closed { throw error }
      failed.updateQuietly { $0.note(error, now: now) }
    }
  }

  /// No commit begins while the journals since the checkpoint are longer than this: 64 times the longest
  /// journal that needs no checkpoint.
  static let longestJournals: UInt64 = 64 << 20

  /// Makes a checkpoint if the journals are too long for another commit.
  ///
  /// Throws `busy` if another process is making one until the deadline, and the cause if none can be made.
  func shortenJournals(until deadline: Int64) throws(StoreError) {
    while try read({ $0.length }) > Self.longestJournals {
      let now = MonotonicTime.milliseconds
      let known = failed.read { $0.next > now ? $0.cause : nil }
      if let known { throw known }
      try makeDueCheckpoint(now)
      if let cause = failed.read(\.cause) { throw cause }
      guard try read({ $0.length }) > Self.longestJournals else { return }
      guard now < deadline else {
        throw StoreError(
          .busy,
          "the journals of the store in \(shown: folder.path) have more than \(Self.longestJournals >> 20) MiB, and "
            + "another program did not finish a checkpoint within the timeout; try again, or end stopped programs"
        )
      }
      MonotonicTime.letPass(microseconds: 500)
    }
  }

  /// When a checkpoint is to be made; nil if none is needed.
  private func checkpointDue() throws(StoreError) -> Int64? {
    if try pulse.words.doubt > 0 ? true : isLong(Self.usualLength) { return 0 }
    return try eraseDue()
  }

  /// When the bytes of replaced secrets leave the files with the next checkpoint, once a second at most; nil if there
  /// are none.
  private func eraseDue() throws(StoreError) -> Int64? {
    try read { chain throws(StoreError) in chain.erases ? chain.opened + 1000 : nil }
  }

  /// Closes the store; commits stay.
  ///
  /// The last process makes a checkpoint of a journal that would make the next opening slow. It may turn out not to be
  /// the last: then another process opens a longer journal. A process that has seen a secret being replaced removes its
  /// bytes, because the others may be idle.
  package func close() {
    guard !state.read({ $0.isClosed }) else { return }
    let isLast = !pulse.hasOtherHolder
    // If this fails, the next process does it.
    if isLast { _ = try? checkpoint { () throws(StoreError) in try isLong(Self.lengthAtLastClose) } }
    if isLast || state.read({ $0.chain.erases }) {
      // The first call may only finish the checkpoint of a process that was killed.
      for _ in 0..<2 where (try? eraseDue()) ?? nil != nil { _ = try? checkpoint() }
    }
    if isLast { _ = try? syncIfDirty() }
    state.update { $0.isClosed = true }
    // Another thread may be making a checkpoint. It needs the locks, and ends soon.
    work.wait { work in work.isCheckpoint ? nil : () }
    pulse.release()
    lock.updateQuietly { lock in
      if let lock { kept_engine_unlock_folder(lock.descriptor) }
    }
  }

  /// Syncs the unsynced commits; returns whether no commit was published in between.
  private func syncIfDirty() throws(StoreError) -> Bool {
    guard pulse.words.isDirty else { return true }
    try sync()
    // With the write lock, so that no frame is published in between.
    return try write(until: MonotonicTime.milliseconds + 1000, needsRoom: false) { _ throws(StoreError) in
      let isDone = pulse.words.synced >= pulse.words.published
      if isDone { pulse.words.isDirty = false }
      return isDone
    }
  }

  /// Whether the journals since the checkpoint are longer than a length that depends on the length of the checkpoint.
  private func isLong(_ length: (_ checkpoint: Int) -> Int) throws(StoreError) -> Bool {
    try read { chain throws(StoreError) in
      chain.length > UInt64(length(chain.values.header.fileBytes))
    }
  }

  /// A process that joins reads all frames, so a longer journal costs more than it saves: the checkpoint is written
  /// again at most for each half of its length, and for each 64 KiB.
  private static func usualLength(_ checkpoint: Int) -> Int { min(1 << 20, max(64 << 10, checkpoint / 2)) }

  /// Each opening reads the frames that are left, so a store of a few MiB is written again.
  private static func lengthAtLastClose(_ checkpoint: Int) -> Int { checkpoint > 4 << 20 ? 64 << 10 : 4 << 10 }
}
