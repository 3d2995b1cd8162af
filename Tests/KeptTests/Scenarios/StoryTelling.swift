// One story in one store: who has which name, and what a step expects.

import Foundation
import Kept
import Testing

/// Tells the steps of one story.
final class StoryTelling {
  /// What a name stands for.
  enum Thing {
    case store(Store)
    case transaction(Transaction)
    case snapshot(Snapshot)
    /// A snapshot that has ended.
    case ended
    case listener(StoryListener)
  }

  let location: String
  let ground: StoryGround
  var things: [String: Thing] = [:]
  var reports: [String: StoryReports] = [:]
  // What the present step was told although it was done.
  var warning: StoreError?

  init(location: String, on ground: StoryGround) { (self.location, self.ground) = (location, ground) }

  /// Does a step and compares what came of it; throws what is wrong with the story itself.
  func tell(_ step: StoryValue) throws {
    var fields = try StoryFields(step)
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
        // What they do not name may be anything.
        let isLoose = name == "notices" || name == "explain_json" || name.hasPrefix("import")
        #expect((isLoose ? given.reduced(to: expected) : given) == expected)
      }
    } catch let error as StoreError {
      #expect(error.code.description == status, "\(error)")
      #expect(error.description.count >= 10)
      if let offset { #expect(error.offset == Int(offset), "\(error)") }
    }
    guard fields.rest.isEmpty else { throw StoryFault("the runner does not know \(fields.rest.keys) of \(name)") }
  }

  /// Ends everything; an observer must have heard nothing that the story did not tell.
  func end() {
    for case .listener(let listener) in things.values { listener.cancel() }
    for case .transaction(let transaction) in things.values { transaction.rollBack() }
    for case .store(let store) in things.values { store.close() }
    for case .listener(let listener) in things.values { #expect(listener.untold == []) }
  }

  /// What is expected, as the steps give it: a double as Swift prints it, and a notice with all that it tells.
  private static func normal(_ expected: StoryValue, of name: String) throws -> StoryValue {
    if name == "notices" { return .list(try expected.elements().map(StoryListener.complete)) }
    guard name == "get_double" else { return expected }
    return .text("\(try double(expected))")
  }

  static func double(_ text: StoryValue) throws -> Double {
    guard let double = Double(try text.string()) else { throw StoryFault("\(text) is no double") }
    return double
  }

  func store(_ name: String) throws -> Store {
    guard case .store(let store) = things[name] else { throw StoryFault("no store is called \(name)") }
    return store
  }

  func transaction(_ name: String) throws -> Transaction {
    guard case .transaction(let found) = things[name] else { throw StoryFault("no transaction is called \(name)") }
    return found
  }

  func listener(_ name: String) throws -> StoryListener {
    guard case .listener(let listener) = things[name] else { throw StoryFault("no observer is called \(name)") }
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
