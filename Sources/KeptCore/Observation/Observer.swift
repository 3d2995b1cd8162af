// One subscription: its scope, its mailbox, and whether its code may still be called.

import Synchronization

/// What becomes of an observer with mail: a thread of the library calls it, or the host does, or a queue.
///
package protocol Delivery: AnyObject, Sendable {
  /// Whether it asks the feed for mail by itself, and is told only of what could not be delivered before.
  var fetchesMail: Bool { get }

  /// The observer has a notice that nobody has been told of yet; see ``Observer/deliverNext()``.
  ///
  /// Called with no lock held.
  func mailArrived(for observer: Observer)
}

/// Its place in the line of what is told, until it ends; what a program has given it, and the store, go with its end.
package final class Observer: Sendable {
  let scope: Scope
  /// The handle that the subscription was made on; that of a subscription that has ended may be another's by now.
  let handle: ObjectIdentifier
  /// Whether its delivery fetches the mail.
  let isFetched: Bool

  // How many quick calls it owes until it is called with the others again; 0: it is.
  private let owed = Atomic<Int>(0)

  /// So many calls in a row make a slow observer a quick one.
  static let quickCallsInARow = 16

  /// What an observer holds until it ends, and lets go with no lock held: the last reference to something of a
  /// program's may be among them, or to the store.
  private struct Resources {
    let call: @Sendable (Notice) -> Void
    let afterLastCall: @Sendable () -> Void
    let delivery: any Delivery
    // Open until then: the compiler lets go of a program's own reference after its last use.
    let store: Store
  }

  // `caller` is the thread that runs a call now, is about to run the initial one, or runs `afterLastCall`. A call
  // begins only while it is nil and the observer is not cancelled. `afterLastCall` runs once, by whoever sets
  // `hasEnded`, and whoever cancels waits for it, as for a call. While `isNotified`, the delivery has been told of the
  // mail, and will come for it; it is told when there is mail, nobody is calling, and it does not know yet.
  private struct State {
    var resources: Resources?
    var mailbox = Mailbox()
    var isNotified = false
    var caller: UInt?
    var isCancelled = false
    var hasEnded = false

    /// Whether the last call has to be followed by `afterLastCall` now, on this thread.
    mutating func end() -> Bool {
      guard isCancelled, !hasEnded else { return false }
      hasEnded = true
      mailbox = Mailbox()
      caller = LibraryThread.current
      return true
    }

    /// What is let go after the last call.
    mutating func takeResources() -> Resources? {
      defer { resources = nil }
      return resources
    }

    /// What whoever cancels still has to do.
    mutating func cancel() -> Cancelling {
      isCancelled = true
      if let caller { return caller == LibraryThread.current ? .isOver : .isRunning }
      return end() ? .isLast : .isOver
    }

    /// Whether the delivery has to be told of mail.
    mutating func mustNotifyDelivery() -> Bool {
      guard !isNotified, caller == nil, !isCancelled, !mailbox.isEmpty else { return false }
      isNotified = true
      return true
    }
  }
  private enum Cancelling { case isOver, isLast, isRunning }
  private let state: Monitor<State>

  /// - Parameter isStarting: the thread that makes it is about to deliver the initial notice; see ``start(with:)``.
  init(
    _ scope: Scope, of store: Store, by delivery: any Delivery, isStarting: Bool,
    _ call: @escaping @Sendable (Notice) -> Void, afterLastCall: @escaping @Sendable () -> Void
  ) {
    self.scope = scope
    handle = store.observation.handle
    isFetched = delivery.fetchesMail
    state = Monitor(
      State(
        resources: Resources(call: call, afterLastCall: afterLastCall, delivery: delivery, store: store),
        caller: isStarting ? LibraryThread.current : nil))
    Fork.join(self)
  }

  deinit { Fork.leave(self) }

  /// How many notices wait in its mailbox.
  var waitingCount: Int { state.read { $0.mailbox.count } }

  /// Whether it has taken long, and has not been quick since often enough.
  var isSlow: Bool { owed.load(ordering: .relaxed) > 0 }

  /// Notes how its last call was.
  func note(isSlow: Bool) {
    // Its calls come one at a time: nobody else counts down.
    let left = owed.load(ordering: .relaxed)
    if isSlow || left > 0 { owed.store(isSlow ? Self.quickCallsInARow : left - 1, ordering: .relaxed) }
  }

  /// Puts a notice into the mailbox.
  ///
  /// - Returns: whether ``notifyDelivery()`` must be called, when no lock is held any more.
  func post(_ notice: Notice) -> Bool {
    state.updateQuietly { state in
      guard !state.isCancelled else { return false }
      state.mailbox.add(notice)
      return state.mustNotifyDelivery()
    }
  }

  /// Lets the delivery know that there is mail.
  func notifyDelivery() { state.read { $0.resources?.delivery }?.mailArrived(for: self) }

  /// Delivers the initial notice on the thread that made the observer, and lets others be delivered.
  func start(with notice: Notice) {
    if !state.read({ $0.isCancelled }) { call(with: notice) }
    finishCall()
  }

  /// Holds nothing of the program's any more when it returns.
  private func call(with notice: Notice) { state.read { $0.resources?.call }?(notice) }

  /// Puts the initial notice before everything else that waits to be taken.
  func start(waitingFor notice: Notice?) {
    let mustNotify = state.update { state in
      if let notice { state.mailbox.begin(with: notice) }
      state.caller = nil
      return state.mustNotifyDelivery()
    }
    if mustNotify { notifyDelivery() }
  }

  /// Makes one call with the notice that comes next; if there are more, the delivery is told again.
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

  /// The same without a call: gives the notice that comes next; nil: none now.
  package func takeNext() -> Notice? {
    let (notice, mustNotify) = state.updateQuietly { state -> (Notice?, Bool) in
      state.isNotified = false
      guard state.caller == nil, !state.isCancelled, let notice = state.mailbox.take() else { return (nil, false) }
      return (notice, state.mustNotifyDelivery())
    }
    if mustNotify { notifyDelivery() }
    return notice
  }

  /// Takes the notice that comes next, for those who are not called; nil: none now, and the delivery will be told.
  package func take() -> Notice? {
    state.updateQuietly { state in
      guard !state.isCancelled else { return nil }
      let notice = state.mailbox.take()
      if state.mailbox.isEmpty { state.isNotified = false }
      return notice
    }
  }

  /// Ends the subscription: no further call begins, and one that runs is waited for.
  ///
  /// Not so from inside that call, nor from inside another that it waits for: then it ends the observer as it returns.
  func cancelSubscription() {
    state.read { $0.resources?.store }?.observation.remove(self)
    cancel()
  }

  /// The same for an observer that no commit is told any more.
  func cancel() {
    while true {
      switch state.update({ $0.cancel() }) {
      case .isOver: return
      case .isLast: return finish()
      case .isRunning: if !waitForCall() { return }
      }
    }
  }

  /// Returns false at once if the call that runs waits for this thread.
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
  func beforeFork() {}

  /// It hears nothing in the child, and whoever cancels it waits for no thread of the parent.
  func afterForkInChild() {
    state.update { state in
      state.mailbox = Mailbox()
      if state.caller != LibraryThread.current { state.caller = nil }
    }
  }
}
