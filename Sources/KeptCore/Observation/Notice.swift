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
    /// A layer beside the store: a file of the administrator's, or defaults that this program has registered.
    case layer
  }

  /// Makes one of several that follow each other; a key that is again as it was before them has not changed.
  ///
  /// - Parameter notices: at least one.
  init(merging notices: [Notice]) {
    self = notices[0]
    var merged: [KeyName: Change] = [:]
    for notice in notices {
      for change in notice.changes {
        var change = change
        if let first = merged[change.key] {
          (change.old, change.oldLayer) = (first.old, first.oldLayer)
          // The one value or the other was written as a secret.
          change.isSecret = change.isSecret || first.isSecret
        }
        merged[change.key] = change.isNone ? nil : change
      }
      revisions = revisions.lowerBound...max(revisions.upperBound, notice.revisions.upperBound)
      if origin != notice.origin { origin = .several }
      if tag != notice.tag { tag = nil }
      mayHaveMissed = mayHaveMissed || notice.mayHaveMissed
    }
    changes = Array(merged.values).inOrder(of: \.key.exact)
  }
}

/// One key's old and new value, as an observer reads them.
public struct Change: Sendable, Hashable {
  public var key: KeyName
  /// nil: the key was absent.
  public var old: Value?
  /// nil: the key is absent.
  public var new: Value?
  /// Which layer the old value came from; nil for none.
  public var oldLayer: Layer?
  /// Which layer the new value comes from; nil for none.
  ///
  /// It may be another one while the value stays the same.
  public var newLayer: Layer?
  /// Whether the values must not be written to a log or a screen: the key is declared secret.
  public var isSecret = false

  public init(key: KeyName, old: Value?, new: Value?) {
    self.key = key
    self.old = old
    self.new = new
    oldLayer = old == nil ? nil : .user
    newLayer = new == nil ? nil : .user
  }
}

extension Change {
  /// Whether nothing has changed.
  var isNone: Bool { old == new && oldLayer == newLayer }
}

extension Change: CustomStringConvertible {
  /// The key and both values; of a secret only which of them there are.
  public var description: String {
    func shown(_ value: Value?) -> String { value.map { isSecret ? "(secret)" : $0.json } ?? "absent" }
    return "\"\(key.text)\": \(shown(old)) → \(shown(new))"
  }
}
