// Suspends a task until there is mail, without lost wake-ups.

import KeptCore
import KeptSystem

/// Wakes the tasks that wait for an observer's mail.
///
/// Invariant: a sleeping task is in `sleepers`, and the thread that removes it from there resumes it, so that a
/// continuation is resumed exactly once. Mail that arrives while no task sleeps is recorded in `isRinging`.
final class TaskSignal: Delivery {
  private struct State {
    var isRinging = false
    var isOver = false
    var sleepers: [CheckedContinuation<Void, Never>] = []
  }
  private let state = Monitor(State())

  var fetchesMail: Bool { false }

  func mailArrived(for observer: Observer) { wake { $0.isRinging = true } }

  /// Ends the signal: no task sleeps from now on, because no more mail will arrive.
  func end() { wake { $0.isOver = true } }

  /// Sleeps until there is a signal.
  ///
  /// - Returns: whether there may be mail; false if the signal has ended or the task was cancelled.
  func waitForSignal(isolation: isolated (any Actor)? = #isolation) async -> Bool {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let mayGoOn = state.update { state in
          // A cancelling thread marks the task first and then wakes the sleepers, so one of the two sees the other.
          if state.isRinging || state.isOver || Task.isCancelled { return true }
          state.sleepers.append(continuation)
          return false
        }
        if mayGoOn { continuation.resume() }
      }
    } onCancel: {
      // All sleepers wake, and those that were not cancelled sleep again.
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
