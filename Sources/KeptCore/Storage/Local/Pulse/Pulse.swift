// How commits move the pulse, how readers check it, and how watchers sleep on it. PulsePage.swift states the
// invariants.

import CPlatform

/// The pulse of one open store.
final class Pulse: Sendable {
  private let page: PulsePage
  private let store: StoreID
  // Open while the store is open: it carries the shared lock that marks the store as open. nil after release.
  private let file: Monitor<PulseFile?>

  init(_ file: PulseFile, _ page: PulsePage, of store: StoreID) {
    self.file = Monitor(file)
    self.page = PulsePages.settle(page)
    self.store = store
  }

  deinit {
    release()
    PulsePages.retire(page)
  }

  /// Releases the lock of this process, or of its parent, when the store is closed; the page stays mapped.
  func release() {
    file.update { file in
      file?.close()
      file = nil
    }
  }

  /// Switches to the file that other processes find now, if this one was removed, replaced or truncated.
  ///
  /// Commits of others before that are detected in the same way as those of foreign writers.
  func stayInPlace() {
    file.update { file in
      guard let old = file, !old.isInPlace || !old.isWhole else { return }
      file = (try? old.reopened(for: store, under: page)) ?? old
    }
  }

  /// The generation; if it is even and unchanged, nothing was committed since it was last read.
  var generation: UInt64 { kept_load64(page.generation) }

  /// The address of the generation, which stays mapped until the process ends.
  var generationAddress: UnsafePointer<UInt64> { UnsafePointer(page.generation) }

  /// Marks the beginning of a commit that is about to become visible.
  ///
  /// Call it under SQLite's write lock, before COMMIT.
  ///
  /// - Returns: the odd number of this commit, for ``endCommit(_:)``.
  func beginCommit() -> UInt64 {
    while true {
      let seen = generation
      let own = seen % 2 == 0 ? seen &+ 1 : seen &+ 2
      if kept_exchange64(page.generation, seen, own) { return own }
    }
  }

  /// Marks the end of a commit, visible or failed, and wakes sleepers.
  ///
  /// - Returns: false if another writer has already moved the pulse; that writer then marks the end.
  @discardableResult
  func endCommit(_ own: UInt64) -> Bool {
    let isLast = kept_exchange64(page.generation, own, own &+ 1)
    wakeSleepers()
    return isLast
  }

  /// Moves the generation after a change without a commit of Kept, so that readers query SQLite again.
  func touch() {
    let seen = generation
    if seen % 2 == 0 { _ = kept_exchange64(page.generation, seen, seen &+ 2) }
    wakeSleepers()
  }

  /// Marks the page as unreliable until the next commit: readers query SQLite.
  func distrust() { page.moveToNewOdd() }

  /// Sleeps until a commit wakes sleepers, or until the time-out; returns at once if the generation is not `seen`.
  func sleep(seen: UInt64, milliseconds: Int32) {
    let word = kept_load32(page.wakeWord)
    // The flag first, then the generation: a writer moves the generation first and then reads the flag.
    kept_store32(page.sleeping, 1)
    if generation == seen { kept_sleep_on(page.wakeWord, word, milliseconds) }
  }

  /// Wakes all sleepers; they check their conditions again.
  func wake() {
    _ = kept_add32(page.wakeWord, 1)
    kept_wake_all(page.wakeWord)
  }

  private func wakeSleepers() {
    // A plain load first: without sleepers a commit touches only this cache line.
    if kept_load32(page.sleeping) != 0, kept_swap32(page.sleeping, 0) != 0 { wake() }
  }
}
