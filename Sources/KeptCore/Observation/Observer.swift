// One subscription: its scope, its mailbox, and whether its callback may still be called.

import KeptSystem
import KeptValues
import Synchronization

/// How an observer with mail is called: by a thread of the library, by the host, or on a queue.
package protocol Delivery: AnyObject, Sendable {
  /// Whether the delivery fetches mail from the change feed itself, and is notified only of mail left undelivered
  /// before.
  var fetchesMail: Bool { get }

  /// Notifies the delivery that the observer has a notice; see ``Observer/deliverNext()``.
  ///
  /// Called with no lock held.
  func mailArrived(for observer: Observer)
}

/// A subscription.
///
/// When it ends, it releases the closures that the program passed and its reference to the store.
package final class Observer: Sendable {
  let scope: Scope
  /// The handle on which the subscription was made.
  ///
  /// After the subscription has ended, another handle may have this identity.
  let handle: ObjectIdentifier
  /// Whether the delivery fetches the mail.
  let isFetched: Bool

  // The number of quick calls until the observer is called with the others again; 0 if it already is.
  private let owed = Atomic<Int>(0)

  /// The number of consecutive quick calls after which a slow observer counts as quick.
  static let quickCallsInARow = 16

  /// The objects that an observer holds until it ends, and releases with no lock held, because these may be the last
  /// references to the store or to objects of the program.
  private struct Resources {
    let call: @Sendable (Notice) -> Void
    let afterLastCall: @Sendable () -> Void
    let delivery: any Delivery
    let observation: StoreObservation
    // Open until then: the compiler releases a program's own reference after its last use.
    let store: any Sendable & AnyObject
  }

  // `caller` is the thread that runs a call now, is about to run the initial one, or runs `afterLastCall`. A call
  // begins only while `caller` is nil and the observer is not cancelled. The thread that sets `hasEnded` runs
  // `afterLastCall` once, and a cancelling thread waits for it as for a call. While `isNotified`, the delivery has been
  // notified of the mail and will fetch it. It is notified when there is mail, no call runs, and it was not notified
  // before.
  private struct State {
    var resources: Resources?
    var mailbox = Mailbox()
    var isNotified = false
    var caller: UInt?
    var isCancelled = false
    var hasEnded = false

    /// Whether `afterLastCall` must run now, on this thread.
    mutating func end() -> Bool {
      guard isCancelled, !hasEnded else { return false }
      hasEnded = true
      mailbox = Mailbox()
      caller = LibraryThread.current
      return true
    }

    /// The resources to release after the last call.
    mutating func takeResources() -> Resources? {
      defer { resources = nil }
      return resources
    }

    /// The steps that remain for the cancelling thread.
    mutating func cancel() -> Cancelling {
      isCancelled = true
      if let caller { return caller == LibraryThread.current ? .isOver : .isRunning }
      return end() ? .isLast : .isOver
    }

    /// Whether the delivery must be notified of mail.
    mutating func mustNotifyDelivery() -> Bool {
      guard !isNotified, caller == nil, !isCancelled, !mailbox.isEmpty else { return false }
      isNotified = true
      return true
    }
  }
  private enum Cancelling { case isOver, isLast, isRunning }
  private let state: Monitor<State>

  /// - Parameter isStarting: the creating thread is about to deliver the initial notice; see ``start(with:)``.
  /// - Parameter store: what has the observation, kept open until the subscription ends.
  init(
    _ scope: Scope, in observation: StoreObservation, of store: any Sendable & AnyObject, by delivery: any Delivery,
    isStarting: Bool,
    _ call: @escaping @Sendable (Notice) -> Void, afterLastCall: @escaping @Sendable () -> Void
  ) {
    self.scope = scope
    handle = observation.handle
    isFetched = delivery.fetchesMail
    state = Monitor(
      State(
        resources: Resources(
          call: call, afterLastCall: afterLastCall, delivery: delivery, observation: observation, store: store),
        caller: isStarting ? LibraryThread.current : nil))
    Fork.join(self)
  }

  deinit { Fork.leave(self) }

  /// The number of notices in the mailbox.
  var waitingCount: Int { state.read { $0.mailbox.count } }

  /// Whether a call has taken long, and too few quick calls have followed.
  var isSlow: Bool { owed.load(ordering: .relaxed) > 0 }

  /// Records whether the last call was slow.
  func note(isSlow: Bool) {
    // Calls come one at a time, so no other thread counts down.
    let left = owed.load(ordering: .relaxed)
    if isSlow || left > 0 { owed.store(isSlow ? Self.quickCallsInARow : left - 1, ordering: .relaxed) }
  }

  /// Puts a notice into the mailbox.
  ///
  /// - Returns: whether the caller must call ``notifyDelivery()`` after it has released its locks.
  func post(_ notice: Notice) -> Bool {
    state.updateQuietly { state in
      guard !state.isCancelled else { return false }
      state.mailbox.add(notice)
      return state.mustNotifyDelivery()
    }
  }

  /// Notifies the delivery of mail.
  func notifyDelivery() { state.read { $0.resources?.delivery }?.mailArrived(for: self) }

  /// Delivers the initial notice on the thread that created the observer, and then allows other deliveries.
  func start(with notice: Notice) {
    if !state.read({ $0.isCancelled }) { call(with: notice) }
    finishCall()
  }

  /// Calls the callback.
  ///
  /// It holds no reference to the program's objects when it returns.
  private func call(with notice: Notice) { state.read { $0.resources?.call }?(notice) }

  /// Puts the initial notice before everything else that waits.
  func start(waitingFor notice: Notice?) {
    let mustNotify = state.update { state in
      if let notice { state.mailbox.begin(with: notice) }
      state.caller = nil
      return state.mustNotifyDelivery()
    }
    if mustNotify { notifyDelivery() }
  }

  /// Makes one call with the next notice, and notifies the delivery again if there are more.
  ///
  /// - Returns: whether there was a call.
  @discardableResult
  package func deliverNext() -> Bool {
    let notice = state.updateQuietly { state -> Notice? in
      state.isNotified = false
      guard state.caller == nil, !state.isCancelled, let notice = state.mailbox.take() else { return nil }
      state.caller = LibraryThread.current
      return notice
    }
    guard let notice else { return false }
    call(with: notice)
    finishCall()
    return true
  }

  /// Returns the next notice without a call; nil if there is none now.
  package func takeNext() -> Notice? {
    let (notice, mustNotify) = state.updateQuietly { state -> (Notice?, Bool) in
      state.isNotified = false
      guard state.caller == nil, !state.isCancelled, let notice = state.mailbox.take() else { return (nil, false) }
      return (notice, state.mustNotifyDelivery())
    }
    if mustNotify { notifyDelivery() }
    return notice
  }

  /// Takes the next notice for an observer that is not called; nil if there is none now, and the delivery is notified
  /// later.
  package func take() -> Notice? {
    state.updateQuietly { state in
      guard !state.isCancelled else { return nil }
      let notice = state.mailbox.take()
      if state.mailbox.isEmpty { state.isNotified = false }
      return notice
    }
  }

  /// Ends the subscription: no further call begins, and a running call is waited for.
  ///
  /// It does not wait inside that call, or inside another call that it waits for. That call then ends the observer as
  /// it returns.
  func cancelSubscription() {
    state.read { $0.resources?.observation }?.remove(self)
    cancel()
  }

  /// Does the same for an observer that no longer receives commits.
  func cancel() {
    while true {
      switch state.update({ $0.cancel() }) {
      case .isOver: return
      case .isLast: return finish()
      case .isRunning: if !waitForCall() { return }
      }
    }
  }

  /// Waits for the running call; returns false at once if that call waits for this thread.
  private func waitForCall() -> Bool {
    let thread = LibraryThread.current
    guard CancellationWaits.ofThisProcess.begin(thread, waitingFor: self) else { return false }
    state.wait { $0.caller == nil ? () : nil }
    CancellationWaits.ofThisProcess.end(thread)
    return true
  }

  /// The thread that runs its callback now.
  var caller: UInt? { state.read(\.caller) }

  private func finishCall() {
    let (isLast, mustNotify) = state.update { state in
      if state.end() { return (true, false) }
      state.caller = nil
      return (false, state.mustNotifyDelivery())
    }
    if isLast { finish() }
    if mustNotify { notifyDelivery() }
  }

  private func finish() {
    state.updateQuietly { $0.takeResources() }?.afterLastCall()
    state.update { $0.caller = nil }
  }
}

extension Observer: WaitTarget {}

extension Observer: ForkAware {
  /// Ends delivery in the child; a cancelling thread does not wait for a thread of the parent.
  func afterForkInChild() {
    state.update { state in
      state.mailbox = Mailbox()
      if state.caller != LibraryThread.current { state.caller = nil }
    }
  }
}
