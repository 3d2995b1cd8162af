// What an observer is told, and how two notices become one.

/// One or more whole transactions as an observer sees them: the changes in its scope, all of them at once.
///
/// A transaction of this process is a notice of its own, unless the observer is far behind; those of other processes
/// may come merged. The C twin is `kept_notice`.
public struct Notice: Sendable, Hashable {
  /// The transactions that it tells of; they lead up to the upper bound.
  public var revisions: ClosedRange<Revision>
  /// Who made the changes.
  public var origin: Origin
  /// What the writers of all these transactions call themselves; nil where they do not agree.
  public var tag: String?
  /// Whether changes in between may have been missed: the store no longer knows what happened, and was read again.
  ///
  /// The values are those of the last revision all the same.
  public var mayHaveMissed: Bool
  /// In the order of the keys' bytes.
  ///
  /// `old` is what this subscription last reported for the key, or what it read when it was made. An initial notice
  /// has the present values, with no old ones.
  public var changes: [Change]

  public init(
    revisions: ClosedRange<Revision>, origin: Origin, tag: String? = nil, mayHaveMissed: Bool = false,
    changes: [Change]
  ) {
    self.revisions = revisions
    self.origin = origin
    self.tag = tag
    self.mayHaveMissed = mayHaveMissed
    self.changes = changes
  }

  /// The revision that the changes lead up to.
  public var revision: Revision { revisions.upperBound }

  public enum Origin: Sendable, Hashable {
    /// This handle.
    case store
    /// Another handle in this process.
    case process
    /// Another process.
    case otherProcess
    /// Nobody now: these are the values at the time of subscribing.
    case initial
    /// Several of the others: the observer was too slow to hear of each.
    case several
  }

  /// Makes one of several that follow each other; a key that is again as it was before them has not changed.
  ///
  /// - Parameter notices: at least one.
  init(merging notices: [Notice]) {
    self = notices[0]
    var merged: [KeyName: Change] = [:]
    for notice in notices {
      for change in notice.changes {
        let old = merged[change.key].map(\.old) ?? change.old
        merged[change.key] = old == change.new ? nil : Change(key: change.key, old: old, new: change.new)
      }
      revisions = revisions.lowerBound...max(revisions.upperBound, notice.revisions.upperBound)
      if origin != notice.origin { origin = .several }
      if tag != notice.tag { tag = nil }
      mayHaveMissed = mayHaveMissed || notice.mayHaveMissed
    }
    changes = Array(merged.values).inOrder(of: \.key.exact)
  }
}
