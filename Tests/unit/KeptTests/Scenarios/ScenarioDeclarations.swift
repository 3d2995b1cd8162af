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
        throw StoreError(.invalid, "the defaults are not an object that maps keys to values")
      }
      try Self.store(of: settings).register(defaults: defaults)
    case "place_json": return Self.members(of: try StorePlace(place(&fields)))
    case "places_json": return .list(try StorePlace.all(in: place(&fields)).map(Self.members))
    case "processes_json":
      let found = try StorePlace(place(&fields)).processes()
      return .list(found.map { .object(["pid": .number(Int64($0.pid)), "name": .text($0.name)]) })
    case "findings_json":
      var options = StoreOptions()
      try addLayers(to: &options, &fields)
      // The notes depend on the machine.
      let found = try StorePlace(place(&fields)).examine(options: options).findings.filter { $0.severity > .note }
      return .list(found.map(Self.members))
    case "layer_files_json":
      return .list(try Self.store(of: settings(at: &fields)).layerFiles().map(Self.members))
    case "layer_check":
      let (layer, text) = (try fields.string("layer"), try fields.string("text"))
      try Layer.allCases.first { $0.description == layer }?.check(text)
    case "text_to_json":
      let type = try Self.type(&fields)
      return .text(try Value(text: fields.string("text"), as: type).json)
    case "json_to_text":
      let type = try Self.type(&fields)
      return .text(try Value(json: fields.string("json")).text(as: type))
    case "differences_json":
      let (old, new) = (try contents("old", &fields), try contents("new", &fields))
      let secrets = try fields.takeIfThere("secrets")?.flag() ?? false
      return .text(try old().differences(to: new()).json(includesSecrets: secrets))
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

  private static func members(of place: StorePlace) -> ScenarioValue {
    .object([
      "location": .text(place.location), "identifier": .bool(place.isIdentifier), "state": .text(place.state.rawValue),
      "bytes": .number(Int64(place.bytesOnDisk())), "layerFiles": .list(place.layerFiles().map(Self.members)),
    ])
  }

  private static func members(of file: LayerFileState) -> ScenarioValue {
    var members: [String: ScenarioValue] = [
      "layer": .text(file.layer.description), "path": .text(file.path), "state": .text(file.state.rawValue),
    ]
    members["problem"] = file.problem.map { .text($0) }
    return .object(members)
  }

  private static func members(of finding: Finding) -> ScenarioValue {
    var members: [String: ScenarioValue] = [
      "severity": .text(finding.severity.rawValue), "what": .text(finding.what),
      "repairable": .bool(finding.isRepairable),
    ]
    members["key"] = finding.key.map { .text($0) }
    members["remedy"] = finding.remedy.map { .text($0) }
    return .object(members)
  }

  private static func type(_ fields: inout ScenarioFields) throws -> DeclaredType? {
    let word = try fields.takeIfThere("type")?.string()
    return DeclaredType.allCases.first { $0.description == word }
  }

  /// Reads a side of a comparison, once both are known.
  private func contents(_ side: String, _ fields: inout ScenarioFields) throws -> () throws -> StoreContents {
    if let file = try fields.takeIfThere("\(side)_file")?.string() {
      let path = ground.path(file)
      return { try StoreContents(contentsOf: path) }
    }
    return switch things[try fields.string(side)] {
    case .snapshot(let snapshot)?: { try StoreContents(snapshot) }
    case .store(let store)?: { try StoreContents(store) }
    default: { throw StoreError(.unsupported, "a transaction has no contents to compare") }
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
