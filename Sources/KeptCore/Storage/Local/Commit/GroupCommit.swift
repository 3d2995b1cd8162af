// Writers of one process that arrive while a commit runs go together into the next one, each with its own result, and
// each waits for other processes only as long as its own time-out says.

import CPlatform

/// Lets one writer at a time lead: it commits for everyone who has come by then.
final class GroupCommit: Sendable {
  /// One writer's batch, on its way.
  ///
  /// Its result is set once, under the monitor, by the leader that took it.
  private final class Request: @unchecked Sendable {
    let batch: Batch
    /// Until when it waits for other writers: the time that it waits for a leader counts.
    let deadline: Int64
    var result: Result<Commit, StoreError>?

    @_optimize(speed)
    init(_ batch: Batch, deadline: Int64) {
      self.batch = batch
      self.deadline = deadline
    }
  }

  // Invariant: a request is in `waiting` until a leader takes it; while `isLed` a leader is at work with those it took,
  // and gives each a result, or puts it back, before it resigns.
  private struct State {
    var waiting: [Request] = []
    var isLed = false
    // How many writers there seem to be: those of the last group, and those who came while it was committed.
    var expected = 1

    @_optimize(speed)
    mutating func turn(of own: Request) -> Turn? {
      if let result = own.result { return .done(result) }
      guard !isLed else { return nil }
      isLed = true
      return .lead(expecting: expected)
    }

    @_optimize(speed)
    mutating func takeGroup() -> [Request] {
      let group = Array(waiting.prefix(GroupCommit.largestGroup))
      waiting.removeFirst(group.count)
      return group
    }

    /// The store was busy for as long as the most impatient of a group could wait: the others are led again.
    @_optimize(speed)
    mutating func give(_ results: [Result<Commit, StoreError>], to group: [Request]) {
      let now = Moment.milliseconds
      var patient: [Request] = []
      for (request, result) in zip(group, results) {
        if case .failure(let error) = result, error.code == .busy, now < request.deadline {
          patient.append(request)
        } else {
          request.result = result
        }
      }
      waiting.insert(contentsOf: patient, at: 0)
      expected = group.count + waiting.count - patient.count
      isLed = false
    }
  }
  private enum Turn {
    case done(Result<Commit, StoreError>)
    case lead(expecting: Int)
  }
  private let state = Monitor(State())
  private let timeoutMilliseconds: Int
  private let run: @Sendable (_ group: [Batch], _ milliseconds: Int) -> [Result<Commit, StoreError>]

  /// So many batches go into one transaction at most: a writer must not wait for ever-growing groups.
  private static let largestGroup = 256

  /// - Parameters:
  ///   - timeoutMilliseconds: how long a writer waits for those of other processes.
  ///   - run: commits a group; throws `busy` if the store is not free within so many milliseconds.
  @_optimize(speed)
  init(
    timeoutMilliseconds: Int,
    _ run: @escaping @Sendable (_ group: [Batch], _ milliseconds: Int) -> [Result<Commit, StoreError>]
  ) {
    self.timeoutMilliseconds = timeoutMilliseconds
    self.run = run
  }

  @_optimize(speed)
  func commit(_ batch: Batch) throws(StoreError) -> Commit {
    let own = Request(batch, deadline: Moment.milliseconds + Int64(timeoutMilliseconds))
    state.updateQuietly { $0.waiting.append(own) }
    while true {
      // Whoever finds nobody leading, and itself without a result, leads. A leader of a crowd may lead others first.
      switch state.wait(until: { $0.turn(of: own) }) {
      case .done(let result): return try result.get()
      case .lead(let expected):
        if expected > 1 { letOthersCome(expected) }
        lead()
      }
    }
  }

  /// In the child of a fork: the leader and those who waited have vanished; their batches are the parent's.
  @_optimize(speed)
  func afterForkInChild() { state.update { $0 = State() } }

  @_optimize(speed)
  private func lead() {
    let group = state.updateQuietly { $0.takeGroup() }
    let earliest = group.map(\.deadline).min() ?? 0
    let results = run(group.map(\.batch), Int(max(0, earliest - Moment.milliseconds)))
    state.update { $0.give(results, to: group) }
  }

  /// Gives way to the writers of the last group, who are awake and about to come again: with fewer processors than
  /// writers each commit would else have one batch.
  ///
  /// It costs a few switches, and ends as soon as nobody comes any more.
  @_optimize(speed)
  private func letOthersCome(_ expected: Int) {
    var seen = 0
    for _ in 0..<expected {
      let waiting = state.read { $0.waiting.count }
      if waiting >= expected || waiting == seen { return }
      seen = waiting
      sched_yield()
    }
  }
}
