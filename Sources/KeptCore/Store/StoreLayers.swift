// Layers of a store: registering defaults, and what caches above it look at.

extension Store {
  /// Registers defaults for this handle, above those that keys are declared with: they are not stored.
  ///
  /// `null` takes one back. Observers of a key that reads otherwise now hear of it. The C twin is
  /// `kept_register_json`. In Python: `settings.register(defaults)`.
  ///
  /// Throws `invalid` for a key that is none, and what ``SettingsAccess/set(_:forKey:)-(Value,_)`` throws for a value.
  public func register(defaults: ValueDictionary) throws(StoreError) {
    var checked: [KeyName: Value?] = [:]
    for (key, value) in defaults.map({ ($0.key, $0.value) }) {
      let key = try KeyName(key.text)
      checked.updateValue(value == .null ? nil : try value.checked(for: key), forKey: key)
    }
    _ = try storage()
    layerStack.register(checked)
  }

  /// Where to see whether a layer has changed; nil: none can.
  package var layersAddress: UnsafePointer<UInt64>? { layerStack.countAddress }

  /// The text that a layer of text has for a key; it stays the same for as long as the store is open.
  package func text(of key: KeyName, in layer: Layer?) -> TextValue? {
    switch layer {
    case .arguments: layerStack.layers.arguments[key]
    case .environment: layerStack.layers.environment[key]
    default: nil
    }
  }
}
