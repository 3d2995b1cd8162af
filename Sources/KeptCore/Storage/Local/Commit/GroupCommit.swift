// Writers of one process that arrive while a commit runs go together into the next one, each with its own result, and
// each waits for other processes only as long as its own time-out says.

import CPlatform

/// Lets one writer at a time commit for everyone who has come by then.
final class GroupCommit: Sendable {
  private struct Request: Sendable {
    let batch: Batch
    /// Until when it waits for other writers: the time that it waits for its round counts.
    let deadline: Int64
  }
  private let timeoutMilliseconds: Int
  private let rounds: Rounds<Request, Result<Commit, StoreError>>

  /// - Parameters:
  ///   - timeoutMilliseconds: how long a writer waits for those of other processes.
  ///   - run: commits a group; throws `busy` if the store is not free within so many milliseconds.
  @_optimize(speed)
  init(
    timeoutMilliseconds: Int,
    _ run: @escaping @Sendable (_ group: [Batch], _ milliseconds: Int) -> [Result<Commit, StoreError>]
  ) {
    self.timeoutMilliseconds = timeoutMilliseconds
    rounds = Rounds { group in
      let earliest = group.map(\.deadline).min() ?? 0
      return run(group.map(\.batch), Int(max(0, earliest - Moment.milliseconds)))
    }
  }

  @_optimize(speed)
  func commit(_ batch: Batch) throws(StoreError) -> Commit {
    let request = Request(batch: batch, deadline: Moment.milliseconds + Int64(timeoutMilliseconds))
    while true {
      let result = rounds.serve(request)
      // The store was busy for as long as the most impatient of a group could wait: the others try again.
      if case .failure(let error) = result, error.code == .busy, Moment.milliseconds < request.deadline { continue }
      return try result.get()
    }
  }

  func afterForkInChild() { rounds.afterForkInChild() }
}
