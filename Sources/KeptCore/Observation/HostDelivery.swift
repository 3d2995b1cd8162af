// Delivery by the host: its event loop watches a file descriptor, and calls back when it is readable.

/// Observers that wait for their host to dispatch.
///
/// Level-triggered: the descriptor is readable for as long as an observer has mail.
package final class HostDelivery: Delivery {
  private struct State {
    var queue = FIFOQueue<Observer>()
    var isEnded = false
  }
  private let state = Monitor(State())
  private let event: EventDescriptor

  package init() throws(StoreError) {
    event = try EventDescriptor()
    Fork.join(self)
  }

  deinit { Fork.leave(self) }

  /// For poll, epoll and their like; to be watched for reading, and never read.
  package var descriptor: Int32 { event.descriptor }

  package var fetchesMail: Bool { false }

  package func mailArrived(for observer: Observer) {
    state.updateQuietly { state in
      guard !state.isEnded else { return }
      state.queue.append(observer)
      event.signal()
    }
  }

  /// Makes the calls that are due now on this thread, at most so many.
  ///
  /// What comes meanwhile is due the next time: callbacks that write must not keep the host here for ever.
  /// - Returns: how many there were.
  package func dispatch(atMost limit: Int) -> Int {
    let due = callsDue(atMost: limit)
    var count = 0
    while count < due, let observer = next() { if observer.deliverNext() { count += 1 } }
    return count
  }

  /// Takes the notice that is due next, for a host that is not called; nil: none is.
  package func take() -> Notice? {
    while let observer = next() { if let notice = observer.takeNext() { return notice } }
    return nil
  }

  private func callsDue(atMost limit: Int) -> Int {
    var due = 0
    for observer in state.read(\.queue) {
      due += max(observer.waitingCount, 1)
      if due >= limit { return limit }
    }
    return due
  }

  /// Wakes who waits for something that will not come any more; mail that was not fetched is dropped.
  package func end() {
    let dismissed = state.updateQuietly { state in
      state.isEnded = true
      // They hold this object, as it holds them.
      defer { state.queue = FIFOQueue() }
      return state.queue
    }
    event.signal()
    withExtendedLifetime(dismissed) {}
  }

  private func next() -> Observer? {
    state.updateQuietly { state in
      guard let first = state.queue.next() else { return nil }
      if state.queue.isEmpty, !state.isEnded { event.clear() }
      return first
    }
  }
}

extension HostDelivery: ForkAware {
  func beforeFork() {}

  /// The descriptor of the child has the same number, and is none of the parent's business.
  func afterForkInChild() {
    state.update { $0.queue = FIFOQueue() }
    event.renew()
  }
}
