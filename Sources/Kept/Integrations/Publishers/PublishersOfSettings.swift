// How a store, a setting and a handle give publishers: each one of values, and one of changes.

#if canImport(Combine) || OpenCombine
public import KeptCore

extension Store {
  /// Publishes the value of a key: first the present one, then the new one after each change.
  ///
  /// ```swift
  /// let token = settings.publisher(for: .volume).sink { volume in print(volume) }
  /// ```
  ///
  /// Where no layer has a value, or none of the key's type, it is the default, and the error handler hears why. It may
  /// publish the same value twice, as when another layer comes to decide it. See ``SettingPublisher``.
  public func publisher<Value: Sendable>(for key: Key<Value>) -> SettingPublisher<Value> {
    SettingPublisher(store: self, key: { () throws(StoreError) in try key.keyName() }, initial: true) { notice, texts in
      guard let change = Key.Change(in: notice, of: key, texts) else { return nil }
      if let error = change.error { self.report(error) }
      return change.new
    }
  }

  /// Publishes the changes of a key from now on; a value that is none of the key's type comes as the default, with the
  /// reason in ``Key/Change/error``.
  ///
  /// See ``SettingPublisher``.
  /// - Parameters:
  ///   - initial: the first change tells the value at the time of subscribing.
  public func changesPublisher<Value: Sendable>(
    for key: Key<Value>, initial: Bool = false
  ) -> SettingPublisher<Key<Value>.Change> {
    SettingPublisher(
      store: self, key: { () throws(StoreError) in try key.keyName() }, initial: initial
    ) { notice, texts in Key.Change(in: notice, of: key, texts) }
  }
}

extension SettingProjection {
  /// The present value and then each new one; see ``Store/publisher(for:)``.
  public var publisher: SettingPublisher<Value> { store.publisher(for: key) }

  /// The changes from now on; see ``Store/changesPublisher(for:initial:)``.
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

  /// Publishes the changes from now on, in the handle's type, with errors of conversions as they were thrown.
  ///
  /// See ``SettingPublisher``. ``Change/result`` of each is the new value, or why there is none.
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
