// How commits move the pulse, how readers look at it, and how watchers sleep on it. PulsePage.swift states the
// invariants.

import CPlatform

/// The pulse of one open store.
final class Pulse: Sendable {
  private let page: PulsePage
  private let store: StoreID
  // Open for as long as the store is: it carries the lock that says "somebody has this store open". nil: released.
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

  /// Says that this process, or its parent, does not have the store open any more; the page stays mapped.
  func release() {
    file.update { file in
      file?.close()
      file = nil
    }
  }

  /// Goes over to the file that everybody finds now, if this one was removed, replaced or cut.
  ///
  /// What others committed meanwhile was noticed as that of foreign writers is.
  func stayInPlace() {
    file.update { file in
      guard let old = file, !old.isInPlace || !old.isWhole else { return }
      file = (try? old.reopened(for: store, under: page)) ?? old
    }
  }

  /// Even and unchanged: nothing was committed since it was last looked at.
  var generation: UInt64 { kept_load64(page.generation) }

  /// Where the generation stands; the address stays mapped for as long as the process lives.
  var generationAddress: UnsafePointer<UInt64> { UnsafePointer(page.generation) }

  /// Says that a commit is about to become visible.
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

  /// Says that the commit is visible, or will never be, and wakes who waits for it.
  ///
  /// - Returns: false if another writer has moved on already; the end is then announced by that one.
  @discardableResult
  func endCommit(_ own: UInt64) -> Bool {
    let isLast = kept_exchange64(page.generation, own, own &+ 1)
    wakeSleepers()
    return isLast
  }

  /// Says that something changed without a commit of Kept: readers must ask again.
  func touch() {
    let seen = generation
    if seen % 2 == 0 { _ = kept_exchange64(page.generation, seen, seen &+ 2) }
    wakeSleepers()
  }

  /// Says that the page is not to be trusted until the next commit: readers ask SQLite.
  func distrust() { page.moveToNewOdd() }

  /// Sleeps until a commit rings the bell, at most so long; returns at once if the generation is not `seen` any more.
  func sleep(seen: UInt64, milliseconds: Int32) {
    let bell = kept_load32(page.bell)
    // The flag first, then the generation: a writer moves the generation first and then looks at the flag.
    kept_store32(page.sleeping, 1)
    if generation == seen { kept_sleep_on(page.bell, bell, milliseconds) }
  }

  /// Wakes everyone who sleeps; they look again at what they waited for.
  func ring() {
    _ = kept_add32(page.bell, 1)
    kept_wake_all(page.bell)
  }

  private func wakeSleepers() {
    // A plain look first: with nobody asleep a commit touches no more than this line.
    if kept_load32(page.sleeping) != 0, kept_swap32(page.sleeping, 0) != 0 { ring() }
  }
}
