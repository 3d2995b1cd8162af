// Background work of an open store: commits are settled within a second, and a folder that was removed or replaced is
// noticed while the store is in use. One thread, which sleeps while there is no work.

import KeptSystem
import KeptValues
import Synchronization

/// The thread behind one open store.
///
/// It is started when there is work for the first time.
final class MaintenanceThread: Sendable {
  private struct State {
    var hasThread = false
    var isEnded = false
    var mustSettle = false
    var mustLook = false
    // Its writer has checked that the folder is in place.
    var hasCommit = false

    var isDue: Bool { hasCommit && hasThread }
    var isIdle: Bool { !mustSettle && !mustLook }
    // The ring is filling up, so the interval is too long.
    var mustHurry = false
  }
  private let state = Monitor(State())
  // Set while the thread is about to settle and look, after a commit, and has begun with neither; callers that see it
  // need not notify the thread. It is set under the monitor, and cleared there before the thread begins.
  private let isDue = Atomic<Bool>(false)
  // The same for settling now.
  private let isHurried = Atomic<Bool>(false)
  private let settle: @Sendable () -> Bool
  private let look: @Sendable () -> Void

  /// The longest delay between a write or a read and the work that it causes.
  private static let intervalMilliseconds: Int64 = 900

  /// Creates the maintenance of one store.
  ///
  /// - Parameters:
  ///   - settle: settles commits; returns whether it must be called again. No lock is held.
  ///   - look: checks whether the folder is in place. No lock is held.
  init(settle: @escaping @Sendable () -> Bool, look: @escaping @Sendable () -> Void) {
    self.settle = settle
    self.look = look
  }

  /// Notes a read.
  func noteUse() { note { _ in } }

  /// Notes frames that must be settled, whoever has committed them.
  func noteFrames() { note { $0.mustSettle = true } }

  /// Notes a commit of this process.
  func noteCommit() { note { state in (state.mustSettle, state.hasCommit) = (true, true) } }

  /// Whether a commit was noted since the thread last looked.
  ///
  /// Frames and reads that other threads note do not count: an observer's thread may note the frame of a commit before
  /// its writer does.
  @inline(__always)
  var hasCommit: Bool { isDue.load(ordering: .sequentiallyConsistent) }

  private func note(_ change: (inout State) -> Void) {
    if hasCommit { return }
    let (mustStart, mustWake) = state.updateQuietly { state in
      let wasIdle = state.isIdle
      state.mustLook = true
      change(&state)
      defer {
        state.hasThread = true
        isDue.store(state.isDue, ordering: .sequentiallyConsistent)
      }
      return (!state.hasThread && !state.isEnded, wasIdle)
    }
    // A thread that works, or pauses before work, finds the note by itself.
    if mustWake { state.update { _ in } }
    if mustStart { start() }
  }

  /// Settles now: the ring is filling up.
  func hurry() {
    if isHurried.load(ordering: .sequentiallyConsistent) { return }
    state.update { state in
      state.mustHurry = true
      isHurried.store(true, ordering: .sequentiallyConsistent)
    }
  }

  /// Resets the state in the child of a fork: it has no thread, and the parent settles the pending frames.
  func afterForkInChild() {
    state.update { state in
      state = State(isEnded: state.isEnded)
      isDue.store(false, ordering: .sequentiallyConsistent)
      isHurried.store(false, ordering: .sequentiallyConsistent)
    }
  }

  func end() { state.update { $0.isEnded = true } }

  /// Starts the thread; if that fails, the next use of the store tries again.
  ///
  /// Without a thread, closing still settles, and a writer that finds the ring full.
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
      if duty.mustSettle {
        if settle() { state.updateQuietly { $0.mustSettle = true } }
      } else {
        look()
      }
    }
  }

  /// Waits for work, then for the interval, and takes the work; nil at the end.
  private func next() -> State? {
    let isEnded = state.wait { $0.isEnded ? true : $0.isIdle ? nil : false }
    let isOver = { (state: inout State) -> Bool? in state.isEnded ? true : state.mustHurry ? false : nil }
    if isEnded || state.wait(milliseconds: Self.intervalMilliseconds, until: isOver) == true { return nil }
    return state.update { state in
      defer {
        (state.mustSettle, state.mustLook, state.hasCommit, state.mustHurry) = (false, false, false, false)
        isDue.store(false, ordering: .sequentiallyConsistent)
        isHurried.store(false, ordering: .sequentiallyConsistent)
      }
      return state
    }
  }
}
