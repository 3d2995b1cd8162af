// The wall clock in scenarios: between which of its steps a notice says that it was committed.

import Foundation
import Kept

extension ScenarioRunner {
  /// Records the present time under a name.
  func readClock(_ fields: inout ScenarioFields) throws {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    let now = try Timestamp(seconds: Int64(time.tv_sec), nanoseconds: Int32(time.tv_nsec))
    things[try fields.string("as", otherwise: "clock")] = .clock(now)
  }

  /// Returns the next notices; throws if the time of one is not as expected.
  func notices(to listener: ScenarioListener, _ expected: [ScenarioValue]) throws -> ScenarioValue {
    let notices = try listener.next(expected.count)
    for (notice, expected) in zip(notices, expected) {
      var fields = try ScenarioFields(expected)
      if let after = try fields.takeIfThere("after")?.string(), notice.time < (try clock(after)) {
        throw ScenarioFault("a notice is of \(notice.time), before \"\(after)\"")
      }
      if let before = try fields.takeIfThere("before")?.string(), notice.time > (try clock(before)) {
        throw ScenarioFault("a notice is of \(notice.time), after \"\(before)\"")
      }
    }
    return .list(notices.map(\.form))
  }

  private func clock(_ name: String) throws -> Timestamp {
    guard case .clock(let time) = things[name] else { throw ScenarioFault("no clock is called \(name)") }
    return time
  }
}
