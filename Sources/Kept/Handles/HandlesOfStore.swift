// How a store gives handles.

public import KeptCore

extension Store {
  /// The handle of a key.
  ///
  /// A key with a transformer is of the type that is stored: `Data` for `.json`. Throws `typeConflict` if this process
  /// handles the key as another type, `invalid` for a key whose name is none, and `closed`. `try?` gives nil instead.
  /// - Parameters:
  ///   - key: all handles of it in this process are of its type.
  ///   - observer: what ``Handle/observer`` is from the start.
  public func handle<Value>(
    _ key: Key<Value>, observer: (@Sendable (Handle<Value>.Change) -> Void)? = nil
  ) throws(StoreError) -> Handle<Value> {
    let name = try key.keyName()
    _ = try currentRevision()
    let binding = try bind(name, to: BoundType(key.coding.stored))
    return Handle(KeySource(key: key, binding: binding), binding, in: self).observed(by: observer)
  }

  /// The handle of a key by its text; nil where nothing is stored.
  public func handle<Value: Storable>(
    _ name: String, of type: Value.Type, observer: (@Sendable (Handle<Value?>.Change) -> Void)? = nil
  ) throws(StoreError) -> Handle<Value?> {
    try handle(Key<Value?>(name), observer: observer)
  }

  /// The handle of a key whose values go through a transformer; nil where nothing is stored.
  ///
  /// ```swift
  /// let frame: Handle<Frame?> = try settings.handle("window.frame", through: .json)
  /// ```
  ///
  /// The key's type is what the transformer stores: `Data` in the example.
  public func handle<Value, Stored: Storable>(
    _ name: String, through transformer: Transformer<Value, Stored>,
    observer: (@Sendable (Handle<Value?>.Change) -> Void)? = nil
  ) throws(StoreError) -> Handle<Value?> {
    try handle(Key<Stored?>(name)).map(transformer, observer: observer)
  }
}

extension Handle {
  /// The handle of a key; nil where ``Store/handle(_:observer:)`` would throw.
  public convenience init?(
    _ key: Key<Value>, in store: Store, observer: (@Sendable (Change) -> Void)? = nil
  ) {
    guard let name = try? key.keyName(), (try? store.currentRevision()) != nil,
      let binding = try? store.bind(name, to: BoundType(key.coding.stored))
    else { return nil }
    self.init(KeySource(key: key, binding: binding), binding, in: store)
    if let observer { self.observer = observer }
  }

  /// The handle itself, with the observer that it is made with, if any.
  func observed(by observer: (@Sendable (Change) -> Void)?) -> Handle {
    if let observer { self.observer = observer }
    return self
  }
}
