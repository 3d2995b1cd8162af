// What an import has changed, or would change.

/// What an import has done; of a dry run, what it would do.
public struct ImportReport: Sendable {
  /// The store's revision after it; of a dry run, the one that it was compared with.
  public internal(set) var revision: Revision = 0
  /// The keys with another value than before, in the order of their bytes.
  public internal(set) var changed: [Change] = []
  /// The keys that were removed, in the order of their bytes.
  public internal(set) var removed: [String] = []
  /// The keys that are declared otherwise than before, or not any more, in the order of their bytes.
  public internal(set) var declared: [String] = []
  /// How many keys had the value already.
  public internal(set) var unchanged = 0
  /// The keys that cannot be stored; other than in a dry run there are none.
  public internal(set) var refused: [Refusal] = []
  /// What the text has and Kept has not.
  public internal(set) var notCarried: [NotCarried] = []

  /// A key with another value.
  public struct Change: Sendable {
    public let key: String
    /// nil: there was none that could be read, or it is a secret.
    public let old: Value?
    /// nil: it is a secret.
    public let new: Value?
    public let isSecret: Bool
  }

  /// A key that cannot be stored.
  public struct Refusal: Sendable {
    public let key: String
    public let reason: String
  }
}

extension ImportReport {
  /// The same as an object: `revision`, `changed` with `key`, `old`, `new` and `secret` each, `removed`, `declared`,
  /// `unchanged`, `refused` with `key` and `reason`, and `notCarried` with `place` and `reason`.
  ///
  /// What is nil is left out, and so is `secret` where it is false.
  public var json: String { asValue.json }

  /// The same as text that C frees with free().
  ///
  /// Throws `failed` where there is no memory for it.
  package func newCText() throws(StoreError) -> UnsafeMutablePointer<CChar> {
    let count = changed.count + removed.count + declared.count + refused.count + notCarried.count
    try Allowance.ask(forEntries: 2 * count, to: "report what was imported")
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
