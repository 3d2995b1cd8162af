// The subscriptions of one handle, and who calls them.

/// What a ``Store`` keeps for its observers.
package final class StoreObservation: Sendable {
  private struct State {
    var observers: [Observer] = []
    var host: HostDelivery?
    var ordinary: (any Delivery)?
    var isEnded = false
  }
  private let state = Monitor(State())
  private let shared: SharedStore
  private let report: @Sendable (StoreError) -> Void

  init(_ shared: SharedStore, report: @escaping @Sendable (StoreError) -> Void) {
    self.shared = shared
    self.report = report
    Fork.join(self)
  }

  deinit { Fork.leave(self) }

  /// What tells this handle from others in the origin of a change.
  var handle: ObjectIdentifier { ObjectIdentifier(self) }

  /// The delivery by the host; made when it is first asked for.
  func host() throws(StoreError) -> HostDelivery {
    try state.update { state throws(StoreError) in
      if state.isEnded { throw StoreError(.closed, "the store was closed; open it again") }
      let host = if let host = state.host { host } else { try HostDelivery() }
      state.host = host
      return host
    }
  }

  /// Who calls an observer that nobody else calls.
  var library: any Delivery { shared.watcher }

  /// Who is chosen to do that in its place.
  var ordinary: (any Delivery)? {
    get { state.read(\.ordinary) }
    set { state.update { $0.ordinary = newValue } }
  }

  /// Lets an observer hear of every commit after the present one; gives the present values in its scope.
  func add(_ observer: Observer) throws(StoreError) -> (present: [KeyName: Value], revision: Revision) {
    try state.update { state throws(StoreError) in
      if state.isEnded { throw StoreError(.closed, "the store was closed; open it again") }
      state.observers.append(observer)
    }
    do throws(StoreError) {
      try shared.watcher.enter(handle, report: report)
      do throws(StoreError) {
        return try shared.feed.add(observer)
      } catch {
        shared.watcher.leave(handle)
        throw error
      }
    } catch {
      state.update { state in state.observers.removeAll { $0 === observer } }
      throw error
    }
  }

  /// Ends what an observer hears; the second time does nothing.
  func remove(_ observer: Observer) {
    let wasThere = state.update { state in
      let place = state.observers.firstIndex { $0 === observer }
      if let place { state.observers.remove(at: place) }
      return place != nil
    }
    if wasThere { forget(observer) }
  }

  /// Cancels every subscription: no further callback begins.
  func end() {
    let (observers, host) = state.update { state in
      state.isEnded = true
      defer { (state.observers, state.host) = ([], nil) }
      return (state.observers, state.host)
    }
    for observer in observers { forget(observer) }
    host?.end()
    for observer in observers { observer.cancel() }
  }

  private func forget(_ observer: Observer) {
    shared.feed.remove(observer)
    shared.watcher.leave(handle)
  }
}

extension StoreObservation: ForkAware {
  package func beforeFork() {}

  /// The subscriptions are the parent's: they hear nothing here, and are not counted.
  package func afterForkInChild() { state.update { $0.observers = [] } }
}
