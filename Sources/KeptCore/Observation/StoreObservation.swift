// The subscriptions of one handle, and the thread that calls them: none before the first subscription.

/// What a ``Store`` keeps for its observers.
package final class StoreObservation: Sendable {
  private struct State {
    var observers: [Observer] = []
    var queue: DeliveryQueue?
    var isEnded = false
  }
  private let state = Monitor(State())

  init() { Fork.join(self) }

  deinit { Fork.leave(self) }

  /// The queue that the delivery thread empties; the thread is started with it.
  func startedQueue() throws(StoreError) -> DeliveryQueue {
    try state.update { state throws(StoreError) in
      if state.isEnded { throw StoreError(.closed, "the store was closed; open it again") }
      if let queue = state.queue { return queue }
      let queue = DeliveryQueue()
      try LibraryThread.start { [self] in
        while let notices = queue.take() {
          for notice in notices { deliver(notice) }
        }
      }
      state.queue = queue
      return queue
    }
  }

  func add(_ observer: Observer) {
    state.update { $0.observers.append(observer) }
  }

  func remove(_ observer: Observer) {
    state.update { $0.observers.removeAll { $0 === observer } }
  }

  /// Cancels every subscription and lets the thread go.
  ///
  /// No further callback begins.
  func end() {
    let (observers, queue) = state.update { state in
      state.isEnded = true
      defer { state.observers = [] }
      return (state.observers, state.queue)
    }
    queue?.end()
    for observer in observers { observer.cancel() }
  }

  private func deliver(_ notice: Notice) {
    // A copy: callbacks may subscribe and cancel.
    for observer in state.update({ $0.observers }) { observer.deliver(notice) }
  }
}

extension StoreObservation: ForkAware {
  package func beforeFork() {}

  /// The thread is the parent's, and the next subscription here starts another one.
  ///
  /// The old ones hear nothing, and end as they would have.
  package func afterForkInChild() {
    let queue = state.update { state in
      defer { state.queue = nil }
      return state.queue
    }
    // If it was a callback that forked, its thread goes on here, and finds nothing more to do.
    queue?.end()
  }
}
