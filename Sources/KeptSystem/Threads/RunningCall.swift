// Calls that other threads wait for before they free what the calls use.

package import KeptValues

/// A call that runs on this thread until its end is recorded.
package final class RunningCall: WaitTarget {
  private let thread = LibraryThread.current
  private let forks = Fork.count
  private let hasEnded = Monitor(false)

  package init() {}

  package var caller: UInt? { hasEnded.read(\.self) ? nil : thread }

  package func end() { hasEnded.update { $0 = true } }

  /// Waits for its end; returns at once if the call runs on this thread or waits for this thread.
  package func wait() {
    // In the child of a fork, the parent's calls never end.
    guard forks == Fork.count else { return }
    let thread = LibraryThread.current
    guard CancellationWaits.ofThisProcess.begin(thread, waitingFor: self) else { return }
    hasEnded.wait { $0 ? () : nil }
    CancellationWaits.ofThisProcess.end(thread)
  }
}

/// Reports failures to a program until it is ended.
///
/// Afterwards it makes no more calls, and the program may free what they use.
package final class Reporter: Sendable {
  private struct State {
    var calls: [RunningCall] = []
    var hasEnded = false
  }
  private let state = Monitor(State())
  private let report: @Sendable (StoreError) -> Void

  package init(_ report: @escaping @Sendable (StoreError) -> Void) { self.report = report }

  package func report(_ error: StoreError) {
    let call = RunningCall()
    let isHeard = state.updateQuietly { state in
      if !state.hasEnded { state.calls.append(call) }
      return !state.hasEnded
    }
    guard isHeard else { return }
    report(error)
    state.updateQuietly { state in state.calls.removeAll { $0 === call } }
    call.end()
  }

  /// Waits for the running calls, but not for those that wait for this thread.
  package func end() {
    let calls = state.updateQuietly { state in
      state.hasEnded = true
      return state.calls
    }
    for call in calls { call.wait() }
  }
}
