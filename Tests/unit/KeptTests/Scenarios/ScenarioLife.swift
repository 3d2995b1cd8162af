// Steps about backups, restores, salvages, migrations and undoing.

import Kept
import Testing

extension ScenarioRunner {
  /// Runs a step about the whole store, or a rename; nil if it is another step.
  func performOnLife(_ name: String, _ fields: inout ScenarioFields) throws -> ScenarioValue? {
    switch name {
    case "backup":
      let replacing = try fields.takeIfThere("replace")?.flag() ?? false
      let slash = try fields.takeIfThere("folder")?.flag() == true ? "/" : ""
      let (store, path) = (try onStore(&fields), ground.path(try fields.string("file")) + slash)
      return .number(try store.backup(to: path, replacing: replacing))
    case "restore":
      let (store, path) = (try onStore(&fields), ground.path(try fields.string("file")))
      return .bool(try store.restore(from: path).quarantine != nil)
    case "verify_json": return .text(try onStore(&fields).verify().json)
    case "salvaged":
      if try onStore(&fields).salvaged() == nil { throw StoreError(.absent, "nothing was salvaged") }
      return .null
    case "acknowledge_salvage":
      try onStore(&fields).acknowledgeSalvage()
      return .null
    case "schema_version": return .number(UInt64(try onStore(&fields).schemaVersion()))
    case "undo":
      let (store, revision) = (try onStore(&fields), try fields.take("revision").unsigned())
      return .list(try store.undo(revision: revision).map { .text($0) })
    case "migrate": return try migrate(&fields)
    case "rename":
      let settings = try settings(fields.string("on", otherwise: "store"))
      let (key, other) = (try fields.string("key"), try fields.string("to"))
      if try !settings.rename(key, to: other) { throw StoreError(.absent, key: key, "was not there") }
      return .null
    default: return nil
    }
  }

  private func onStore(_ fields: inout ScenarioFields) throws -> Store {
    try store(fields.string("on", otherwise: "store"))
  }

  private func migrate(_ fields: inout ScenarioFields) throws -> ScenarioValue {
    let store = try onStore(&fields)
    let later: LaterVersion = try fields.takeIfThere("later")?.string() == "read only" ? .readOnly : .refuse
    let others: MigrationPatience = try fields.takeIfThere("others")?.string() == "carry on" ? .carryOn : .wait
    let says = try fields.takeIfThere("says")?.string() ?? ""
    let steps = try fields.take("migrations").elements().map(migration)
    do {
      return .text(try store.migrate(steps, whileOthersDo: others, ofLaterVersion: later).inScenarios)
    } catch let failure as MigrationFailure {
      #expect(failure.description.contains(says))
      // The error that C returns.
      guard let reason = failure.reason as? StoreError else { throw failure }
      throw StoreError(reason.code, failure.description)
    }
  }

  /// Its steps are steps of the scenario, on the transaction that is passed to it.
  private func migration(_ description: ScenarioValue) throws -> Migration {
    var fields = try ScenarioFields(description)
    let (version, name) = (UInt32(try fields.take("version").unsigned()), try fields.string("name"))
    let steps = try fields.take("steps").elements()
    let fails = try fields.takeIfThere("fails")?.string()
    // A scenario runs on one thread.
    nonisolated(unsafe) let runner = self
    return Migration(to: version, name) { transaction in
      runner.things["transaction"] = .transaction(transaction)
      for step in steps { try runner.run(step) }
      guard let fails else { return }
      let code = (-16 ... -1).lazy.map { StoreError.Code(rawValue: Int32($0)) }.first { $0.description == fails }
      throw StoreError(code ?? .failed, "the scenario lets it fail")
    }
  }
}

extension Migrated {
  fileprivate var inScenarios: String {
    switch self {
    case .nothing: "nothing"
    case .from: "migrated"
    case .fresh: "fresh"
    case .elsewhere: "elsewhere"
    case .readOnly: "read only"
    }
  }
}
