// The subscriptions of one handle, and their delivery.

import KeptSystem
import KeptValues

/// The observation state of a ``Store``.
package final class StoreObservation: Sendable {
  private struct State {
    var observers = IdentityList<Observer>()
    // Observers that are being ended together with the store. Other threads that end them wait for them, too.
    var ending = IdentityList<Observer>()
    var host: HostDelivery?
    var ordinary: (any Delivery)?
    var isEnded = false

    func checkOpen() throws(StoreError) {
      if isEnded { throw StoreError(.closed, "the store was closed; open it again") }
    }
  }
  private let state = Monitor(State())
  private let feed: ChangeFeed
  private let watcher: Watcher
  /// The layer stack of the handle.
  let layerStack: LayerStack
  private let report: @Sendable (StoreError) -> Void

  init(
    _ feed: ChangeFeed, _ watcher: Watcher, _ layerStack: LayerStack, report: @escaping @Sendable (StoreError) -> Void
  ) {
    self.feed = feed
    self.watcher = watcher
    self.layerStack = layerStack
    self.report = report
    Fork.join(self)
  }

  deinit { Fork.leave(self) }

  /// Distinguishes this handle from others in the origin of a change.
  var handle: ObjectIdentifier { ObjectIdentifier(self) }

  /// The delivery by the host, created on first use.
  func host() throws(StoreError) -> HostDelivery {
    try state.update { state throws(StoreError) in
      try state.checkOpen()
      let host = if let host = state.host { host } else { try HostDelivery() }
      state.host = host
      return host
    }
  }

  /// The library's own delivery, used when no other is chosen.
  var library: any Delivery { watcher }

  /// The delivery that was chosen in place of the library's.
  var ordinary: (any Delivery)? {
    get { state.read(\.ordinary) }
    set { state.update { $0.ordinary = newValue } }
  }

  /// Adds an observer that receives every commit after the current one; returns the present values in its scope.
  func add(_ observer: Observer) throws(StoreError) -> (present: [Change], revision: Revision) {
    try state.read { state throws(StoreError) in try state.checkOpen() }
    layerStack.watchAgain()
    try watcher.enter(handle, report: report)
    do throws(StoreError) {
      let present = try feed.add(observer, reading: layerStack)
      try register(observer)
      return present
    } catch {
      watcher.leave(handle)
      throw error
    }
  }

  /// Registers an observer that the change feed already has, so that ``remove(_:)`` or ``end()`` can remove it from now
  /// on.
  private func register(_ observer: Observer) throws(StoreError) {
    do throws(StoreError) {
      try state.update { state throws(StoreError) in
        try state.checkOpen()
        state.observers.append(observer)
      }
    } catch {
      feed.remove(observer, reading: layerStack)
      throw error
    }
  }

  /// Ends an observer.
  ///
  /// A second call does nothing.
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
    feed.remove(observer, reading: layerStack)
    watcher.leave(handle)
  }
}

extension StoreObservation: ForkAware {
  /// The subscriptions belong to the parent: they receive nothing in the child and are not counted.
  package func afterForkInChild() { state.update { ($0.observers, $0.ending) = (IdentityList(), IdentityList()) } }
}
