// The thread of an open store that syncs its commits and makes its checkpoints, within a second of any commit.

import KeptEngine
import KeptSystem
import KeptValues
import Synchronization

/// The maintenance of one open store.
///
/// Its thread starts with the first work. It sleeps while there is none, keeps no handle open, and exits after
/// ``end()``.
final class MaintenanceThread: Sendable {
  struct State {
    /// nil before the store is open, and after the end.
    var engine: Engine?
    var hasThread = false
    /// When the work is to be done, in milliseconds; nil if there is none.
    var due: Int64?
    var isWorking = false
    /// When the work was last ended.
    var done: Int64 = 0

    var isIdle: Bool { due == nil && !isWorking }
  }
  let state = Monitor(State())
  // The urgency of noted work that has not begun: callers that find it here need not note anything. It
  // changes with `due`, before the thread begins to work.
  private let noted = Atomic<Int>(0)

  enum Urgency: Int {
    case usual = 1, hurry
  }
  private static let usualPause: Int64 = 900
  // A checkpoint may fail, and leave the journals as long as they were.
  private static let shortestPause: Int64 = 100

  /// Longer journals get a checkpoint at once: a quarter of the length that stops commits.
  private static let longJournal: UInt64 = 16 << 20

  /// A journal up to this length causes no checkpoint.
  private static let shortJournal: UInt64 = 64 << 10

  /// Begins to maintain a store.
  func begin(_ engine: Engine) {
    state.updateQuietly { $0.engine = engine }
    // Processes that have ended may have left commits that are not synced.
    if engine.isDirty { note(.usual) }
  }

  /// Notes commits that were read or made.
  func note(_ chain: Chain) {
    let length = chain.length
    note(length < Self.longJournal ? .usual : .hurry) { $0.isDirty || chain.erases || length > Self.shortJournal }
  }

  /// Notes that there is work.
  func note(_ urgency: Urgency, if isNeeded: (Engine) -> Bool = { _ in true }) {
    if noted.load(ordering: .sequentiallyConsistent) >= urgency.rawValue { return }
    let now = MonotonicTime.milliseconds
    let mustStart = state.update { state in
      guard let engine = state.engine, isNeeded(engine) else { return false }
      let due = urgency == .usual ? now + Self.usualPause : max(now, state.done + Self.shortestPause)
      state.due = min(state.due ?? due, due)
      noted.store(urgency.rawValue, ordering: .sequentiallyConsistent)
      defer { state.hasThread = true }
      return !state.hasThread
    }
    if mustStart { start() }
  }

  /// The child of a fork has no thread; the parent does the noted work.
  func afterForkInChild() {
    state.updateQuietly { state in
      (state.hasThread, state.isWorking, state.due) = (false, false, nil)
      noted.store(0, ordering: .sequentiallyConsistent)
    }
  }

  func end() { state.update { $0.engine = nil } }

  /// Starts the thread; if that fails, the next commit tries again, and closing does the work otherwise.
  private func start() {
    do throws(StoreError) { try LibraryThread.start { [self] in work() } } catch {
      state.updateQuietly { state in
        state.hasThread = false
        noted.store(0, ordering: .sequentiallyConsistent)
      }
    }
  }

  private func work() {
    while let engine = next() {
      let again = engine.maintain()
      state.update { state in
        (state.isWorking, state.done) = (false, MonotonicTime.milliseconds)
        if let again { state.due = min(state.due ?? .max, state.done + again) }
      }
    }
    state.update { $0.hasThread = false }
  }

  /// Waits for work, and until it is due; nil at the end.
  private func next() -> Engine? {
    while let due = state.wait(until: { $0.engine == nil ? .some(nil) : $0.due.map(Optional.some) }) {
      let isOther: Bool? = state.wait(milliseconds: max(0, due - MonotonicTime.milliseconds)) { state in
        state.engine == nil || state.due ?? due < due ? true : nil
      }
      if isOther != nil { continue }
      return state.updateQuietly { state in
        (state.due, state.isWorking) = (nil, true)
        noted.store(0, ordering: .sequentiallyConsistent)
        return state.engine
      }
    }
    return nil
  }
}
