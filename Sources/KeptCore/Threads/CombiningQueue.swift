// Threads that want the same kind of work done at once: whoever comes while a round is at work is served by the next,
// and the first of those runs it for all.

import CPlatform

/// Work that is cheaper done for many than for each: one round at a time, each for everyone who has come by then.
///
/// Nobody wakes for the end of another round than its own, and who wakes finds its outcome without a lock.
final class CombiningQueue<Request: Sendable, Outcome: Sendable>: @unchecked Sendable {
  // The compiler cannot see it: the words that `ended` points to are only touched atomically.

  /// Those who are served together.
  ///
  /// Invariant: `requests` is touched with the monitor locked until the round is closed, and only by its leader
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

  // Invariant: `open` takes whoever comes; its first one leads it. While `isAtWork` the leader of the round before is.
  private struct State {
    var open: Round?
    var begun: UInt32 = 0
    var isAtWork = false
    /// How many there seem to be: those of the last round, and those who came meanwhile.
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
  // The numbers of the last odd and the last even round that have ended: futex words. At most two rounds have anybody
  // who waits, the one at work and the open one.
  private let ended: UnsafeMutablePointer<UInt32>
  private let run: @Sendable (_ requests: [Request]) -> [Outcome]

  /// - Parameter run: does the work of a round; one outcome for each request, in their order.
  init(_ run: @escaping @Sendable (_ requests: [Request]) -> [Outcome]) {
    self.run = run
    ended = .allocate(capacity: 2)
    ended.initialize(repeating: 0, count: 2)
  }

  deinit { ended.deallocate() }

  /// Returns when a round that began after the call has done it.
  func serve(_ request: Request) -> Outcome {
    let (round, place) = state.updateQuietly { $0.join(request) }
    if place == 0 { lead(round) } else { awaitEnd(of: round) }
    return round.outcomes[place]
  }

  /// How many have come for a round that has not begun.
  var waiting: Int { state.read { $0.open?.requests.count ?? 0 } }

  /// In the child of a fork: the leader and those who waited have vanished; what they wanted is the parent's.
  func afterForkInChild() {
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
    // Nobody else can be among one.
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

  /// Gives way to those of the last round, who are awake and about to come again: with fewer processors than threads
  /// each round would else serve one.
  ///
  /// It costs a few switches, and ends as soon as nobody comes any more.
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
