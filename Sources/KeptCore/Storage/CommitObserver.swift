// Who must know of each commit at the very moment it becomes visible, and of what others committed before it: only so
// can commits of this process be delivered apart from those of others, and be delivered in order.

/// Hears of the commits of a storage.
package protocol CommitObserver: AnyObject, Sendable {
  /// Makes commits visible, by calling `makeVisible` once, while no other thread publishes.
  ///
  /// - Parameter makeVisible: receives the revision up to which those who listen were delivered, nil if nobody
  /// listens. It gives
  ///   what others have committed after that, and what it has made visible itself.
  func publish<Failure: Error>(
    _ makeVisible: (_ delivered: Revision?) throws(Failure) -> Publication
  ) throws(Failure)
}

/// What a group of commits has made visible.
package struct Publication {
  /// What others committed before; nil: nothing, or nobody listens.
  package var preceding: ChangesAfter?
  /// The commits, in the order of their revisions.
  package var commits: [(Commit, by: Author)]

  package init(preceding: ChangesAfter? = nil, commits: [(Commit, by: Author)]) {
    self.preceding = preceding
    self.commits = commits
  }
}

/// A storage that lets a commitObserver know of its commits while they become visible.
package protocol ObservableStorage: Storage {
  /// Called once, before the first commit.
  func report(to commitObserver: any CommitObserver)
}
