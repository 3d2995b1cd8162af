// Background work of an open store: plain writes are synced to the disk within a second, and a store that is being
// read is checked for foreign writers, because the sqlite3 shell does not move the pulse. One thread, which sleeps
// while there is no work.

import Synchronization

/// The thread behind one open store.
///
/// It is started when there is work for the first time.
final class MaintenanceThread: Sendable {
  private struct State {
    var hasThread = false
    var isEnded = false
    var mustSync = false
    var mustLook = false
    // A caller caches above the storage and does not call it: check without end.
    var looksAlways = false
    // A watcher performs the check meanwhile, each time it has waited in vain.
    var isWatched = false

    var mustLookOften: Bool { looksAlways && !isWatched }
    var isDue: Bool { mustSync && mustLook && hasThread }
    var isIdle: Bool { !mustSync && !mustLook && !mustLookOften }
  }
  private let state = Monitor(State())
  // Set while the thread is about to sync and check and has begun with neither; callers that see it need not notify the
  // thread. It is set under the monitor, and cleared there before the thread begins.
  private let isDue = Atomic<Bool>(false)
  private let sync: @Sendable () -> Bool
  private let look: @Sendable (_ forCaches: Bool) -> Void

  /// The longest delay between a write or a read and the work that it causes.
  private static let intervalMilliseconds: Int64 = 900

  /// Creates the maintenance of one store.
  ///
  /// - Parameters:
  ///   - sync: syncs the log to the disk; returns whether it must be called again. No lock is held.
  ///   - look: checks for foreign writers. No lock is held.
  init(sync: @escaping @Sendable () -> Bool, look: @escaping @Sendable (_ forCaches: Bool) -> Void) {
    self.sync = sync
    self.look = look
  }

  /// Notes that the index is in use, or is about to be.
  ///
  /// - Parameter mustSync: whether the log also contains data that is not on the disk.
  func noteUseOfIndex(mustSync: Bool = false) {
    if isDue.load(ordering: .sequentiallyConsistent) { return }
    note { state in
      state.mustLook = true
      if mustSync { state.mustSync = true }
    }
  }

  /// Notes that a reader caches values until the generation moves.
  func noteCaching() { note { $0.looksAlways = true } }

  /// Notes that a watcher waits for commits and calls ``watchedInVain()`` periodically, so an idle program wakes once.
  func noteWatching() { state.updateQuietly { $0.isWatched = true } }

  /// Notes that the watcher has stopped and may not return.
  func noteEndOfWatching() { note(mayStart: false) { $0.isWatched = false } }

  /// Checks the store after a watcher has timed out without a wakeup.
  func watchedInVain() { look(state.read(\.looksAlways)) }

  /// Resets the state in the child of a fork: it has no thread, and pending syncs are the parent's.
  ///
  /// - Returns: whether a caller caches above the storage, and must be made to call it, so that the thread is started
  ///   again.
  func afterForkInChild() -> Bool {
    state.update { state in
      (state.hasThread, state.mustSync, state.mustLook, state.isWatched) = (false, false, false, false)
      isDue.store(false, ordering: .sequentiallyConsistent)
      return state.looksAlways
    }
  }

  func end() { state.update { $0.isEnded = true } }

  private func note(mayStart: Bool = true, _ what: (inout State) -> Void) {
    let (mustStart, mustWake) = state.updateQuietly { state in
      let wasIdle = state.isIdle
      what(&state)
      defer {
        if mayStart { state.hasThread = true }
        isDue.store(state.isDue, ordering: .sequentiallyConsistent)
      }
      return (mayStart && !state.hasThread && !state.isEnded, wasIdle && !state.isIdle)
    }
    // A thread that works, or pauses before work, finds the note by itself.
    if mustWake { state.update { _ in } }
    if mustStart { start() }
  }

  /// Starts the thread; if that fails, the next use of the store tries again.
  ///
  /// Without a thread, `flush` and `close` still sync writes, and each read queries SQLite after a while.
  private func start() {
    do throws(StoreError) { try LibraryThread.start { [self] in work() } } catch {
      state.updateQuietly { state in
        state.hasThread = false
        isDue.store(false, ordering: .sequentiallyConsistent)
      }
    }
  }

  private func work() {
    while let duty = next() {
      if duty.mustSync, sync() { note(mayStart: false) { $0.mustSync = true } }
      if duty.mustLook || duty.mustLookOften { look(duty.looksAlways) }
    }
  }

  /// Waits for work, then for the interval, and takes the work; nil at the end.
  private func next() -> State? {
    let isEnded = state.wait { $0.isEnded ? true : $0.isIdle ? nil : false }
    if isEnded || state.wait(milliseconds: Self.intervalMilliseconds, until: { $0.isEnded ? true : nil }) != nil {
      return nil
    }
    return state.update { state in
      defer {
        (state.mustSync, state.mustLook) = (false, false)
        isDue.store(false, ordering: .sequentiallyConsistent)
      }
      return state
    }
  }
}
