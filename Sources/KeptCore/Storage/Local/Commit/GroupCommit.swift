// Writers of one process that arrive while a commit runs go together into the next one. Each gets its own result, and
// each waits for other processes no longer than its own timeout.

import CPlatform
import KeptSystem
import KeptValues

/// Lets one writer at a time commit for all writers that are waiting by then.
final class GroupCommit: Sendable {
  private struct Request: Sendable {
    let batch: Batch
    /// The end of its timeout, which includes the time that it waits in the queue.
    let deadline: Int64
  }
  // The longest wait of one round: writers that arrive during it may have shorter timeouts, and a fork waits for the
  // round. With a shorter bound, connections that are merely slow on a busy machine would repeatedly look stuck.
  private static let mostMilliseconds: Int64 = 1000

  private let timeoutMilliseconds: Int
  private let queue: CombiningQueue<Request, Result<Commit, StoreError>>

  /// Creates the queue of one store.
  ///
  /// - Parameters:
  ///   - timeoutMilliseconds: the default time for which a writer waits for writers of other processes.
  ///   - run: commits a group; throws `busy` if the store is not free within `milliseconds`.
  init(
    timeoutMilliseconds: Int,
    _ run: @escaping @Sendable (_ group: [Batch], _ milliseconds: Int) -> [Result<Commit, StoreError>]
  ) {
    self.timeoutMilliseconds = timeoutMilliseconds
    queue = CombiningQueue { group in
      let earliest = group.lazy.map(\.deadline).min() ?? 0
      let patience = min(earliest - MonotonicTime.milliseconds, Self.mostMilliseconds)
      return run(group.map(\.batch), Int(max(0, patience)))
    }
  }

  func commit(_ batch: Batch) throws(StoreError) -> Commit {
    let patience = batch.patience ?? timeoutMilliseconds
    let request = Request(batch: batch, deadline: MonotonicTime.milliseconds + Int64(patience))
    while true {
      let result = queue.serve(request)
      // The store was busy during the whole round: a writer with time left tries again.
      if case .failure(let error) = result, error.code == .busy, MonotonicTime.milliseconds < request.deadline {
        continue
      }
      return try result.get()
    }
  }

  func afterForkInChild() { queue.afterForkInChild() }
}
