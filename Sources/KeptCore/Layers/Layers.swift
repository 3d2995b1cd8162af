// What the layers beside the store hold, and which of all layers decides what a key reads as.

/// The layers of one handle at one moment; the store itself is the layer that is not in here.
final class Layers: Sendable {
  let managed: LayerContents
  let arguments: [KeyName: TextValue]
  let environment: [KeyName: TextValue]
  let system: LayerContents
  let registered: [KeyName: Value]
  /// Whether nothing is in them.
  let isEmpty: Bool

  init(
    managed: LayerContents = LayerContents(), arguments: [KeyName: TextValue] = [:],
    environment: [KeyName: TextValue] = [:], system: LayerContents = LayerContents(),
    registered: [KeyName: Value] = [:]
  ) {
    self.managed = managed
    self.arguments = arguments
    self.environment = environment
    self.system = system
    self.registered = registered
    isEmpty =
      managed.isEmpty && arguments.isEmpty && environment.isEmpty && system.isEmpty && registered.isEmpty
  }

  /// The same with another state of a file.
  func replacing(_ layer: Layer, by contents: LayerContents) -> Layers {
    Layers(
      managed: layer == .managed ? contents : managed, arguments: arguments, environment: environment,
      system: layer == .system ? contents : system, registered: registered)
  }

  /// The same with other registered defaults.
  func replacing(registered: [KeyName: Value]) -> Layers {
    Layers(
      managed: managed, arguments: arguments, environment: environment, system: system, registered: registered)
  }

  /// The keys under a prefix that a layer other than the store and the defaults has something for, in no order.
  func keys(prefix: ExactString) -> [KeyName] {
    var keys = Array(managed.values.keys) + system.values.keys
    keys += arguments.keys
    keys += environment.keys
    return keys.filter { $0.exact.hasPrefix(prefix) }
  }

  /// The same, with the keys of registered defaults.
  func allKeys(prefix: ExactString) -> [KeyName] {
    keys(prefix: prefix) + registered.keys.filter { $0.exact.hasPrefix(prefix) }
  }

  /// Whether a layer above the store has something for a key.
  func mayHide(_ key: KeyName) -> Bool {
    arguments[key] != nil || environment[key] != nil || managed.values[key] != nil
  }

  /// What a layer has for a key that the storage holds like this.
  func finding(_ layer: Layer, _ key: KeyName, _ entry: Entry?) -> LayerValue {
    let declaration = entry?.declaration
    switch layer {
    case .managed: return LayerValue(managed.values[key], declaration)
    case .arguments: return LayerValue(arguments[key], declaration)
    case .environment: return LayerValue(environment[key], declaration)
    case .user: return LayerValue(entry?.value, declaration)
    case .system: return LayerValue(system.values[key], declaration)
    case .registered: return LayerValue(registered[key], declaration)
    case .declared: return LayerValue(declaration?.defaultValue, nil)
    }
  }

  /// What a key reads as, if the layers above one are not asked.
  ///
  /// - Parameter problem: receives what those hold that were asked in vain.
  func resolve(
    _ key: KeyName, _ entry: Entry?, from highest: Layer = .managed, problem: (Layer, StoreError) -> Void = { _, _ in }
  ) -> Resolved {
    if isEmpty, entry?.declaration == nil {
      return entry?.value.map { Resolved(value: $0, layer: .user) } ?? Resolved()
    }
    let isLocked = managed.locks(key)
    for layer in Layer.highestFirst where layer <= highest && !(isLocked && layer.isIgnoredWhereLocked) {
      let finding = finding(layer, key, entry)
      if let value = finding.value { return Resolved(value: value, layer: layer, text: finding.text) }
      if let misfit = finding.problem { problem(layer, misfit.about(key.text)) }
    }
    return Resolved()
  }
}

extension Layer {
  static var highestFirst: [Layer] {
    [.managed, .arguments, .environment, .user, .system, .registered, .declared]
  }

  /// A locked key is the administrator's alone, and what the program says for want of anything else.
  var isIgnoredWhereLocked: Bool { self == .arguments || self == .environment || self == .user }
}
