// The past of a store: the changes of keys, with their time, their author, and the values before and after.

public import KeptValues

/// The past changes of a store, or of some of its keys.
///
/// In C: the text of `kept_history_json`. In Python: `History`.
public struct History: Sendable, Equatable {
  /// The changes, newest first; those of one revision are in byte order of their keys.
  public var changes: [PastChange]
  /// The revision after which no change is missing.
  ///
  /// Earlier changes may be missing: they are older or more than the store keeps, or were made without a history.
  public var completeAfter: Revision
  /// The revisions whose values the history does not have.
  ///
  /// A change of several commits is known before the first of them and after the last. The ranges are in ascending
  /// order, and do not touch.
  public var missing: [ClosedRange<Revision>] = []
}

/// A past change of one key.
///
/// Commits that one program makes within about a second, and that change the same keys, are one change of each key,
/// from the value before the first to the value after the last.
public struct PastChange: Sendable, Equatable {
  public var key: KeyName
  /// The revision of the commit.
  public var revision: Revision
  /// When the commit was made, in whole milliseconds, by the clock of the machine, which may have been wrong.
  public var time: Timestamp
  public var old: PastValue
  public var new: PastValue
  /// The tag that the writer had set.
  public var tag: String?
  /// The revision of the first of the commits that are this change.
  let first: Revision
  /// Whether parts of these commits are other changes.
  let isTorn: Bool
  /// The sealed bytes of the old value, if it is a secret that was encrypted.
  let sealed: [UInt8]?
}

extension PastChange {
  /// Whether it has led to another value.
  var hasEffect: Bool {
    switch (old, new) {
    case (.absent, .absent): false
    case (.value(let old), .value(let new)): old != new
    default: true
    }
  }
}

extension History {
  /// The history as programs see it: changes without an effect only show which revisions are missing.
  var shown: History {
    var shown = History(changes: [], completeAfter: completeAfter)
    for change in changes.sorted(by: { $0.first < $1.first }) where change.first < change.revision {
      let last = change.revision - 1
      if let before = shown.missing.last, before.upperBound >= change.first - 1 {
        shown.missing[shown.missing.count - 1] = before.lowerBound...max(before.upperBound, last)
      } else {
        shown.missing.append(change.first...last)
      }
    }
    shown.changes = changes.filter(\.hasEffect)
    return shown
  }
}

/// The value of a key before or after a past change.
public enum PastValue: Sendable, Equatable {
  /// The key had no value.
  case absent
  case value(Value)
  /// The key was declared secret, or is now: its values are not kept, or only encrypted.
  case secret
  /// The value was too large to be kept.
  case notKept
  /// The key may have had a value or none: what it had was forgotten to make room for later changes, or is damaged.
  case unknown
}

extension History {
  /// The history as an object: `completeAfter`, `changes` with `key`, `revision`, `time`, `tag`, `old` and `new`, and
  /// `missing` if something is: pairs of the first and the last revision.
  ///
  /// `old` or `new` is omitted if there was no value. The member `secret` is true, and both are omitted, for a secret.
  /// `notKept` lists the names of the values that were not kept, and of the values of a secret.
  public var json: String { asValue.json }

  /// The same as text that C frees with free().
  ///
  /// Throws `failed` where there is no memory for it.
  package func newCText() throws(StoreError) -> UnsafeMutablePointer<CChar> {
    try Allowance.ask(forEntries: 8 * changes.count, to: "report the history")
    return try asValue.newCText()
  }

  private var asValue: Value {
    var members: [(ExactString, Value)] = [
      ("completeAfter", .int(Int64(clamping: completeAfter))), ("changes", .array(changes.map(\.asValue))),
    ]
    if !missing.isEmpty {
      let ranges = missing.map { [$0.lowerBound, $0.upperBound].map { Value.int(Int64(clamping: $0)) } }
      members.append(("missing", .array(ranges.map { .array($0) })))
    }
    return .dictionary(ValueDictionary(members))
  }
}

extension PastChange {
  /// The change as an object, see ``History/json``.
  public var json: String { asValue.json }

  fileprivate var asValue: Value {
    var members: [(ExactString, Value)] = [
      ("key", .string(key.text)), ("revision", .int(Int64(clamping: revision))), ("time", .string(time.description)),
    ]
    if let tag { members.append(("tag", .string(tag))) }
    let isSecret = old == .secret || new == .secret
    if isSecret { members.append(("secret", true)) }
    var notKept: [Value] = []
    for (name, past) in [("old", old), ("new", new)] where past != .absent {
      if !isSecret, case .value(let value) = past {
        members.append((ExactString(name), value))
      } else {
        notKept.append(.string(name))
      }
    }
    if !notKept.isEmpty { members.append(("notKept", .array(notKept))) }
    return .dictionary(ValueDictionary(members))
  }
}
