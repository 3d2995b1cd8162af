// The scenarios of Tests/scenarios, which Swift, C and Python run identically. See Tests/scenarios/README.md.

import Foundation
import Testing

/// One scenario.
struct Scenario: Sendable {
  let title: String
  let stores: [String]
  /// Why Swift cannot run it; nil if it can.
  let reasonNotToRun: String?
  /// The environment variables that it sets.
  let variables: [String: String]
  let steps: [ScenarioValue]

  init(file: URL) throws {
    var fields = try ScenarioFields(JSONDecoder().decode(ScenarioValue.self, from: Data(contentsOf: file)))
    title = try fields.string("title")
    stores = try fields.take("stores").elements().map { try $0.string() }
    steps = try fields.take("steps").elements()
    var languages = try fields.takeIfThere("not_in").map { try ScenarioFields($0) }
    reasonNotToRun = try languages?.takeIfThere("swift")?.string()
    let variables = try fields.takeIfThere("variables").map { try ScenarioFields($0).rest } ?? [:]
    self.variables = try variables.mapValues { try $0.string() }
    // The Python runner checks these. They are for the reader.
    for name in ["promise", "words", "bad_input"] { _ = fields.takeIfThere(name) }
    guard fields.rest.isEmpty else { throw ScenarioFault("\(file.lastPathComponent): unknown \(fields.rest.keys)") }
  }

  /// Every scenario, or why they cannot be read.
  static let all = Result {
    let folder = URL(filePath: #filePath).appending(path: "../../../../scenarios").standardizedFileURL
    let promises = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .filter { $0.hasDirectoryPath && $0.lastPathComponent != "schema" }
    let files = try promises.flatMap {
      try FileManager.default.contentsOfDirectory(at: $0, includingPropertiesForKeys: nil)
    }
    return try files.filter { $0.pathExtension == "json" }
      .sorted { $0.lastPathComponent < $1.lastPathComponent }
      .map { try Scenario(file: $0) }
  }
}

/// A scenario in one kind of store: one test.
struct PlacedScenario: Sendable, CustomTestStringConvertible {
  let scenario: Scenario
  let place: String

  var testDescription: String { "\(scenario.title) (\(place))" }

  /// All that Swift can run.
  static let all = ((try? Scenario.all.get()) ?? []).filter { $0.reasonNotToRun == nil }.flatMap { scenario in
    scenario.stores.map { PlacedScenario(scenario: scenario, place: $0) }
  }
}
