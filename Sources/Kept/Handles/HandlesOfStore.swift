// Creating handles from a store.

public import KeptCore
import KeptSystem
import KeptValues

extension Store {
  /// The handle of a key.
  ///
  /// A key with a transformer has the type that is stored: `Data` for `.json`. Throws `typeConflict` if this process
  /// handles the key as another type, `invalid` for a key whose name is not valid, and `closed`. `try?` returns nil
  /// instead.
  /// - Parameters:
  ///   - key: all handles of it in this process have its type.
  ///   - observer: the initial value of ``Handle/observer``.
  public func handle<Value>(
    _ key: Key<Value>, observer: (@Sendable (Handle<Value>.Change) -> Void)? = nil
  ) throws(StoreError) -> Handle<Value> {
    let name = try key.keyName()
    _ = try currentRevision()
    let binding = try bind(name, to: BoundType(key.coding.stored))
    return Handle(KeySource(key: key, binding: binding), binding, in: self).observed(by: observer)
  }

  /// The handle of a key by its text; its value is nil if nothing is stored.
  public func handle<Value: Storable>(
    _ name: String, of type: Value.Type, observer: (@Sendable (Handle<Value?>.Change) -> Void)? = nil
  ) throws(StoreError) -> Handle<Value?> {
    try handle(Key<Value?>(name), observer: observer)
  }

  /// The handle of a key whose values go through a transformer; its value is nil if nothing is stored.
  ///
  /// ```swift
  /// let frame: Handle<Frame?> = try settings.handle("window.frame", through: .json)
  /// ```
  ///
  /// The key has the type that the transformer stores: `Data` in the example.
  public func handle<Value, Stored: Storable>(
    _ name: String, through transformer: Transformer<Value, Stored>,
    observer: (@Sendable (Handle<Value?>.Change) -> Void)? = nil
  ) throws(StoreError) -> Handle<Value?> {
    try handle(Key<Stored?>(name)).map(transformer, observer: observer)
  }
}

extension Handle {
  /// The handle of a key; nil if ``Store/handle(_:observer:)`` would throw.
  public convenience init?(
    _ key: Key<Value>, in store: Store, observer: (@Sendable (Change) -> Void)? = nil
  ) {
    guard let name = try? key.keyName(), (try? store.currentRevision()) != nil,
      let binding = try? store.bind(name, to: BoundType(key.coding.stored))
    else { return nil }
    self.init(KeySource(key: key, binding: binding), binding, in: store)
    if let observer { self.observer = observer }
  }

  /// The handle itself, with its initial observer, if any.
  func observed(by observer: (@Sendable (Change) -> Void)?) -> Handle {
    if let observer { self.observer = observer }
    return self
  }
}
