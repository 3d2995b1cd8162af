// Writers of one process that arrive while a commit runs go together into the next one, each with its own result.

/// Lets one writer at a time lead: it commits for everyone who has come by then.
final class GroupCommit: Sendable {
  /// One writer's batch, on its way.
  ///
  /// Its result is set once, under the monitor, by the leader that took it.
  private final class Request: @unchecked Sendable {
    let batch: Batch
    var result: Result<Commit, StoreError>?
    init(_ batch: Batch) { self.batch = batch }
  }

  // Invariant: a request is in `waiting` until a leader takes it; while `isLed` a leader is at work with those it took,
  // and gives each a result before it resigns.
  private struct State {
    var waiting: [Request] = []
    var isLed = false

    mutating func turn(of own: Request, atMost limit: Int) -> Turn? {
      if let result = own.result { return .done(result) }
      guard !isLed else { return nil }
      isLed = true
      defer { waiting.removeFirst(min(limit, waiting.count)) }
      return .lead(Array(waiting.prefix(limit)))
    }
  }
  private enum Turn {
    case done(Result<Commit, StoreError>)
    case lead([Request])
  }
  private let state = Monitor(State())
  private let run: @Sendable ([Batch]) -> [Result<Commit, StoreError>]

  /// So many batches go into one transaction at most: a writer must not wait for ever-growing groups.
  private static let largestGroup = 256

  init(_ run: @escaping @Sendable ([Batch]) -> [Result<Commit, StoreError>]) { self.run = run }

  func commit(_ batch: Batch) throws(StoreError) -> Commit {
    let own = Request(batch)
    state.update { $0.waiting.append(own) }
    while true {
      // Whoever finds nobody leading, and itself without a result, leads. A leader of a crowd may lead others first.
      switch state.wait(until: { $0.turn(of: own, atMost: Self.largestGroup) }) {
      case .done(let result): return try result.get()
      case .lead(let group): lead(group)
      }
    }
  }

  private func lead(_ group: [Request]) {
    let results = run(group.map(\.batch))
    state.update { state in
      for (request, result) in zip(group, results) { request.result = result }
      state.isLed = false
    }
  }
}
