// Commit observers: they learn of each commit while it becomes visible, and of the commits of other processes before
// it. This makes it possible to deliver commits of this process separately from others, and in order.

package import KeptValues

/// Observes the commits of a storage.
package protocol CommitObserver: AnyObject, Sendable {
  /// Makes commits visible by calling `makeVisible` once, while no other thread publishes.
  ///
  /// - Parameter makeVisible: receives the revision up to which observers have been delivered changes; nil if there are
  ///   no observers. It returns the later commits of other processes, and the commits that it has made visible.
  func publish<Failure: Error>(
    _ makeVisible: (_ delivered: Revision?) throws(Failure) -> Publication
  ) throws(Failure)

  /// Whether there are observers.
  var isObserved: Bool { get }
}

/// The commits that a group commit has made visible.
package struct Publication {
  /// The commits of other processes before; nil if there are none or no observers.
  package var preceding: ChangesAfter?
  /// The commits, ordered by revision.
  package var commits: [(Commit, by: Author)]

  package init(preceding: ChangesAfter? = nil, commits: [(Commit, by: Author)]) {
    self.preceding = preceding
    self.commits = commits
  }
}

/// A storage that reports its commits to a commit observer while they become visible.
package protocol ObservableStorage: Storage {
  /// Called once, before the first commit.
  func report(to commitObserver: any CommitObserver)
}
