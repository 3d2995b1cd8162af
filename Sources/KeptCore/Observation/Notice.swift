// The notices that an observer receives, and how two become one.

import KeptSystem
public import KeptValues

/// One or more whole transactions as an observer sees them: all changes in its scope together.
///
/// Each transaction of this process has its own notice, unless the observer is far behind. Transactions of other
/// processes may be merged. In C: `kept_notice`.
public struct Notice: Sendable, Hashable {
  /// The revisions of the transactions in this notice, up to and including the upper bound.
  public var revisions: ClosedRange<Revision>
  /// Who made the changes.
  public var origin: Origin
  /// The tag that the writers of all these transactions set; nil if they differ.
  public var tag: String?
  /// When the last of these transactions was committed, by the wall clock.
  ///
  /// Order notices by ``revision``, not by time: a clock may be set back. Where no such time is known, this is when the
  /// values were read or the change was noticed: for ``Origin/initial`` and ``Origin/layer``, if ``mayHaveMissed``, and
  /// in storages without a journal, such as ``MemoryStorage``. In C: `kept_notice_time`.
  public var time: Timestamp
  /// Whether intermediate changes may be missing because the store no longer has them and was read again.
  ///
  /// The values are still those of the last revision.
  public var mayHaveMissed: Bool
  /// The changes in the byte order of their keys.
  ///
  /// `old` is the value that this subscription last reported for the key, or the value it read when it was created. An
  /// initial notice has the present values, with no old ones. For a prefix, a notice with the origin ``Origin/layer``
  /// may have no changes: then keys were locked or unlocked, perhaps some that begin with it.
  public var changes: [Change]

  public init(
    revisions: ClosedRange<Revision>, origin: Origin, tag: String? = nil, time: Timestamp,
    mayHaveMissed: Bool = false, changes: [Change]
  ) {
    self.revisions = revisions
    self.origin = origin
    self.tag = tag
    self.time = time
    self.mayHaveMissed = mayHaveMissed
    self.changes = changes
  }

  /// The revision after these changes.
  public var revision: Revision { revisions.upperBound }

  public enum Origin: Sendable, Hashable {
    /// This handle.
    case store
    /// Another handle in this process.
    case process
    /// Another process.
    case otherProcess
    /// No writer: these are the values at the time of subscribing.
    case initial
    /// More than one of the others: the observer was too slow to receive each separately.
    case several
    /// A layer other than the store: a file of the administrator, or defaults registered by this program.
    case layer
  }

  /// Merges consecutive notices.
  ///
  /// A key that has its first value again counts as unchanged.
  ///
  /// - Parameter notices: at least one notice.
  init(merging notices: [Notice]) {
    self = notices[0]
    var merged: [KeyName: Change] = [:]
    for notice in notices {
      for change in notice.changes {
        var change = change
        if let first = merged[change.key] {
          (change.old, change.oldLayer) = (first.old, first.oldLayer)
          // One of the two values was written as a secret.
          change.isSecret = change.isSecret || first.isSecret
        }
        merged[change.key] = change.isNone ? nil : change
      }
      revisions = revisions.lowerBound...max(revisions.upperBound, notice.revisions.upperBound)
      if origin != notice.origin { origin = .several }
      if tag != notice.tag { tag = nil }
      // Not the largest: it belongs to the last revision.
      time = notice.time
      mayHaveMissed = mayHaveMissed || notice.mayHaveMissed
    }
    changes = Array(merged.values).inOrder(of: \.key.exact)
  }
}

/// The old and new value of one key, as an observer reads them.
public struct Change: Sendable, Hashable {
  public var key: KeyName
  /// nil: the key was absent.
  public var old: Value?
  /// nil: the key is absent.
  public var new: Value?
  /// The layer that the old value came from; nil for none.
  public var oldLayer: Layer?
  /// The layer that the new value comes from; nil for none.
  ///
  /// The layer may change while the value stays the same.
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
  /// Whether nothing changed.
  var isNone: Bool { old == new && oldLayer == newLayer }
}

extension Change: CustomStringConvertible {
  /// The key and both values, safe for a terminal and a log; for a secret, only whether each value exists.
  public var description: String {
    func shown(_ value: Value?) -> String { value.map { isSecret ? "(secret)" : $0.displayed } ?? "absent" }
    return "\"\(DisplayText.line(key.text))\": \(shown(old)) → \(shown(new))"
  }
}
