// What a seed stands for: the processes and their operations, when the turn changes, and what fails.

import CPlatform
import CScheduler

enum Kind: Int32, CaseIterable {
  case get, set, remove, transaction, snapshot, flush, durable, text, look, secret, pause, reopen, fork, exchange
}

struct Plan {
  let seed: UInt64
  /// Of the turns.
  var schedule: UInt64
  /// The operations of each thread, by process.
  var programs: [[[Kind]]] = []
  /// How many of the keys with numbers they use: few are read again soon.
  var keys = Keys.numbers.count
  /// The lengths of texts: after a long one, a checkpoint is due.
  var lengths = [10, 100, 5000, 5000, 70_000]
  /// How many reads follow each operation.
  var reads = 0
  var observes = false
  var closes = true
  var restarts = 0
  var turns = CScheduler.turns(gap: 0, counts_all: false, hot: -1, most: .max)
  var faults: [fault] = []

  var mayBeBusy: Bool { faults.contains { $0.what == STEP_STOP } }
  var mayFail: Bool { faults.contains { $0.what == STEP_FAIL && $0.error != EINTR } }

  /// Steps near which a kill, a stop or another thread shows most.
  private static let places: [(kind: Int, most: Int)] = [
    (STEP_PULSE, 300), (STEP_WRITE, 12), (STEP_SYNC, 8), (STEP_SYNC_FOLDER, 4), (STEP_MAKE, 6), (STEP_RENAME, 5),
    (STEP_REMOVE, 4), (STEP_LOCK_BYTE, 20), (STEP_LOCK_FOLDER, 6), (STEP_OPEN, 40), (STEP_READ, 30), (STEP_MAP, 4),
    (STEP_CLOSE, 20), (STEP_WAKE, 10), (STEP_FUTEX, 6), (STEP_TRUNCATE, 3), (STEP_ANSWER, 30),
  ]

  /// The calls that a signal may interrupt.
  private static let interrupted: [(kind: Int, most: Int)] = [
    (STEP_READ, 30), (STEP_WRITE, 12), (STEP_SYNC, 8), (STEP_SYNC_FOLDER, 4), (STEP_OPEN, 40), (STEP_MAKE, 6),
    (STEP_CLOSE, 20), (STEP_TRUNCATE, 3), (STEP_LOCK_BYTE, 20), (STEP_LOCK_FOLDER, 6), (STEP_FUTEX, 6),
    (STEP_SLEEP, 6), (STEP_POLL, 6), (STEP_SIGNAL, 6),
  ]

  init(seed: UInt64) {
    (self.seed, schedule) = (seed, seed)
    var random = SeededRandom(seed)
    // A run has some of the kinds of operations.
    let kinds = Kind.allCases.filter { _ in random.isOne(in: 2) } + [.set]
    keys = random.any(of: [1, 2, keys])
    reads = random.any(of: [0, 0, 1, 4])
    if random.isOne(in: 4) { lengths = [10, 60, 100, 70_000] }
    let length = 1 + random.below(random.isOne(in: 4) ? 16 : 6)
    for _ in 0...random.below(4) {
      programs.append(
        (0...random.below(2)).map { _ in (0..<1 + random.below(length)).map { _ in random.any(of: kinds) } })
    }
    observes = random.isOne(in: 3)
    closes = !random.isOne(in: 4)
    turns.gap = random.any(of: [0, 1, 3, 10, 30, 100, 300, 1000])
    turns.counts_all = random.isOne(in: 4)
    if random.isOne(in: 2) { turns.hot = Int32(random.any(of: Self.places).kind) }
    for what in [STEP_KILL, STEP_STOP, STEP_FAIL, STEP_POWER] where random.isOne(in: 3) {
      for _ in 0...random.below(2) { add(what, &random) }
    }
    restarts = faults.isEmpty ? 0 : random.below(4)
    if random.isOne(in: 4) {
      for _ in 0...random.below(3) {
        let (kind, most) = random.any(of: Self.interrupted)
        let left = UInt32(1 + random.below(most))
        faults.append(fault(what: Int32(STEP_FAIL), kind: Int32(kind), left: left, error: EINTR, pause: 0))
      }
    }
  }

  private mutating func add(_ what: Int, _ random: inout SeededRandom) {
    let (kind, most) = random.any(of: what == STEP_FAIL ? Array(Self.places[1...6]) : Self.places)
    var fault = fault()
    fault.what = Int32(what)
    fault.kind = Int32(kind)
    fault.left = UInt32(1 + random.below(most))
    let errors = [STEP_SYNC, STEP_SYNC_FOLDER].contains(kind) ? [EIO] : [EIO, ENOSPC]
    fault.error = kind == STEP_WRITE && random.isOne(in: 3) ? 0 : random.any(of: errors)
    fault.pause = random.any(of: [1, 10, 100, 100, 1000, 6000]) * 1_000_000
    faults.append(fault)
  }
}
