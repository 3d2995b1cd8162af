// How each step runs in Swift: the public calls of Kept. Transactions are begun by `begin`, which KeptC uses too, so
// that a scenario can run other steps inside one.

import Foundation
import Kept

extension ScenarioRunner {
  /// Runs a step, and returns its result; `.null` if it has none.
  ///
  /// A step takes its fields before anything can fail.
  func perform(_ name: String, _ fields: inout ScenarioFields, _ expected: ScenarioValue?) throws -> ScenarioValue {
    try refuse(name, &fields)
    switch name {
    case "open": try open(&fields)
    case "close": try store(fields.string("on", otherwise: "store")).close()
    case "flush": try store(fields.string("on", otherwise: "store")).flush()
    case "begin": try begin(&fields)
    case "commit": return .number(try transaction(fields.string("on", otherwise: "transaction")).commit())
    case "rollback": try transaction(fields.string("on", otherwise: "transaction")).rollBack()
    case "observe": try observe(&fields)
    case "notices":
      let listener = try listener(fields.string("on", otherwise: "observer"))
      return try notices(to: listener, expected?.elements() ?? [])
    case "clock": try readClock(&fields)
    case "unobserve": try listener(fields.string("on", otherwise: "observer")).cancel()
    case "list":
      let (name, prefix) = (try fields.string("on", otherwise: "store"), try fields.string("prefix"))
      return .list(try reading(name).keys(prefix: prefix).map { .text($0) })
    default:
      if try ground.perform(name, &fields) { return .null }
      if let given = try performOnLife(name, &fields) { return given }
      if let given = try performTransfer(name, &fields) { return given }
      if let given = try performOnMany(name, &fields, expected) ?? performOnRevisions(name, &fields) { return given }
      let (on, key) = (try fields.string("on", otherwise: "store"), try fields.string("key"))
      if let given = try performReading(name, on: on, key: key) { return given }
      let settings = try settings(on)
      if let given = try performOnKey(name, on: settings, key: key, &fields) { return given }
      return try perform(name, on: settings, key: key, &fields)
    }
    return .null
  }

  /// The field "location" or "at"; the location of the scenario's store if the step has neither.
  func place(_ fields: inout ScenarioFields) throws -> String {
    let file = try fields.takeIfThere("at").map { ground.path(try $0.string()) }
    return try file ?? fields.string("location", otherwise: location)
  }

  private func open(_ fields: inout ScenarioFields) throws {
    let name = try fields.string("as", otherwise: "store")
    let location = try place(&fields)
    let durability = try durability(&fields) ?? .shared
    let tag = try fields.takeIfThere("tag")?.string()
    let reports = ScenarioReports()
    let isReadOnly = try fields.takeIfThere("read_only")?.flag() ?? false
    var options = StoreOptions(
      durability: durability, isReadOnly: isReadOnly, tag: tag, errorHandler: reports.receive)
    try addLayers(to: &options, &fields)
    self.reports[name] = reports
    let store = try Store.open(location, options: options)
    things[name] = .store(store)
    // C returns "salvaged" where Swift calls the error handler.
    if try store.salvaged() != nil { warning = StoreError(.salvaged, "the store was damaged, and was salvaged") }
  }

  private func begin(_ fields: inout ScenarioFields) throws {
    let store = try store(fields.string("on", otherwise: "store"))
    let name = try fields.string("as", otherwise: "transaction")
    let tag = try fields.takeIfThere("tag")?.string()
    things[name] = .transaction(try store.begin(durability: durability(&fields), tag: tag))
  }

  private func durability(_ fields: inout ScenarioFields) throws -> Durability? {
    try fields.takeIfThere("durability").map { try $0.string() == "durable" ? .durable : .shared }
  }

  private func observe(_ fields: inout ScenarioFields) throws {
    let store = try store(fields.string("on", otherwise: "store"))
    let name = try fields.string("as", otherwise: "observer")
    let initial = try fields.takeIfThere("initial")?.flag() ?? false
    let once = try fields.takeIfThere("once")?.flag() ?? false
    let prefix = try fields.takeIfThere("prefix")?.string()
    let scope: Scope = try prefix.map { .prefix(ExactString($0)) } ?? .key(KeyName(fields.string("key")))
    things[name] = .listener(try ScenarioListener(to: store, scope, initial: initial, once: once))
  }
}

