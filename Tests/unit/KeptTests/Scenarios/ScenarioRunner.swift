// One scenario in one store: the names in it, and the expectations of the steps.

import Foundation
import Kept
import Testing

/// Runs the steps of one scenario.
final class ScenarioRunner {
  /// The thing that has a name.
  enum Thing {
    case store(Store)
    case transaction(Transaction)
    case snapshot(Snapshot)
    /// A snapshot that has ended.
    case ended
    case listener(ScenarioListener)
    /// The wall clock at a step.
    case clock(Timestamp)
  }

  let location: String
  let ground: ScenarioGround
  var things: [String: Thing] = [:]
  var reports: [String: ScenarioReports] = [:]
  // A warning of the present step, which was done nevertheless.
  var warning: StoreError?

  init(location: String, on ground: ScenarioGround) { (self.location, self.ground) = (location, ground) }

  /// Runs a step and compares its result; throws errors of the scenario itself.
  func run(_ step: ScenarioValue) throws {
    var fields = try ScenarioFields(step)
    _ = fields.takeIfThere("note")
    let name = try fields.string("do")
    let status = try fields.string("status", otherwise: "ok")
    let offset = try fields.takeIfThere("offset")?.integer()
    let expected = try fields.takeIfThere("gives")?.spelledOut()
    warning = nil
    do {
      let given = try perform(name, &fields, expected)
      #expect(warning?.code.description ?? "ok" == status, "\(warning?.description ?? "")")
      if let expected = try expected.map({ try Self.normal($0, of: name) }) {
        // Members that they do not name may have any value.
        let isLoose =
          ["notices", "explain_json", "history_json", "layer_files_json"].contains(name)
          || name.hasPrefix("import") || name.hasPrefix("place") || name == "findings_json"
        #expect((isLoose ? given.reduced(to: expected) : given) == expected)
      }
    } catch let error as StoreError {
      #expect(error.code.description == status, "\(error)")
      #expect(error.description.count >= 10)
      if let offset { #expect(error.offset == Int(offset), "\(error)") }
    }
    guard fields.rest.isEmpty else { throw ScenarioFault("the runner does not know \(fields.rest.keys) of \(name)") }
  }

  /// Ends everything; an observer must have received nothing that the scenario does not list.
  func end() {
    for case .listener(let listener) in things.values { listener.cancel() }
    for case .transaction(let transaction) in things.values { transaction.rollBack() }
    for case .store(let store) in things.values { store.close() }
    for case .listener(let listener) in things.values { #expect(listener.unexpected == []) }
  }

  /// The expected result, in the form of the steps' results: a double as Swift prints it, and a notice with all fields.
  private static func normal(_ expected: ScenarioValue, of name: String) throws -> ScenarioValue {
    if name == "notices" { return .list(try expected.elements().map(ScenarioListener.complete)) }
    guard name == "get_double" else { return expected }
    return .text("\(try double(expected))")
  }

  static func double(_ text: ScenarioValue) throws -> Double {
    guard let double = Double(try text.string()) else { throw ScenarioFault("\(text) is not a double") }
    return double
  }

  func store(_ name: String) throws -> Store {
    guard case .store(let store) = things[name] else { throw ScenarioFault("no store is called \(name)") }
    return store
  }

  func transaction(_ name: String) throws -> Transaction {
    guard case .transaction(let found) = things[name] else { throw ScenarioFault("no transaction is called \(name)") }
    return found
  }

  func listener(_ name: String) throws -> ScenarioListener {
    guard case .listener(let listener) = things[name] else { throw ScenarioFault("no observer is called \(name)") }
    return listener
  }

  /// The store or the transaction of that name.
  func settings(_ name: String) throws -> any SettingsAccess {
    if case .transaction(let transaction) = things[name] { return transaction }
    return try store(name)
  }

  /// The store, the transaction or the snapshot of that name.
  func reading(_ name: String) throws -> any SettingsReading {
    if case .snapshot(let snapshot) = things[name] { return snapshot }
    return try settings(name)
  }
}
