// A setting for the Observation framework: code that tracks its value is notified of changes by any process.

#if Observation || canImport(SwiftUI)
public import KeptCore
import KeptSystem
import KeptValues
public import Observation

/// A key in a store, whose value can be tracked.
///
/// ```swift
/// @Observable @MainActor final class Player {
///   @ObservationIgnored let volume: ObservedSetting<Int>
///   var isLoud: Bool { volume.value > 80 }
///
///   init(store: Store) { volume = store.observed(.volume) }
/// }
/// ```
///
/// Code that reads `value` while it is tracked, by `withObservationTracking`, `Observations` or a view, is notified
/// when it changes: by this object or another, through any store, in any process, by a removal, or by a registered
/// default. It is notified once the change is committed, so that reading `value` then returns the new one, which it may
/// have read already. Of changes in quick succession some are not reported separately; the last one always is. A value
/// of the wrong type is a change too: it reads as the default, and the error handler receives the reason.
///
/// Any thread may use it. Changes are reported on the actor on which it was created, so code that tracks on that actor
/// misses none. If it was created on no actor, they are reported where the store calls its observers, see
/// ``Store/callbackQueue``. Observation itself begins to track only when the tracking closure has returned: a change
/// that another thread reports between the read and that point is not noticed until the next read.
///
/// It subscribes on the first read, until it is deallocated or the store is closed.
public final class ObservedSetting<Value: Sendable>: Observable, Sendable {
  public let key: Key<Value>
  public let store: Store
  private let registrar = ObservationRegistrar()
  // nil if changes are reported where the store calls. Weak, because an actor may hold the settings that it has
  // created.
  private weak let actor: (any Actor)?
  private struct Listening {
    var subscription: Subscription?
    // Whether a report on the actor was scheduled and has not begun.
    var isAsked = false
  }
  private let listening = Monitor(Listening())

  init(_ key: Key<Value>, in store: Store, toldOn actor: (any Actor)?) {
    (self.key, self.store, self.actor) = (key, store, actor)
  }

  /// The value, as returned by a store's subscript; reading it is tracked.
  public var value: Value {
    get {
      registrar.access(self, keyPath: \.value)
      listen()
      return store[key]
    }
    set { store[key] = newValue }
  }

  /// Subscribes; of concurrent first reads, one subscription is kept.
  private func listen() {
    guard listening.read({ $0.subscription == nil }) else { return }
    do throws(StoreError) {
      let subscription = try store.observe(.key(try key.keyName())) { [weak self] _ in self?.changed() }
      listening.update { listening in
        if listening.subscription == nil { listening.subscription = subscription }
      }
    } catch { store.report(error) }
  }

  private func changed() {
    guard let actor else { return publish() }
    let mustAsk = listening.update { listening in
      defer { listening.isAsked = true }
      return !listening.isAsked
    }
    if mustAsk { Task { [weak self] in await self?.publish(on: actor) } }
  }

  /// Reports a change on the actor; later changes schedule another report.
  private func publish(on actor: isolated any Actor) {
    listening.update { $0.isAsked = false }
    publish()
  }

  private func publish() { registrar.withMutation(of: self, keyPath: \.value) {} }
}

extension Store {
  /// A key's value for tracking by the Observation framework; changes are reported on the actor that calls this.
  ///
  /// See ``ObservedSetting``. It never throws: if the store is closed, or the key's name is not valid, the value is the
  /// default, and the error handler receives the reason.
  public func observed<Value: Sendable>(
    _ key: Key<Value>, isolation: isolated (any Actor)? = #isolation
  ) -> ObservedSetting<Value> {
    ObservedSetting(key, in: self, toldOn: isolation)
  }
}

extension SettingProjection {
  /// The setting for tracking by the Observation framework; see ``Store/observed(_:isolation:)``.
  public func observed(isolation: isolated (any Actor)? = #isolation) -> ObservedSetting<Value> {
    store.observed(key)
  }
}
#endif
