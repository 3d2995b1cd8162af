// What all handles on one location share in this process: the storage, the order of its commits, and who is told.

import Synchronization

/// One open location of this process.
///
/// Handles (``Store``) come and go; the last one closes it.
final class SharedStore: Sendable {
  let storage: any Storage
  // Commits and subscriptions take turns here, so that every subscriber is told of commits in their order, and a new
  // one of all that come after the values it was given. Callbacks run elsewhere, never under this lock.
  private let subscribers = Mutex<[ObjectIdentifier: DeliveryQueue]>([:])

  init(_ storage: any Storage) { self.storage = storage }

  /// Commits and tells every handle that has subscriptions.
  func commit(_ batch: Batch, by writer: Store) throws(StoreError) -> Commit {
    try subscribers.withLock { queues throws(StoreError) in
      let commit = try storage.commit(batch)
      guard !commit.changes.isEmpty else { return commit }
      for (handle, queue) in queues {
        let origin: Notice.Origin = handle == ObjectIdentifier(writer) ? .store : .process
        queue.append(Notice(revision: commit.revision, origin: origin, changes: commit.changes))
      }
      return commit
    }
  }

  /// Reads the present values and lets `queue` hear of every later commit, with no commit of this process in between.
  func subscribe<Present: Sendable>(
    _ handle: Store, _ queue: DeliveryQueue, reading: () throws(StoreError) -> Present
  ) throws(StoreError) -> Present {
    try subscribers.withLock { queues throws(StoreError) in
      let present = try reading()
      queues[ObjectIdentifier(handle)] = queue
      return present
    }
  }

  /// Ends what a handle hears.
  func unsubscribe(_ handle: ObjectIdentifier) {
    subscribers.withLock { $0[handle] = nil }
  }
}
