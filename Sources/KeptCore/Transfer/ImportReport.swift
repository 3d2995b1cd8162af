// The changes of an import, made or planned.

import KeptSystem
public import KeptValues

/// The result of an import, or of a dry run.
public struct ImportReport: Sendable {
  /// The store's revision afterwards; for a dry run, the revision that the text was compared with.
  public internal(set) var revision: Revision = 0
  /// The keys whose value changed, in byte order.
  public internal(set) var changed: [Change] = []
  /// The removed keys, in byte order.
  public internal(set) var removed: [String] = []
  /// The keys whose declaration changed or was removed, in byte order.
  public internal(set) var declared: [String] = []
  /// The number of keys that had the value already.
  public internal(set) var unchanged = 0
  /// The keys that cannot be stored; empty except for a dry run.
  public internal(set) var refused: [Refusal] = []
  /// The parts of the text that Kept cannot represent.
  ///
  /// A reader of another format adds its own.
  public var notCarried: [NotCarried] = []

  /// A key whose value changed.
  public struct Change: Sendable {
    public let key: String
    /// nil if there was no readable value, or if it is a secret.
    public let old: Value?
    /// nil if it is a secret.
    public let new: Value?
    public let isSecret: Bool
  }

  /// A key that cannot be stored.
  public struct Refusal: Sendable {
    public let key: String
    public let reason: String
  }
}

/// Something in an imported text that was not imported, or was changed by the import.
public struct NotCarried: Hashable, Sendable {
  /// Its position: "line 3", or its name in the text.
  public let place: String
  public let reason: String

  public init(place: String, reason: String) {
    self.place = place
    self.reason = reason
  }
}

extension ImportReport {
  /// The report as an object.
  ///
  /// Its members are `revision`, `changed` with `key`, `old`, `new` and `secret` each, `removed`, `declared`,
  /// `unchanged`, `refused` with `key` and `reason`, and `notCarried` with `place` and `reason`. Members that are nil
  /// are omitted, and so is `secret` if it is false.
  public var json: String { asValue.json }

  /// The same as text that C frees with free().
  ///
  /// Throws `failed` where there is no memory for it.
  package func newCText() throws(StoreError) -> UnsafeMutablePointer<CChar> {
    let count = changed.count + removed.count + declared.count + refused.count + notCarried.count
    try Allowance.ask(forEntries: 2 * count, to: "report the import")
    return try asValue.newCText()
  }

  private var asValue: Value {
    .dictionary([
      "revision": .int(Int64(clamping: revision)),
      "changed": .array(changed.map(\.asValue)),
      "removed": .array(removed.map { .string($0) }),
      "declared": .array(declared.map { .string($0) }),
      "unchanged": .int(Int64(unchanged)),
      "refused": .array(refused.map { ["key": .string($0.key), "reason": .string($0.reason)] }),
      "notCarried": .array(notCarried.map { ["place": .string($0.place), "reason": .string($0.reason)] }),
    ])
  }
}

extension ImportReport.Change {
  fileprivate var asValue: Value {
    var members: [(ExactString, Value)] = [("key", .string(key))]
    if let new { members.append(("new", new)) }
    if let old { members.append(("old", old)) }
    if isSecret { members.append(("secret", true)) }
    return .dictionary(ValueDictionary(members))
  }
}
