// Steps about declarations and layers.

import Foundation
import Kept

extension ScenarioRunner {
  /// Runs a step about many keys; nil if it is another step.
  func performOnMany(_ name: String, _ fields: inout ScenarioFields, _ expected: ScenarioValue?) throws
    -> ScenarioValue?
  {
    switch name {
    case "declare_list":
      let (settings, json) = (try settings(at: &fields), try fields.string("schema"))
      warn(of: try settings.declare(DeclarationList(json: json)).first)
    case "declare_file":
      let (settings, file) = (try settings(at: &fields), try fields.string("file"))
      warn(of: try settings.declare(contentsOf: ground.path(file)).first)
    case "declarations_json":
      let (name, prefix) = (try fields.string("on", otherwise: "store"), try fields.string("prefix"))
      if case .snapshot(let snapshot)? = things[name] { return .text(try snapshot.declarations(prefix: prefix).json) }
      return .text(try Self.store(of: settings(name)).declarations(prefix: prefix).json)
    case "register_json":
      let (settings, json) = (try settings(at: &fields), try fields.string("json"))
      guard let defaults = try Value(json: json).asDictionary else {
        throw StoreError(.invalid, "defaults are an object of keys and values")
      }
      try Self.store(of: settings).register(defaults: defaults)
    case "reports":
      let name = try fields.string("on", otherwise: "store")
      return try reports[name]?.take(like: expected?.elements() ?? [])
    default: return nil
    }
    return .null
  }

  /// Runs a step about one key; nil if it is another step.
  func performOnKey(
    _ name: String, on settings: any SettingsAccess, key: String, _ fields: inout ScenarioFields
  ) throws -> ScenarioValue? {
    switch name {
    case "declare_json":
      let json = try fields.string("schema")
      warn(of: try settings.declare(Declaration(json: json), forKey: key))
    case "undeclare": if try !settings.undeclare(key) { throw StoreError(.absent, key: key, "was not declared") }
    default: return nil
    }
    return .null
  }

  static let aboutOneKey = ["declaration_json", "layer_of", "explain_json"]

  /// Runs one of these steps; nil if it is another step.
  func performOnKey(_ name: String, reading settings: any SettingsReading, key: String) throws -> ScenarioValue? {
    switch name {
    case "declaration_json":
      guard let declaration = try settings.declaration(forKey: key) else {
        throw StoreError(.absent, key: key, "is not declared")
      }
      return .text(declaration.json)
    case "layer_of": return .text(try settings.resolved(KeyName(key)).layer?.description ?? "none")
    case "explain_json":
      return try JSONDecoder().decode(ScenarioValue.self, from: Data(settings.explain(key).json.utf8))
    default: return nil
    }
  }

  /// The options about layers.
  func addLayers(to options: inout StoreOptions, _ fields: inout ScenarioFields) throws {
    options.managed = try fields.takeIfThere("managed").map { .path(ground.path(try $0.string())) }
    options.system = try fields.takeIfThere("system").map { .path(ground.path(try $0.string())) }
    options.arguments = try fields.takeIfThere("arguments").map { arguments in
      try ["program"] + arguments.elements().map { try $0.string() }
    }
    options.environmentPrefix = try fields.takeIfThere("environment")?.string()
  }

  /// Swift returns the reason where C returns "misfit".
  private func warn(of misfit: StoreError?) {
    if let misfit { warning = StoreError(.misfit, key: misfit.key, misfit.message) }
  }

  private func settings(at fields: inout ScenarioFields) throws -> any SettingsAccess {
    try settings(fields.string("on", otherwise: "store"))
  }

  /// A call that only a store has does not compile for a transaction.
  private static func store(of settings: any SettingsAccess) throws -> Store {
    guard let store = settings as? Store else { throw StoreError(.unsupported, "a transaction cannot do that") }
    return store
  }
}
