// Steps that export a store and import texts.

import Foundation
import Kept

extension ScenarioRunner {
  /// Runs a step; nil for any other step.
  func performTransfer(_ name: String, _ fields: inout ScenarioFields) throws -> ScenarioValue? {
    guard name.hasPrefix("export_") || name.hasPrefix("import") else { return nil }
    let settings = try settings(fields.string("on", otherwise: "store"))
    let file = try fields.takeIfThere("file").map { ground.path(try $0.string()) }
    let with = try fields.takeIfThere("with").map { try $0.elements().map { try $0.string() } } ?? []
    let prefix = try fields.takeIfThere("prefix")?.string() ?? ""
    // A call that only a store has does not compile for a transaction.
    let store = settings as? Store
    if name.hasPrefix("export_") {
      let options = ExportOptions(
        prefix: prefix, includesDeclarations: with.contains("declarations"), includesSecrets: with.contains("secrets"),
        leavesSecretsPlain: with.contains("secrets"))
      guard let store else { throw StoreError(.unsupported, "a transaction cannot do that") }
      guard let file else { return .text(try store.export(options)) }
      try store.export(to: file, options)
      return .null
    }
    var options = ImportOptions(
      format: try format(&fields), prefix: prefix, replaces: with.contains("replace"),
      isDryRun: with.contains("dry run"), includesDeclarations: with.contains("declarations"))
    options.separator = try fields.takeIfThere("separator")?.string() ?? options.separator
    let text = try fields.takeIfThere("text")?.bytes() ?? []
    guard let store else { throw StoreError(.unsupported, "a transaction cannot do that") }
    let report = try file.map { try store.import(contentsOf: $0, options) } ?? store.import(text, options)
    return try Self.members(of: report)
  }

  private func format(_ fields: inout ScenarioFields) throws -> ImportFormat {
    let name = try fields.string("format", otherwise: "kept")
    let formats: [String: ImportFormat] = ["kept": .kept, "json": .json, "nested json": .nestedJSON]
    guard let format = formats[name] else { throw ScenarioFault("the runner does not know the format \"\(name)\"") }
    return format
  }

  /// Replaces objects with messages by their subjects.
  private static func members(of report: ImportReport) throws -> ScenarioValue {
    let decoded = try JSONDecoder().decode(ScenarioValue.self, from: Data(report.json.utf8))
    guard case .object(var members) = decoded else { throw ScenarioFault("a report is an object") }
    members["refused"] = .list(report.refused.map { .text($0.key) })
    members["notCarried"] = .list(report.notCarried.map { .text($0.place) })
    return .object(members)
  }
}
