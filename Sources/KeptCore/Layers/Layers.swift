// The contents of the layers other than the store, and the resolution of a key's value over all layers.

import KeptSchema
import KeptValues

/// The layers of one handle at one point in time, except the store itself.
final class Layers: Sendable {
  let managed: LayerContents
  let arguments: [KeyName: TextValue]
  let environment: [KeyName: TextValue]
  let system: LayerContents
  let registered: [KeyName: Value]
  /// Whether the layers have no contents.
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

  /// A copy with another state of a file.
  func replacing(_ layer: Layer, by contents: LayerContents) -> Layers {
    Layers(
      managed: layer == .managed ? contents : managed, arguments: arguments, environment: environment,
      system: layer == .system ? contents : system, registered: registered)
  }

  /// A copy with other registered defaults.
  func replacing(registered: [KeyName: Value]) -> Layers {
    Layers(
      managed: managed, arguments: arguments, environment: environment, system: system, registered: registered)
  }

  /// The keys under a prefix for which a layer other than the store and the defaults has something, in no order.
  func keys(prefix: ExactString) -> [KeyName] {
    var keys = Array(managed.values.keys) + system.values.keys
    keys += arguments.keys
    keys += environment.keys
    return keys.filter { $0.exact.hasPrefix(prefix) }
  }

  /// The same keys and those of registered defaults.
  func allKeys(prefix: ExactString) -> [KeyName] {
    keys(prefix: prefix) + registered.keys.filter { $0.exact.hasPrefix(prefix) }
  }

  /// Whether a layer above the store has something for a key.
  func mayHide(_ key: KeyName) -> Bool {
    arguments[key] != nil || environment[key] != nil || managed.values[key] != nil
  }

  /// The name under which a layer has a key's value: the key's own, unless the layer has only the former name that the
  /// declaration gives.
  func name(of key: KeyName, _ declaration: Declaration?, in layer: Layer) -> KeyName {
    guard !isEmpty, let former = declaration?.formerName, !has(key, layer), has(former, layer) else { return key }
    return former
  }

  private func has(_ key: KeyName, _ layer: Layer) -> Bool {
    switch layer {
    case .managed: managed.values[key] != nil
    case .arguments: arguments[key] != nil
    case .environment: environment[key] != nil
    case .system: system.values[key] != nil
    case .user, .registered, .declared: true
    }
  }

  /// The name under which the administrator has locked a key; nil if it is not locked.
  func lockedName(of key: KeyName, _ declaration: Declaration?) -> KeyName? {
    if managed.isEmpty { return nil }
    if managed.locks(key) { return key }
    guard let former = declaration?.formerName, managed.locks(former) else { return nil }
    return former
  }

  /// The value of a layer for a key with this stored entry.
  func finding(_ layer: Layer, _ key: KeyName, _ entry: Entry?) -> LayerValue {
    let declaration = entry?.declaration
    let key = name(of: key, declaration, in: layer)
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

  /// Resolves a key, disregarding the layers above `highest`.
  ///
  /// - Parameter problem: receives the layer values that do not fit.
  func resolve(
    _ key: KeyName, _ entry: Entry?, from highest: Layer = .managed, problem: (Layer, StoreError) -> Void = { _, _ in }
  ) -> Resolved {
    if isEmpty, entry?.declaration == nil {
      return entry?.value.map { Resolved(value: $0, layer: .user) } ?? Resolved()
    }
    let isLocked = lockedName(of: key, entry?.declaration) != nil
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

  /// For a locked key, only the administrator's layers and the program's defaults apply.
  var isIgnoredWhereLocked: Bool { self == .arguments || self == .environment || self == .user }
}
