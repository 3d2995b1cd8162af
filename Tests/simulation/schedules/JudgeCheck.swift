// The judge must accept good histories, and find what is wrong with others, before it is believed.

enum JudgeCheck {
  private static func op(
    _ begin: UInt64, _ end: UInt64, _ outcome: Answered.Outcome = .done, reads: [Int: Int64] = [:],
    writes: [Int: Int64] = [:], durable: Bool = false, revision: UInt64 = 0
  ) -> Answered {
    Answered(
      begin: begin, end: end, outcome: outcome, reads: reads, writes: writes, isDurable: durable, revision: revision)
  }

  private static let good: [(name: String, history: [Answered])] = [
    ("a read next to a write has its value", [op(1, 9, writes: [0: 5]), op(2, 3, reads: [0: 5])]),
    ("a read next to a write has the old value", [op(1, 9, writes: [0: 5]), op(2, 3, reads: [0: 0])]),
    (
      "a write without an answer is done late",
      [op(1, .max, .unknown, writes: [0: 5]), op(3, 4, reads: [0: 0]), op(5, 6, reads: [0: 5])]
    ),
    ("a write without an answer is not done", [op(1, .max, .unknown, writes: [0: 5]), op(3, 4, reads: [0: 0])]),
    ("a loss of power takes back a write", [op(1, 2, writes: [0: 5]), op(3, 3, .lostPower), op(4, 5, reads: [0: 0])]),
    (
      "a loss of power takes back one of two",
      [op(1, 2, writes: [0: 5]), op(3, 4, writes: [0: 6]), op(5, 5, .lostPower), op(6, 7, reads: [0: 5])]
    ),
  ]

  private static let bad: [(name: String, history: [Answered])] = [
    ("a lost write", [op(1, 2, writes: [0: 5]), op(3, 4, reads: [0: 0])]),
    ("a stale read after a new one", [op(1, 20, writes: [0: 5]), op(2, 3, reads: [0: 5]), op(4, 5, reads: [0: 0])]),
    ("a value that was never written", [op(1, 2, writes: [0: 5]), op(3, 4, reads: [0: 6])]),
    ("a torn snapshot", [op(1, 9, writes: [0: 5, 1: 5]), op(2, 3, reads: [0: 5, 1: 0])]),
    (
      "snapshots in two orders",
      [
        op(1, 9, writes: [0: 5]), op(1, 9, writes: [1: 6]), op(2, 3, reads: [0: 5, 1: 0]),
        op(4, 5, reads: [0: 0, 1: 6]),
      ]
    ),
    ("a lost update", [op(1, 8, reads: [0: 0], writes: [0: 5]), op(2, 9, reads: [0: 0], writes: [0: 6])]),
    (
      "a write without an answer that is taken back",
      [op(1, .max, .unknown, writes: [0: 5]), op(3, 4, reads: [0: 5]), op(5, 6, reads: [0: 0])]
    ),
    (
      "a durable write that is lost",
      [op(1, 2, writes: [0: 5], durable: true), op(3, 3, .lostPower), op(4, 5, reads: [0: 0])]
    ),
    (
      "a write before a durable one that is lost",
      [
        op(1, 2, writes: [1: 4]), op(3, 4, writes: [0: 5], durable: true), op(5, 5, .lostPower),
        op(6, 7, reads: [0: 5, 1: 0]),
      ]
    ),
    (
      "an earlier write that is lost alone",
      [op(1, 2, writes: [1: 4]), op(3, 4, writes: [0: 5]), op(5, 5, .lostPower), op(6, 7, reads: [0: 5, 1: 0])]
    ),
    (
      "a write that comes after a loss of power",
      [op(1, .max, .unknown, writes: [0: 5]), op(2, 2, .lostPower), op(3, 4, reads: [0: 0]), op(5, 6, reads: [0: 5])]
    ),
    ("a revision that is used twice", [op(1, 2, writes: [0: 5], revision: 3), op(3, 4, writes: [0: 6], revision: 3)]),
    ("a revision that goes back", [op(1, 2, revision: 3), op(3, 4, revision: 2)]),
  ]

  private static let badNotices: [(name: String, notices: [Observed])] = [
    (
      "an older notice after a newer one",
      [
        Observed(key: 0, first: 2, last: 2, before: 0, after: 5),
        Observed(key: 0, first: 1, last: 1, before: 5, after: 7),
      ]
    ),
    (
      "a change that was left out",
      [
        Observed(key: 0, first: 1, last: 1, before: 0, after: 5),
        Observed(key: 0, first: 3, last: 3, before: 6, after: 7),
      ]
    ),
    ("the last change is missing", [Observed(key: 0, first: 1, last: 1, before: 0, after: 5)]),
  ]

  /// - Returns: what the judge got wrong.
  static func faults() -> [String] {
    good.filter { !Judge.isLinearizable($0.history, keys: 2) }.map { "refused: \($0.name)" }
      + bad.filter { Judge.isLinearizable($0.history, keys: 2) }.map { "not found: \($0.name)" }
      + badNotices.filter { Judge.fault(of: $0.notices, final: [7, 0], keys: 2) == nil }.map { "not found: \($0.name)" }
  }
}
