// What has to be done now and then: plain writes are brought to the disk within a second, and a store that is being
// read is looked at again, because the sqlite3 shell moves no pulse. One thread, that sleeps while there is nothing.

import Synchronization

/// The thread behind one open store.
///
/// It is started by the first thing there is to do.
final class MaintenanceThread: Sendable {
  private struct State {
    var hasThread = false
    var isEnded = false
    var mustSync = false
    var mustLook = false
    // Somebody caches above us and asks nobody: look for ever.
    var looksAlways = false
    // A watcher does that meanwhile, whenever it has waited in vain.
    var isWatched = false

    var mustLookOften: Bool { looksAlways && !isWatched }
    var isDue: Bool { mustSync && mustLook && hasThread }
    var isIdle: Bool { !mustSync && !mustLook && !mustLookOften }
  }
  private let state = Monitor(State())
  // The thread will sync and look, and has begun with neither: whoever finds that need not say anything. It is said
  // under the monitor, and taken back there before the thread begins.
  private let isDue = Atomic<Bool>(false)
  private let sync: @Sendable () -> Bool
  private let look: @Sendable (_ forCaches: Bool) -> Void

  /// How long after a write, or a read, its duty is done at the latest.
  private static let intervalMilliseconds: Int64 = 900

  /// `sync` brings the log to the disk, and says whether it must be called again; `look` looks for foreign writers;
  /// both are called with no lock held.
  init(sync: @escaping @Sendable () -> Bool, look: @escaping @Sendable (_ forCaches: Bool) -> Void) {
    self.sync = sync
    self.look = look
  }

  /// Somebody reads from the index, or soon will.
  ///
  /// - Parameter mustSync: there is something in the log that is not on the disk, too.
  func noteUseOfIndex(mustSync: Bool = false) {
    if isDue.load(ordering: .sequentiallyConsistent) { return }
    note { state in
      state.mustLook = true
      if mustSync { state.mustSync = true }
    }
  }

  /// Somebody reads, and keeps what was read for as long as the generation stands still.
  func noteCaching() { note { $0.looksAlways = true } }

  /// A watcher waits for commits, and calls ``watchedInVain()`` now and then: an idle program need not wake twice.
  func noteWatching() { state.updateQuietly { $0.isWatched = true } }

  /// The watcher may not come back.
  func noteEndOfWatching() { note(mayStart: false) { $0.isWatched = false } }

  /// Nobody rang: the store is looked at here.
  func watchedInVain() { look(state.read(\.looksAlways)) }

  /// In the child of a fork: there is no thread, and what was to be synced is the parent's to sync.
  ///
  /// - Returns: whether somebody caches above us, and must be made to ask, so that the thread is started again.
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
    // One that works, or pauses before it does, finds the note by itself.
    if mustWake { state.update { _ in } }
    // Without a thread, writes are still synced by `flush` and `close`, and each read asks SQLite after a while.
    if mustStart { try? LibraryThread.start { [self] in work() } }
  }

  private func work() {
    while let duty = next() {
      if duty.mustSync, sync() { note(mayStart: false) { $0.mustSync = true } }
      if duty.mustLook || duty.mustLookOften { look(duty.looksAlways) }
    }
  }

  /// Waits for something to do, then for the interval, and takes it; nil at the end.
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
