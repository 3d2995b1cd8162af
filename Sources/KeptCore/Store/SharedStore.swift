// What all handles on one location share in this process: the storage, the order of its commits, and who is told.

/// One open location of this process.
///
/// Handles (``Store``) come and go; the last one closes it.
final class SharedStore: Sendable {
  let storage: any Storage
  /// The storage, if it is the one that can be read from memory.
  ///
  /// It lives as long as `storage`: counting a reference for each read would cost half of the read, and make threads
  /// wait for each other.
  let local: Unmanaged<LocalStorage>?

  // Invariant: while somebody is subscribed, commits run one at a time, each followed by its notice, so that notices
  // are in the order of the commits. While nobody is, commits run freely, and may go together; a new subscription waits
  // for those that run, so that it hears of every commit after the values it was given.
  private struct State {
    var queues: [ObjectIdentifier: DeliveryQueue] = [:]
    var freeCommits = 0
    var isOrdered = false
  }
  private let state = Monitor(State())

  init(_ storage: any Storage) {
    self.storage = storage
    local = (storage as? LocalStorage).map(Unmanaged.passUnretained)
    Fork.join(self)
  }

  deinit { Fork.leave(self) }

  /// Commits and tells every handle that has subscriptions.
  func commit(_ batch: Batch, by writer: Store) throws(StoreError) -> Commit {
    let isFree: Bool = state.wait { state in
      if state.isOrdered { return nil }
      if state.queues.isEmpty { state.freeCommits += 1 } else { state.isOrdered = true }
      return !state.isOrdered
    }
    defer { state.update { if isFree { $0.freeCommits -= 1 } else { $0.isOrdered = false } } }
    let commit = try storage.commit(batch)
    if !isFree { announce(commit, by: writer) }
    return commit
  }

  /// Reads the present values and lets `queue` hear of every later commit, with no commit of this process in between.
  func subscribe<Present: Sendable>(
    _ handle: Store, _ queue: DeliveryQueue, reading: () throws(StoreError) -> Present
  ) throws(StoreError) -> Present {
    let _: Void = state.wait { state in
      guard !state.isOrdered else { return nil }
      state.isOrdered = true
      return ()
    }
    defer { state.update { $0.isOrdered = false } }
    let _: Void = state.wait { $0.freeCommits == 0 ? () : nil }
    let present = try reading()
    state.update { $0.queues[ObjectIdentifier(handle)] = queue }
    return present
  }

  /// Ends what a handle hears.
  func unsubscribe(_ handle: ObjectIdentifier) {
    state.update { $0.queues[handle] = nil }
  }

  private func announce(_ commit: Commit, by writer: Store) {
    guard !commit.changes.isEmpty else { return }
    for (handle, queue) in state.read({ $0.queues }) {
      let origin: Notice.Origin = handle == ObjectIdentifier(writer) ? .store : .process
      queue.append(Notice(revision: commit.revision, origin: origin, changes: commit.changes))
    }
  }
}

extension SharedStore: ForkAware {
  func beforeFork() {}

  /// Commits that were under way are the parent's, and so is everyone who heard of them.
  func afterForkInChild() { state.update { $0 = State() } }
}
