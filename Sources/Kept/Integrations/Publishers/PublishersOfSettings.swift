// Publishers of a store, a setting and a handle: one of values, and one of changes.

#if canImport(Combine) || OpenCombine
public import KeptCore
import KeptSystem
import KeptValues

extension Store {
  /// Publishes the value of a key: first the present value, then the new value after each change.
  ///
  /// ```swift
  /// let token = settings.publisher(for: .volume).sink { volume in print(volume) }
  /// ```
  ///
  /// If no layer has a value of the key's type, it is the default; for a value of another type the error handler
  /// receives the reason. The same value may be published twice, for example when another layer now decides it. See
  /// ``SettingPublisher``.
  public func publisher<Value: Sendable>(for key: Key<Value>) -> SettingPublisher<Value> {
    SettingPublisher(store: self, key: { () throws(StoreError) in try key.keyName() }, initial: true) { notice, texts in
      guard let change = Key.Change(in: notice, of: key, texts) else { return nil }
      if let error = change.error { self.report(error) }
      return change.new
    }
  }

  /// Publishes the changes of a key from now on.
  ///
  /// A value that does not have the key's type is delivered as the default, with the reason in ``Key/Change/error``.
  /// See ``SettingPublisher``.
  /// - Parameters:
  ///   - initial: whether the first change is the value at the time of subscribing.
  public func changesPublisher<Value: Sendable>(
    for key: Key<Value>, initial: Bool = false
  ) -> SettingPublisher<Key<Value>.Change> {
    SettingPublisher(
      store: self, key: { () throws(StoreError) in try key.keyName() }, initial: initial
    ) { notice, texts in Key.Change(in: notice, of: key, texts) }
  }
}

extension SettingProjection {
  /// Publishes the present value and then each new one; see ``Store/publisher(for:)``.
  public var publisher: SettingPublisher<Value> { store.publisher(for: key) }

  /// Publishes the changes from now on; see ``Store/changesPublisher(for:initial:)``.
  public var changesPublisher: SettingPublisher<Key<Value>.Change> { store.changesPublisher(for: key) }
}

extension Handle {
  /// Publishes the present value and then each new one, in the handle's type; see ``Store/publisher(for:)``.
  public var publisher: SettingPublisher<Value> {
    let store = store
    return publishing(initial: true) { change in
      if let error = change.error { store.report(StoreError(decoding: error)) }
      return change.new
    }
  }

  /// Publishes the changes from now on, in the handle's type, with the errors of conversions unchanged.
  ///
  /// See ``SettingPublisher``. The ``Change/result`` of each is the new value, or why there is none.
  public var changesPublisher: SettingPublisher<Change> { publishing(initial: false) { $0 } }

  private func publishing<Output: Sendable>(
    initial: Bool, _ output: @escaping @Sendable (Change) -> Output
  ) -> SettingPublisher<Output> {
    let (source, binding) = (source, binding)
    return SettingPublisher(
      store: store,
      key: { () throws(StoreError) in
        try binding.checkAlive()
        return binding.key
      }, binding: binding, initial: initial
    ) { notice, texts in source.change(in: notice, texts).map(output) }
  }
}
#endif
