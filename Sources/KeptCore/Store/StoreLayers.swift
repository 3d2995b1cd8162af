// Layers of a store: registering defaults, and the state that caches above it check.

public import KeptValues

extension Store {
  /// Registers defaults for this handle, above the declared defaults.
  ///
  /// They are not stored.
  ///
  /// `null` removes one. Observers of a key whose value changes are notified. In C: `kept_register_json`. In Python:
  /// `settings.register(defaults)`.
  ///
  /// Throws `invalid` for an invalid key, and what ``SettingsAccess/set(_:forKey:)-(Value,_)`` throws for a value.
  public func register(defaults: ValueDictionary) throws(StoreError) {
    var checked: [KeyName: Value?] = [:]
    for (key, value) in defaults.map({ ($0.key, $0.value) }) {
      let key = try KeyName(key.text)
      checked.updateValue(value == .null ? nil : try value.checked(for: key), forKey: key)
    }
    _ = try storage()
    layerStack.register(checked)
  }

  /// The files of this handle's layers, and the state of each; those of the highest layer first.
  ///
  /// Empty if the store was opened without files. In C: `kept_layer_files_json`. In Python: `settings.layer_files()`.
  public func layerFiles() throws(StoreError) -> [LayerFileState] {
    _ = try storage()
    return layerStack.fileStates
  }

  /// The word that changes when a layer changes; nil if no layer can change.
  package var layersAddress: UnsafePointer<UInt64>? { layerStack.countAddress }

  /// The text that a text layer has for a key.
  ///
  /// It stays the same while the store is open.
  package func text(of key: KeyName, in layer: Layer?) -> TextValue? {
    guard let layer, layer == .arguments || layer == .environment else { return nil }
    let layers = layerStack.layers
    let name = layers.name(of: key, try? declaration(of: key), in: layer)
    return layer == .arguments ? layers.arguments[name] : layers.environment[name]
  }
}
