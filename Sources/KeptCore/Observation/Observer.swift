// One subscription: its scope, its mailbox, and whether its code may still be called.

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

package final class Observer: Sendable {
  let scope: Scope
  /// The handle that the subscription was made on.
  let handle: ObjectIdentifier
  /// How that handle reads.
  let layering: Layering
  private let call: @Sendable (Notice) -> Void
  private let afterLastCall: @Sendable () -> Void
  private let delivery: any Delivery

  // `caller` is the thread that runs a call now, is about to run the initial one, or runs `afterLastCall`. A call
  // begins only while it is nil and the observer is not cancelled. `afterLastCall` runs once, by whoever sets
  // `hasEnded`, and whoever cancels waits for it, as for a call. While `isAnnounced`, the delivery has been told of the
  // mail, and will come for it; it is told when there is mail, nobody is calling, and it does not know yet.
  private struct State {
    var mailbox = Mailbox()
    var isAnnounced = false
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

    /// What whoever cancels still has to do.
    mutating func cancel() -> Cancelling {
      isCancelled = true
      if let caller { return caller == LibraryThread.current ? .isOver : .isRunning }
      return end() ? .isLast : .isOver
    }

    /// Whether the delivery has to be told of mail.
    mutating func announces() -> Bool {
      guard !isAnnounced, caller == nil, !isCancelled, !mailbox.isEmpty else { return false }
      isAnnounced = true
      return true
    }
  }
  private enum Cancelling { case isOver, isLast, isRunning }
  private let state: Monitor<State>

  /// - Parameter isStarting: the thread that makes it is about to deliver the initial notice; see ``start(with:)``.
  init(
    _ scope: Scope, of handle: StoreObservation, by delivery: any Delivery, isStarting: Bool,
    _ call: @escaping @Sendable (Notice) -> Void, afterLastCall: @escaping @Sendable () -> Void
  ) {
    self.scope = scope
    self.handle = handle.handle
    layering = handle.layering
    self.delivery = delivery
    self.call = call
    self.afterLastCall = afterLastCall
    state = Monitor(State(caller: isStarting ? LibraryThread.current : nil))
    Fork.join(self)
  }

  deinit { Fork.leave(self) }

  /// How many notices wait in its mailbox.
  var waitingCount: Int { state.read { $0.mailbox.count } }

  /// Whether its delivery fetches the mail.
  var isFetched: Bool { delivery.fetchesMail }

  /// Puts a notice into the mailbox.
  ///
  /// - Returns: whether ``announce()`` must be called, when no lock is held any more.
  func post(_ notice: Notice) -> Bool {
    state.updateQuietly { state in
      guard !state.isCancelled else { return false }
      state.mailbox.add(notice)
      return state.announces()
    }
  }

  /// Lets the delivery know that there is mail.
  func announce() { delivery.mailArrived(for: self) }

  /// Delivers the initial notice on the thread that made the observer, and lets others be delivered.
  func start(with notice: Notice) {
    if !state.read({ $0.isCancelled }) { call(notice) }
    finishCall()
  }

  /// Puts the initial notice before everything else that waits to be taken.
  func start(waitingFor notice: Notice?) {
    let mustAnnounce = state.update { state in
      if let notice { state.mailbox.begin(with: notice) }
      state.caller = nil
      return state.announces()
    }
    if mustAnnounce { announce() }
  }

  /// Makes one call with the notice that comes next; if there are more, the delivery is told again.
  ///
  /// - Returns: whether there was a call.
  @discardableResult
  package func deliverNext() -> Bool {
    let notice = state.updateQuietly { state -> Notice? in
      state.isAnnounced = false
      guard state.caller == nil, !state.isCancelled, let notice = state.mailbox.take() else { return nil }
      state.caller = LibraryThread.current
      return notice
    }
    guard let notice else { return false }
    call(notice)
    finishCall()
    return true
  }

  /// The same without a call: gives the notice that comes next; nil: none now.
  package func takeNext() -> Notice? {
    let (notice, mustAnnounce) = state.updateQuietly { state -> (Notice?, Bool) in
      state.isAnnounced = false
      guard state.caller == nil, !state.isCancelled, let notice = state.mailbox.take() else { return (nil, false) }
      return (notice, state.announces())
    }
    if mustAnnounce { announce() }
    return notice
  }

  /// Takes the notice that comes next, for those who are not called; nil: none now, and the delivery will be told.
  package func take() -> Notice? {
    state.updateQuietly { state in
      guard !state.isCancelled else { return nil }
      let notice = state.mailbox.take()
      if state.mailbox.isEmpty { state.isAnnounced = false }
      return notice
    }
  }

  /// Ends it: no further call begins, and one that runs is waited for.
  ///
  /// Not so from inside that call, nor from inside another that it waits for: then it ends the observer as it returns.
  package func cancel() {
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
    guard CancelWaits.ofThisProcess.begin(thread, waitingFor: self) else { return false }
    state.wait { $0.caller == nil ? () : nil }
    CancelWaits.ofThisProcess.end(thread)
    return true
  }

  /// The thread that runs its callback now.
  var caller: UInt? { state.read(\.caller) }

  private func finishCall() {
    let (isLast, mustAnnounce) = state.update { state in
      if state.end() { return (true, false) }
      state.caller = nil
      return (false, state.announces())
    }
    if isLast { finish() }
    if mustAnnounce { announce() }
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
      state.mailbox = Mailbox()
      if state.caller != LibraryThread.current { state.caller = nil }
    }
  }
}
