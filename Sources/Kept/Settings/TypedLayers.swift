// Layers of a key: the origin of its value, and defaults that the program registers.

public import KeptCore
import KeptValues

extension SettingsReading {
  /// Returns the value that each layer has for a key, the layer that wins, and why.
  ///
  /// If no layer has one, the key reads as its own default. In C: `kept_explain_json`. In Python:
  /// `settings.explain(key)`.
  public func explain(_ key: Key<some Sendable>) throws(StoreError) -> Explanation { try explain(key.name) }

  /// The layer that a key's value comes from; nil if it is the key's own default.
  ///
  /// In C: `kept_layer_of`. In Python: `settings.layer(key)`.
  public func layer(of key: Key<some Sendable>) throws(StoreError) -> Layer? {
    try resolved(try key.keyName()).layer
  }
}

extension Store {
  /// Registers a default for this handle, above the declared default and the key's own; nil removes it.
  ///
  /// ```swift
  /// try settings.register(70, for: .volume)
  /// ```
  ///
  /// It is not stored, and other processes do not see it. Observers are notified if the key's value changes. Throws
  /// `invalid` and `tooLarge` as ``SettingsAccess/set(_:for:)`` does. In C: `kept_register_json`. In Python:
  /// `settings.register({key: value})`.
  public func register<Value>(_ value: Value, for key: Key<Value>) throws(StoreError) {
    let name = try key.keyName()
    try register(defaults: ValueDictionary([(name.exact, try key.write(value))]))
  }
}
