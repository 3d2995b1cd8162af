// Steps about snapshots and the history, and steps that reset values to their defaults.

import Foundation
import Kept

extension ScenarioRunner {
  /// Runs a step about snapshots, the history or clearing; nil if it is another step.
  func performOnRevisions(_ name: String, _ fields: inout ScenarioFields) throws -> ScenarioValue? {
    switch name {
    case "snapshot":
      let on = try fields.string("on", otherwise: "store")
      let name = try fields.string("as", otherwise: "snapshot")
      let prefix = try fields.takeIfThere("prefix")?.string() ?? ""
      let revision = try fields.takeIfThere("at")?.unsigned()
      let store = try theStore(on)
      let snapshot = try revision.map { try store.snapshot(prefix: prefix, at: $0) } ?? store.snapshot(prefix: prefix)
      things[name] = .snapshot(snapshot)
    case "snapshot_end":
      let name = try fields.string("on", otherwise: "snapshot")
      // In Swift it ends with its last reference.
      if case .snapshot? = things[name] { things[name] = .ended }
    case "store_revision":
      let on = try fields.string("on", otherwise: "store")
      if case .snapshot(let snapshot)? = things[on] { return .number(snapshot.revision) }
      return .number(try theStore(on).currentRevision())
    case "history_json":
      let store = try theStore(fields.string("on", otherwise: "store"))
      let history =
        try fields.takeIfThere("prefix").map { try store.history(prefix: $0.string()) }
        ?? store.history(of: fields.string("key"))
      return try JSONDecoder().decode(ScenarioValue.self, from: Data(history.json.utf8))
    case "reset":
      let (settings, key) = (try settings(fields.string("on", otherwise: "store")), try fields.string("key"))
      if let layer = try settings.reset(key) { warning = StoreError(.shadowed, "the \(layer) layer hides it") }
    case "remove_all":
      let (settings, prefix) = (try settings(fields.string("on", otherwise: "store")), try fields.string("prefix"))
      return .number(UInt64(try settings.removeAll(prefix: prefix)))
    default: return nil
    }
    return .null
  }

  private static let readingSteps = [
    "list", "contains", "revision_of", "store_revision", "snapshot_end", "declarations_json",
  ]

  /// Throws the error of C for a call that does not compile for a snapshot, or after its end.
  func refuse(_ name: String, _ fields: inout ScenarioFields) throws {
    guard let on = try fields.rest["on"]?.string(), name != "snapshot_end" else { return }
    let isReading = name.hasPrefix("get_") || (Self.readingSteps + Self.aboutOneKey).contains(name)
    switch things[on] {
    case .ended?:
      fields.takeRest()
      throw StoreError(.closed, "the snapshot has ended; take another")
    case .snapshot? where !isReading:
      fields.takeRest()
      throw StoreError(.unsupported, "a snapshot can only be read")
    default: return
    }
  }

  private func theStore(_ name: String) throws -> Store {
    if case .transaction? = things[name] { throw StoreError(.unsupported, "a transaction cannot do that") }
    return try store(name)
  }
}
