// What a store's error handler receives in a scenario, until a step asks for it.

import Foundation
import Kept

/// Collects the reports of one store.
// @unchecked: guarded by its condition.
final class ScenarioReports: @unchecked Sendable {
  private let condition = NSCondition()
  private var received: [StoreError] = []

  func receive(_ error: StoreError) {
    condition.withLock {
      received.append(error)
      condition.broadcast()
    }
  }

  /// All reports since the last call; waits for `count` of them for up to ten seconds.
  func take(_ count: Int) -> [StoreError] {
    let deadline = Date(timeIntervalSinceNow: 10)
    return condition.withLock {
      while received.count < count, condition.wait(until: deadline) {}
      defer { received = [] }
      return received
    }
  }

  /// The same in the form of the scenarios, with the fields and in the order of the expected reports.
  func take(like expected: [ScenarioValue]) throws -> ScenarioValue {
    var reports = take(expected.count)
    var found: [ScenarioValue] = []
    for wanted in expected {
      let fields = try ScenarioFields(wanted).rest
      let place = reports.firstIndex { error in
        .text(error.code.description) == fields["status"]
          && (fields["key"] == nil || error.key.map { .text($0) } == fields["key"])
      }
      guard let place else { throw ScenarioFault("nothing like \(fields) was reported, but \(reports)") }
      reports.remove(at: place)
      found.append(wanted)
    }
    guard reports.isEmpty else { throw ScenarioFault("also reported: \(reports)") }
    return .list(found)
  }
}
