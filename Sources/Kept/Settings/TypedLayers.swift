// Layers of a key: where its value comes from, and defaults that the program registers.

public import KeptCore

extension SettingsReading {
  /// Says what each layer has for a key, which one wins, and why.
  ///
  /// Where none has anything, the key reads as its own default. The C twin is `kept_explain_json`. In Python:
  /// `settings.explain(key)`.
  public func explain(_ key: Key<some Sendable>) throws(StoreError) -> Explanation { try explain(key.name) }

  /// The layer that a key's value comes from; nil: it is the key's own default.
  ///
  /// The C twin is `kept_layer_of`. In Python: `settings.layer(key)`.
  public func layer(of key: Key<some Sendable>) throws(StoreError) -> Layer? {
    try resolved(try key.keyName()).layer
  }
}

extension Store {
  /// Registers a default for this handle, above the one that the key is declared with and the key's own; nil takes it
  /// back.
  ///
  /// ```swift
  /// try settings.register(70, for: .volume)
  /// ```
  ///
  /// It is not stored, and other processes do not see it. Observers of the key hear of it where it reads otherwise now.
  /// Throws `invalid` and `tooLarge` as ``SettingsAccess/set(_:for:)`` does. The C twin is `kept_register_json`. In
  /// Python: `settings.register({key: value})`.
  public func register<Value>(_ value: Value, for key: Key<Value>) throws(StoreError) {
    let name = try key.keyName()
    try register(defaults: ValueDictionary([(name.exact, try key.write(value))]))
  }
}
