// Delivery by the host: its event loop watches a file descriptor and calls back when it is readable.

import KeptSystem
package import KeptValues

/// Delivers to observers when the host dispatches.
///
/// It is level-triggered: the descriptor is readable while an observer has mail.
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

  /// For poll, epoll and similar calls.
  ///
  /// Watch it for reading and never read from it.
  package var descriptor: Int32 { event.descriptor }

  package var fetchesMail: Bool { false }

  package func mailArrived(for observer: Observer) {
    state.updateQuietly { state in
      guard !state.isEnded else { return }
      state.queue.append(observer)
      event.signal()
    }
  }

  /// Makes the calls that are due now on this thread, up to a limit.
  ///
  /// Notices that arrive during the calls are due the next time, so callbacks that write cannot keep the host here
  /// indefinitely.
  /// - Returns: the number of calls.
  package func dispatch(atMost limit: Int) -> Int {
    let due = callsDue(atMost: limit)
    var count = 0
    while count < due, let observer = next() { if observer.deliverNext() { count += 1 } }
    return count
  }

  /// Takes the next due notice, for a host that is not called; nil if none is due.
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

  /// Wakes threads that wait for notices that will not arrive.
  ///
  /// Mail that was not fetched is dropped.
  package func end() {
    let dismissed = state.updateQuietly { state in
      state.isEnded = true
      // The observers hold this object, and it holds them.
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
  /// The descriptor of the child has the same number and is independent of the parent's.
  func afterForkInChild() {
    state.update { $0.queue = FIFOQueue() }
    event.renew()
  }
}
