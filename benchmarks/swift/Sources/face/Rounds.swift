// Fair measuring, as c/rounds.c does it: many short turns, A B C A B C …, of which runner/rows.py takes the median.

import Foundation

/// How long a turn is.
///
/// Reading takes many short turns. Writing takes long ones, so that each has its share of SQLite's checkpoints.
struct Plan {
  let rounds: Int
  let turn: Duration

  static func reading(quick: Bool) -> Plan { Plan(rounds: quick ? 31 : 151, turn: .milliseconds(2)) }
  static func writing(quick: Bool) -> Plan { Plan(rounds: quick ? 9 : 41, turn: .milliseconds(100)) }
}

struct Contestant {
  let name: String
  var role = "contestant"
  /// Does so many operations.
  let loop: (_ operations: Int) -> Void

  fileprivate func turn(_ operations: Int) -> Duration { ContinuousClock().measure { loop(operations) } }

  /// How many operations fill a turn.
  ///
  /// The best of some turns: a single one may have been kept waiting, and would look like many operations.
  fileprivate func calibrated(to length: Duration) -> Int {
    var operations = 1
    while true {
      let took = (0..<4).map { _ in turn(operations) }.min() ?? .zero
      if took >= length / 4 { return max(1, Int(Double(operations) * (length / took))) }
      operations *= 2
    }
  }
}

struct Row: Encodable {
  struct Measured: Encodable { var name, role: String, rounds: [Double] }
  let section, row: String
  var unit = "ns"
  let goals: [String]
  let measured: [Measured]

  /// Measures.
  init(_ section: String, _ row: String, goals: [String] = [], _ plan: Plan, _ contestants: [Contestant]) {
    (self.section, self.row, self.goals) = (section, row, goals)
    let operations = contestants.map { $0.calibrated(to: plan.turn) }
    var measured = contestants.map { Measured(name: $0.name, role: $0.role, rounds: []) }
    for _ in 0..<plan.rounds {
      for (place, contestant) in contestants.enumerated() {
        let nanoseconds = contestant.turn(operations[place]) / .nanoseconds(1)
        measured[place].rounds.append(nanoseconds / Double(operations[place]))
      }
    }
    self.measured = measured
  }

  /// Prints a line of JSON for runner/rows.py.
  func printed() throws { print(String(decoding: try JSONEncoder().encode(self), as: UTF8.self)) }
}
