// A setting for the Observation framework: whoever tracks its value is told of changes from everywhere.

#if Observation || canImport(SwiftUI)
public import KeptCore
public import Observation

/// One key of one store, whose value can be tracked.
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
/// Whoever reads `value` while it is tracked, by `withObservationTracking`, `Observations` or a view, is told when it
/// changes: by this object or another, through any store, in any process, by a removal, or by a default that is
/// registered. It is told once the change is committed, so that reading `value` then gives the new one; that may be one
/// which it has read already. What changes quickly is told less often, and the last change always. A value of the wrong
/// type is a change too: it reads as the default, and the error handler hears why.
///
/// Any thread may use it. Changes are told on the actor on which it was made: then nothing is lost for those who track
/// on that actor. Made on none, changes are told where the store calls its observers, see ``Store/callbackQueue``.
/// Observation itself begins to listen only when the tracking closure has returned: a change that another thread tells
/// between the reading and that moment is not heard by it, though by the next reading.
///
/// It listens from the first reading on, as long as it lives or until the store is closed.
public final class ObservedSetting<Value: Sendable>: Observable, Sendable {
  public let key: Key<Value>
  public let store: Store
  private let registrar = ObservationRegistrar()
  // nil: told where the store calls. Weak, as an actor may hold what it has made.
  private weak let actor: (any Actor)?
  private struct Listening {
    var subscription: Subscription?
    // The actor has been asked to tell of a change, and has not yet begun.
    var isAsked = false
  }
  private let listening = Monitor(Listening())

  init(_ key: Key<Value>, in store: Store, toldOn actor: (any Actor)?) {
    (self.key, self.store, self.actor) = (key, store, actor)
  }

  /// The value, as a store's subscript gives it; reading it is tracked.
  public var value: Value {
    get {
      registrar.access(self, keyPath: \.value)
      listen()
      return store[key]
    }
    set { store[key] = newValue }
  }

  /// Of several threads that read first, one subscription stays.
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
    guard let actor else { return tell() }
    let mustAsk = listening.update { listening in
      defer { listening.isAsked = true }
      return !listening.isAsked
    }
    if mustAsk { Task { [weak self] in await self?.tell(on: actor) } }
  }

  /// Whatever changes from now on is another change.
  private func tell(on actor: isolated any Actor) {
    listening.update { $0.isAsked = false }
    tell()
  }

  private func tell() { registrar.withMutation(of: self, keyPath: \.value) {} }
}

extension Store {
  /// A key's value as the Observation framework tracks it; changes are told on the actor that calls this.
  ///
  /// See ``ObservedSetting``. It never throws: of a store that is closed, and of a key whose name is none, the value is
  /// the default, and the error handler hears why.
  public func observed<Value: Sendable>(
    _ key: Key<Value>, isolation: isolated (any Actor)? = #isolation
  ) -> ObservedSetting<Value> {
    ObservedSetting(key, in: self, toldOn: isolation)
  }
}

extension SettingProjection {
  /// The setting as the Observation framework tracks it; see ``Store/observed(_:isolation:)``.
  public func observed(isolation: isolated (any Actor)? = #isolation) -> ObservedSetting<Value> {
    store.observed(key)
  }
}
#endif
