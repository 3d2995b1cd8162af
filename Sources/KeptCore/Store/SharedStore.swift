// The parts that all handles on one location share in this process: the storage, and the delivery of its changes to
// observers.

import KeptValues

/// One open location of this process.
///
/// Handles (``Store``) share it; closing the last one closes it.
final class SharedStore: Sendable {
  let storage: any Storage
  let feed: ChangeFeed
  let watcher: Watcher
  let attachments = Attachments()
  private let isWitnessed: Bool

  init(_ storage: any Storage) {
    self.storage = storage
    feed = ChangeFeed(storage)
    watcher = Watcher(feed, storage)
    let witnessed = storage as? any ObservableStorage
    isWitnessed = witnessed != nil
    witnessed?.report(to: feed)
    secrets?.whenUnlocked { [weak feed, weak watcher] in
      feed?.readAgain()
      watcher?.fetchMail()
    }
  }

  /// Commits a batch, and delivers it to the observers of every handle.
  func commit(_ batch: Batch) throws(StoreError) -> Commit {
    let commit = if isWitnessed { try storage.commit(batch) } else { try commitAndPublish(batch) }
    if !commit.isEmpty {
      feed.notifyDeliveries()
      watcher.nudge()
    }
    return commit
  }

  /// Notifies a handle's observers that its layers have changed.
  func layersChanged(_ layerStack: LayerStack) {
    feed.layersChanged(layerStack)
    watcher.fetchMail()
  }

  /// Commits to a storage without a commit observer: nothing else is delivered while it commits.
  private func commitAndPublish(_ batch: Batch) throws(StoreError) -> Commit {
    var commit: Commit?
    try feed.publish { delivered throws(StoreError) in
      let preceding = try delivered.map { delivered throws(StoreError) in try storage.changes(after: delivered) }
      let made = try storage.commit(batch)
      commit = made
      return Publication(preceding: preceding, commits: [(made, by: batch.author)])
    }
    guard let commit else { throw StoreError(.failed, "the storage did not commit; try again") }
    return commit
  }
}