// MARK: - Steps about a key

extension ScenarioRunner {
  /// Runs a step that reads; nil if it is another step.
  private func performReading(_ name: String, on: String, key: String) throws -> ScenarioValue? {
    let isReading = name.hasPrefix("get_") || ["contains", "revision_of"].contains(name)
    guard isReading || Self.aboutOneKey.contains(name) else { return nil }
    let settings = try reading(on)
    func get<T: Storable>(_ type: T.Type) throws -> T { try Self.present(settings.value(for: Key<T?>(key))) }
    switch name {
    case "contains": return .bool(try settings.contains(key))
    case "revision_of": return .number(try Self.present(settings.revision(of: key)))
    case "get_json": return .text(try Self.present(settings.json(forKey: key)))
    case "get_bool": return .bool(try get(Bool.self))
    case "get_int64": return .number(try get(Int64.self))
    case "get_uint64": return .number(try get(UInt64.self))
    case "get_double": return .text("\(try get(Double.self))")
    case "get_string": return .text(try get(String.self))
    case "get_bytes": return .text(Array(try get(Data.self)))
    case "get_date":
      let date = try get(Timestamp.self)
      return .object(["seconds": .number(date.seconds), "nanoseconds": .number(Int64(date.nanoseconds))])
    default: return try performOnKey(name, reading: settings, key: key)
    }
  }

  private func perform(
    _ name: String, on settings: any SettingsAccess, key: String, _ fields: inout ScenarioFields
  ) throws -> ScenarioValue {
    switch name {
    case "remove":
      if try !settings.remove(key) { throw StoreError(.absent, key: key, "was not there") }
      warn(of: try Self.layer(over: key, in: settings))
    case "set_json":
      let json = try fields.string("json")
      warn(of: try settings.setJSON(json, forKey: key))
    case "set_json_if":
      let (json, expected) = (try fields.string("json"), try fields.take("expected").unsigned())
      let revision = try settings.set(Value(json: json), forKey: key, ifRevision: expected)
      warn(of: try Self.layer(over: key, in: settings))
      return .number(revision)
    default: return try performTyped(name, on: settings, key: key, &fields)
    }
    return .null
  }

  private func performTyped(
    _ name: String, on settings: any SettingsAccess, key: String, _ fields: inout ScenarioFields
  ) throws -> ScenarioValue {
    func set<T: Storable>(_ value: T) throws { warn(of: try settings.set(value, for: Key<T>(key, default: value))) }
    switch name {
    case "set_bool": try set(fields.take("value").flag())
    case "set_int64": try set(fields.take("value").integer())
    case "set_uint64": try set(fields.take("value").unsigned())
    case "set_double": try set(Self.double(fields.take("value")))
    case "set_string": try set(fields.string("value"))
    case "set_bytes": try set(Data(fields.take("value").bytes()))
    case "set_date":
      var date = try ScenarioFields(fields.take("value"))
      let (seconds, nanoseconds) = (try date.take("seconds").integer(), try date.take("nanoseconds").integer())
      try set(Timestamp(seconds: seconds, nanoseconds: Int32(nanoseconds)))
    default: throw ScenarioFault("the runner does not know the step \"\(name)\"")
    }
    return .null
  }

  /// Swift returns the layer where C returns "shadowed".
  private func warn(of layer: Layer?) {
    if let layer { warning = StoreError(.shadowed, "the \(layer) layer hides it") }
  }

  /// C reports the layer after every write.
  ///
  /// Swift returns it only where it returns nothing else; elsewhere a program queries it.
  private static func layer(over key: String, in settings: any SettingsAccess) throws -> Layer? {
    try settings.resolved(KeyName(key)).layer.flatMap { $0 > .user ? $0 : nil }
  }

  /// Swift returns nil where C and Python report "absent".
  private static func present<T>(_ value: T?) throws -> T {
    guard let value else { throw StoreError(.absent, "nothing is stored under the key") }
    return value
  }
}
