// Fair measurements, as in c/rounds.c: many short turns, A B C A B C …; runner/rows.py takes the median.

import Foundation

/// The length of a turn.
///
/// Reading takes many short turns. Writing takes long ones, so that each has its share of SQLite's checkpoints. Opening
/// once is a turn.
struct Plan {
  let rounds: Int
  let turn: Duration

  static func reading(quick: Bool) -> Plan { Plan(rounds: quick ? 31 : 151, turn: .milliseconds(2)) }
  static func writing(quick: Bool) -> Plan { Plan(rounds: quick ? 9 : 41, turn: .milliseconds(100)) }
  static func opening(quick: Bool) -> Plan { Plan(rounds: quick ? 5 : 15, turn: .zero) }
}

struct Candidate {
  let name: String
  /// Runs a number of operations, and returns their time.
  let turn: (_ operations: Int) throws -> Duration

  init(_ name: String, turn: @escaping (_ operations: Int) throws -> Duration) {
    (self.name, self.turn) = (name, turn)
  }

  init(_ name: String, loop: @escaping (_ operations: Int) -> Void) {
    self.init(name) { operations in ContinuousClock().measure { loop(operations) } }
  }

  /// The number of operations that fill a turn.
  ///
  /// The best of several turns: a single one may have been delayed, and would count as many operations.
  fileprivate func calibrated(to length: Duration) throws -> Int {
    var operations = 1
    while true {
      let took = try (0..<4).map { _ in try turn(operations) }.min() ?? .zero
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
  init(_ section: String, _ row: String, goals: [String] = [], _ plan: Plan, _ candidates: [Candidate]) throws {
    (self.section, self.row, self.goals) = (section, row, goals)
    let operations = try candidates.map { try $0.calibrated(to: plan.turn) }
    var measured = candidates.map { Measured(name: $0.name, role: "candidate", rounds: []) }
    for _ in 0..<plan.rounds {
      for (place, candidate) in candidates.enumerated() {
        let nanoseconds = try candidate.turn(operations[place]) / .nanoseconds(1)
        measured[place].rounds.append(nanoseconds / Double(operations[place]))
      }
    }
    self.measured = measured
  }

  /// Prints a line of JSON for runner/rows.py.
  func printed() throws { print(String(decoding: try JSONEncoder().encode(self), as: UTF8.self)) }
}
