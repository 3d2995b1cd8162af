// The token of a subscription, and the promise behind it: after `cancel` returns, no further call begins.

/// Ends its subscription when it is cancelled or dropped.
///
/// The C twin is `kept_subscription`.
public final class Subscription: Sendable {
  private let observer: Observer
  private let observation: StoreObservation

  init(_ observer: Observer, in observation: StoreObservation) {
    self.observer = observer
    self.observation = observation
  }

  deinit { cancel() }

  /// Ends the subscription.
  ///
  /// When it returns no further callback begins; one that runs is waited for, unless this is called from inside it.
  /// Cancelling twice is fine. The C twin is `kept_unobserve`.
  public func cancel() {
    observer.cancel()
    observation.remove(observer)
  }
}

/// One subscription: its scope, the code to call, and whether that may still be called.
final class Observer: Sendable {
  let scope: Scope
  private let call: @Sendable (Notice) -> Void
  private let afterLastCall: @Sendable () -> Void

  // `caller` is the thread that runs a call now, is about to run the initial one, or runs `afterLastCall`. A call
  // begins only while it is nil and the observer is not cancelled. `afterLastCall` runs once, by whoever sets
  // `hasEnded`, and whoever cancels waits for it, as for a call.
  private struct State {
    var caller: UInt?
    // Later commits are delivered, those up to here are part of what was there when the subscription was made.
    var base: Revision = .max
    var isCancelled = false
    var hasEnded = false

    /// Whether the last call has to be followed by `afterLastCall` now, on this thread.
    mutating func end() -> Bool {
      guard isCancelled, !hasEnded else { return false }
      hasEnded = true
      caller = LibraryThread.current
      return true
    }
  }
  private let state = Monitor(State())

  init(
    _ scope: Scope, _ call: @escaping @Sendable (Notice) -> Void, afterLastCall: @escaping @Sendable () -> Void
  ) {
    self.scope = scope
    self.call = call
    self.afterLastCall = afterLastCall
    Fork.join(self)
  }

  deinit { Fork.leave(self) }

  /// Lets it hear of commits after `base`.
  ///
  /// With `initial` they wait until that has been delivered on this thread.
  func begin(after base: Revision, awaitingInitial: Bool) {
    state.update {
      $0.base = base
      if awaitingInitial { $0.caller = LibraryThread.current }
    }
  }

  /// Delivers the initial notice on the thread that called ``begin(after:awaitingInitial:)``.
  func deliverInitial(_ notice: Notice) {
    if !state.read({ $0.isCancelled }) { call(notice) }
    finishCall()
  }

  /// Delivers what lies in the scope, after the call that runs now.
  func deliver(_ notice: Notice) {
    guard let notice = notice.within(scope), beginCall(notice.revision) else { return }
    call(notice)
    finishCall()
  }

  func cancel() {
    state.update { $0.isCancelled = true }
    let isMine: Bool = state.wait { state in
      // From inside the callback: it is not waited for, and ends the observer when it returns.
      if state.caller == LibraryThread.current { return false }
      return state.caller == nil ? state.end() : nil
    }
    if isMine { finish() }
  }

  private func beginCall(_ revision: Revision) -> Bool {
    state.wait { state in
      if state.isCancelled || revision <= state.base { return false }
      guard state.caller == nil else { return nil }
      state.caller = LibraryThread.current
      return true
    }
  }

  private func finishCall() {
    let isLast = state.update { state in
      if state.end() { return true }
      state.caller = nil
      return false
    }
    if isLast { finish() }
  }

  private func finish() {
    afterLastCall()
    state.update { $0.caller = nil }
  }
}

extension Observer: ForkAware {
  func beforeFork() {}

  /// It hears nothing in the child, and whoever cancels it waits for no thread of the parent.
  func afterForkInChild() {
    state.update { state in
      state.base = .max
      if state.caller != LibraryThread.current { state.caller = nil }
    }
  }
}
