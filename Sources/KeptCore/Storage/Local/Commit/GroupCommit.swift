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
  // A round waits no longer: those who have come meanwhile may have less patience, and a fork waits for it. A shorter
  // bound would make connections that are merely slow look stuck, on a busy machine again and again.
  private static let mostMilliseconds: Int64 = 1000

  private let timeoutMilliseconds: Int
  private let queue: CombiningQueue<Request, Result<Commit, StoreError>>

  /// - Parameters:
  ///   - timeoutMilliseconds: how long a writer that does not say waits for those of other processes.
  ///   - run: commits a group; throws `busy` if the store is not free within so many milliseconds.
  init(
    timeoutMilliseconds: Int,
    _ run: @escaping @Sendable (_ group: [Batch], _ milliseconds: Int) -> [Result<Commit, StoreError>]
  ) {
    self.timeoutMilliseconds = timeoutMilliseconds
    queue = CombiningQueue { group in
      let earliest = group.map(\.deadline).min() ?? 0
      let patience = min(earliest - MonotonicTime.milliseconds, Self.mostMilliseconds)
      return run(group.map(\.batch), Int(max(0, patience)))
    }
  }

  func commit(_ batch: Batch) throws(StoreError) -> Commit {
    let patience = batch.patience ?? timeoutMilliseconds
    let request = Request(batch: batch, deadline: MonotonicTime.milliseconds + Int64(patience))
    while true {
      let result = queue.serve(request)
      // The store was busy for as long as the round could wait: those who have time left try again.
      if case .failure(let error) = result, error.code == .busy, MonotonicTime.milliseconds < request.deadline {
        continue
      }
      return try result.get()
    }
  }

  func afterForkInChild() { queue.afterForkInChild() }
}
