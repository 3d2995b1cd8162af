// The subscriptions of one handle, and who calls them.

/// What a ``Store`` keeps for its observers.
package final class StoreObservation: Sendable {
  private struct State {
    var observers = IdentityList<Observer>()
    // Those that somebody is ending together with the store: whoever else ends it waits for them, too.
    var ending = IdentityList<Observer>()
    var host: HostDelivery?
    var ordinary: (any Delivery)?
    var isEnded = false

    func checkOpen() throws(StoreError) {
      if isEnded { throw StoreError(.closed, "the store was closed; open it again") }
    }
  }
  private let state = Monitor(State())
  private let shared: SharedStore
  /// How the handle reads.
  let layerStack: LayerStack
  private let report: @Sendable (StoreError) -> Void

  init(_ shared: SharedStore, _ layerStack: LayerStack, report: @escaping @Sendable (StoreError) -> Void) {
    self.shared = shared
    self.layerStack = layerStack
    self.report = report
    Fork.join(self)
  }

  deinit { Fork.leave(self) }

  /// What tells this handle from others in the origin of a change.
  var handle: ObjectIdentifier { ObjectIdentifier(self) }

  /// The delivery by the host; made when it is first asked for.
  func host() throws(StoreError) -> HostDelivery {
    try state.update { state throws(StoreError) in
      try state.checkOpen()
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
  func add(_ observer: Observer) throws(StoreError) -> (present: [Change], revision: Revision) {
    try state.read { state throws(StoreError) in try state.checkOpen() }
    layerStack.watchAgain()
    try shared.watcher.enter(handle, report: report)
    do throws(StoreError) {
      let present = try shared.feed.add(observer, reading: layerStack)
      try register(observer)
      return present
    } catch {
      shared.watcher.leave(handle)
      throw error
    }
  }

  /// Whoever is registered is removed by ``remove(_:)`` or ``end()``: only now, when there is something to remove.
  private func register(_ observer: Observer) throws(StoreError) {
    do throws(StoreError) {
      try state.update { state throws(StoreError) in
        try state.checkOpen()
        state.observers.append(observer)
      }
    } catch {
      shared.feed.remove(observer, reading: layerStack)
      throw error
    }
  }

  /// Ends what an observer hears; the second time does nothing.
  func remove(_ observer: Observer) {
    if state.update({ $0.observers.remove(observer) }) { forget(observer) }
  }

  /// Cancels every subscription: no further callback begins.
  func end() {
    let (observers, ending, host) = state.update { state in
      state.isEnded = true
      for observer in state.observers { state.ending.append(observer) }
      defer { (state.observers, state.host) = (IdentityList(), nil) }
      return (state.observers, state.ending, state.host)
    }
    for observer in observers { forget(observer) }
    host?.end()
    for observer in ending { observer.cancel() }
    state.update { state in for observer in observers { state.ending.remove(observer) } }
  }

  private func forget(_ observer: Observer) {
    shared.feed.remove(observer, reading: layerStack)
    shared.watcher.leave(handle)
  }
}

extension StoreObservation: ForkAware {
  package func beforeFork() {}

  /// The subscriptions are the parent's: they hear nothing here, and are not counted.
  package func afterForkInChild() { state.update { ($0.observers, $0.ending) = (IdentityList(), IdentityList()) } }
}
