// How a task sleeps until there is mail: it is woken once for each time, and never forgotten.

import KeptCore

/// Wakes the tasks that wait for an observer's mail.
///
/// Invariant: whoever sleeps is in `sleepers`, and whoever is taken out of it is resumed by the one who took it out, so
/// that a continuation is resumed exactly once. Mail that comes while nobody sleeps is remembered in `isRinging`.
final class TaskSignal: Delivery {
  private struct State {
    var isRinging = false
    var isOver = false
    var sleepers: [CheckedContinuation<Void, Never>] = []
  }
  private let state = Monitor(State())

  var fetchesMail: Bool { false }

  func mailArrived(for observer: Observer) { wake { $0.isRinging = true } }

  /// Nobody sleeps from now on: no more mail will come.
  func end() { wake { $0.isOver = true } }

  /// Sleeps until the bell rings.
  ///
  /// - Returns: whether there may be mail; false: it is over, or the task was cancelled.
  func waitForRing(isolation: isolated (any Actor)? = #isolation) async -> Bool {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let mayGoOn = state.update { state in
          // Whoever cancels marks the task first and then comes for the sleepers: one of the two sees the other.
          if state.isRinging || state.isOver || Task.isCancelled { return true }
          state.sleepers.append(continuation)
          return false
        }
        if mayGoOn { continuation.resume() }
      }
    } onCancel: {
      // Of several sleepers all wake, and those who were not meant sleep again.
      wake { _ in }
    }
    let isOver = state.update { state in
      state.isRinging = false
      return state.isOver
    }
    return !isOver && !Task.isCancelled
  }

  private func wake(_ change: (inout State) -> Void) {
    let sleepers = state.update { state in
      change(&state)
      defer { state.sleepers = [] }
      return state.sleepers
    }
    for sleeper in sleepers { sleeper.resume() }
  }
}
