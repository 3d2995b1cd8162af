// A combining queue: concurrent requests for the same kind of work are done in one round. Requests that arrive during a
// round are served by the next, and the first thread of that round runs it for all.

import CPlatform

/// Work that is cheaper for many requests together than for each: one combining round at a time, each for all requests
/// that have arrived by then.
///
/// A thread is woken only by the end of its own round, and then finds its outcome without a lock.
package final class CombiningQueue<Request: Sendable, Outcome: Sendable>: @unchecked Sendable {
  // The compiler cannot check it: the words that `ended` points to are only accessed atomically.

  /// The requests that are served together.
  ///
  /// Invariant: `requests` is accessed with the monitor locked until the round is closed, and only by its leader
  /// afterwards; `outcomes` is written by the leader before the round ends, and only read afterwards.
  private final class Round: @unchecked Sendable {
    let number: UInt32
    var requests: [Request]
    var outcomes: [Outcome] = []

    init(_ number: UInt32, _ first: Request) {
      self.number = number
      requests = [first]
    }
  }

  // Invariant: `open` accepts new requests, and its first thread leads it. While `isAtWork`, the leader of the previous
  // round runs, or a request that found no other.
  private struct State {
    var open: Round?
    var begun: UInt32 = 0
    var isAtWork = false
    /// The expected number of requests: those of the last round, and those that arrived since.
    var expected = 1

    mutating func join(_ request: Request) -> (Round, place: Int) {
      if let open {
        open.requests.append(request)
        return (open, open.requests.count - 1)
      }
      begun &+= 1
      let round = Round(begun, request)
      open = round
      return (round, 0)
    }

    /// Begins without a round, if the request is the only one, as most are.
    mutating func beginAlone() -> Bool {
      guard !isAtWork, open == nil, expected <= 1 else { return false }
      isAtWork = true
      return true
    }

    mutating func endAlone() {
      isAtWork = false
      expected = 1 + (open?.requests.count ?? 0)
    }

    mutating func begin() -> Int? {
      guard !isAtWork else { return nil }
      isAtWork = true
      return expected
    }

    mutating func end(_ round: Round) {
      isAtWork = false
      expected = round.outcomes.count + (open?.requests.count ?? 0)
    }
  }
  private let state = Monitor(State())
  // Futex words: the numbers of the last odd and the last even round that have ended. At most two rounds have waiting
  // threads, the one at work and the open one.
  private let ended: UnsafeMutablePointer<UInt32>
  private let run: @Sendable (_ requests: [Request]) -> [Outcome]

  /// - Parameter run: does the work of a round; returns one outcome for each request, in order.
  package init(_ run: @escaping @Sendable (_ requests: [Request]) -> [Outcome]) {
    self.run = run
    ended = .allocate(capacity: 2)
    ended.initialize(repeating: 0, count: 2)
  }

  deinit { ended.deallocate() }

  /// Returns when a round that began after the call has served the request.
  package func serve(_ request: Request) -> Outcome {
    if state.updateQuietly({ $0.beginAlone() }) {
      let outcomes = run([request])
      state.update { $0.endAlone() }
      return outcomes[0]
    }
    let (round, place) = state.updateQuietly { $0.join(request) }
    if place == 0 { lead(round) } else { awaitEnd(of: round) }
    return round.outcomes[place]
  }

  /// The number of requests for a round that has not begun.
  package var waiting: Int { state.read { $0.open?.requests.count ?? 0 } }

  /// In the child of a fork, the leader and the waiting threads no longer exist; their requests belong to the parent.
  package func afterForkInChild() {
    state.update {
      let begun = $0.begun
      $0 = State()
      $0.begun = begun
    }
  }

  private func lead(_ round: Round) {
    let expected = state.wait { $0.begin() }
    if expected > 1 { letOthersCome(expected) }
    state.updateQuietly { $0.open = nil }
    round.outcomes = run(round.requests)
    // A round with one outcome has no waiting threads.
    if round.outcomes.count > 1 { end(round) }
    state.update { $0.end(round) }
  }

  private func end(_ round: Round) {
    kept_store32(word(of: round), round.number)
    kept_wake_all_here(word(of: round))
  }

  private func awaitEnd(of round: Round) {
    while true {
      let last = kept_load32(word(of: round))
      if Int32(bitPattern: last &- round.number) >= 0 { return }
      kept_sleep_here(word(of: round), last, 2000)
    }
  }

  private func word(of round: Round) -> UnsafeMutablePointer<UInt32> { ended + Int(round.number % 2) }

  /// Yields to the threads of the last round, which are awake and about to submit again.
  ///
  /// With fewer processors than threads, each round would otherwise serve one request.
  ///
  /// It costs a few context switches, and ends as soon as no more requests arrive.
  private func letOthersCome(_ expected: Int) {
    var seen = 0
    for _ in 0..<expected {
      let waiting = waiting
      if waiting >= expected || waiting == seen { return }
      seen = waiting
      sched_yield()
    }
  }
}
