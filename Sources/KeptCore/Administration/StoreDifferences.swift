// What differs between two contents.

public import KeptSchema
public import KeptValues

/// What changes on the way from some contents to others, in the order of the keys.
///
/// In C: `kept_differences_json`. In Python: `kept.differences(old, new)`.
public struct StoreDifferences: Sendable {
  /// A key whose value differs.
  public struct Difference: Sendable {
    public let key: KeyName
    public let old: PastValue
    public let new: PastValue
    /// Whether the key is secret on either side.
    public let isSecret: Bool
  }

  /// A key whose declaration differs; nil where it has none.
  public struct DeclarationDifference: Sendable {
    public let key: KeyName
    public let old: Declaration?
    public let new: Declaration?

    /// What changes on the way from old declarations to new ones, in the order of the keys.
    public static func all(
      from old: [KeyName: Declaration], to new: [KeyName: Declaration], of isCompared: (KeyName) -> Bool = { _ in true }
    ) -> [Self] {
      Set(old.keys).union(new.keys).filter { old[$0] != new[$0] && isCompared($0) }.sorted()
        .map { DeclarationDifference(key: $0, old: old[$0], new: new[$0]) }
    }
  }

  /// A key that may or may not differ.
  public struct Unknown: Sendable {
    public let key: KeyName
    /// Why its value is not known, as half a sentence.
    public let reason: String
    /// Whether the key is secret on either side.
    public let isSecret: Bool
  }

  public let values: [Difference]
  public let declarations: [DeclarationDifference]
  public let unknown: [Unknown]
  /// Whether the declarations were compared; false if an export has none.
  public let comparesDeclarations: Bool
}

extension StoreContents {
  /// What changes on the way from these contents to others.
  ///
  /// Only keys that begin with the prefix of both are compared: an export or a snapshot of a part says nothing about
  /// other keys.
  public func differences(to others: StoreContents) -> StoreDifferences {
    var values: [StoreDifferences.Difference] = []
    var unknown: [StoreDifferences.Unknown] = []
    func isCompared(_ key: KeyName) -> Bool { key.exact.hasPrefix(prefix) && key.exact.hasPrefix(others.prefix) }
    for key in keys.union(others.keys).sorted() where isCompared(key) {
      let (old, new) = (self[key], others[key])
      let isSecret =
        [old, new].contains(.secret) || [self, others].contains { $0.declarations[key]?.isSecret == true }
      switch old.differs(from: new) {
      case true?:
        values.append(StoreDifferences.Difference(key: key, old: old, new: new, isSecret: isSecret))
      case nil:
        let reason = reason(at: key) ?? others.reason(at: key) ?? ""
        unknown.append(StoreDifferences.Unknown(key: key, reason: reason, isSecret: isSecret))
      case false?: break
      }
    }
    let isKnown = hasDeclarations && others.hasDeclarations
    return StoreDifferences(
      values: values,
      declarations: isKnown
        ? StoreDifferences.DeclarationDifference.all(from: declarations, to: others.declarations, of: isCompared) : [],
      unknown: unknown, comparesDeclarations: isKnown || declarations.isEmpty && others.declarations.isEmpty)
  }
}

extension PastValue {
  /// Whether two keys had different values; nil if that is not known.
  fileprivate func differs(from other: PastValue) -> Bool? {
    switch (self, other) {
    case (.unknown, _), (_, .unknown): nil
    case (.value(let value), .value(let other)): value != other
    case (.absent, .absent): false
    case (.absent, _), (_, .absent): true
    case (.notKept, .value(let value)), (.value(let value), .notKept): value.isKeptByHistory ? true : nil
    default: nil
    }
  }
}

extension Value {
  /// Whether the history certainly keeps a value: it keeps every one up to this length, and as JSON none is shorter
  /// than stored.
  public var isKeptByHistory: Bool { json.utf8.count <= 65_536 }
}

extension StoreDifferences {
  /// The differences as an object, as `kept_differences_json` returns it.
  ///
  /// - Parameter includesSecrets: whether the values and the declarations of secrets are included.
  public func json(includesSecrets: Bool = false) throws(StoreError) -> String {
    try asValue(includesSecrets: includesSecrets).json
  }

  package func asValue(includesSecrets: Bool) throws(StoreError) -> Value {
    var declared: [Value] = []
    for difference in declarations {
      let isCovered = !includesSecrets && [difference.old, difference.new].contains { $0?.isSecret == true }
      var members: [(ExactString, Value)] = [("key", .string(difference.key.text))]
      if isCovered { members.append(("secret", true)) }
      for (name, declaration) in [("old", difference.old), ("new", difference.new)] as [(ExactString, Declaration?)] {
        if let declaration, !isCovered { members.append((name, try Value(json: declaration.json))) }
      }
      declared.append(.dictionary(ValueDictionary(members)))
    }
    return [
      "values": .array(values.map { $0.asValue(includesSecrets) }), "declarations": .array(declared),
      "unknown": .array(unknown.map(\.asValue)),
      "comparesDeclarations": .bool(comparesDeclarations),
    ]
  }
}

extension StoreDifferences.Unknown {
  fileprivate var asValue: Value {
    let members: [(ExactString, Value)] = [("key", .string(key.text)), ("reason", .string(reason))]
    return .dictionary(ValueDictionary(members + (isSecret ? [("secret", true)] : [])))
  }
}

extension StoreDifferences.Difference {
  /// Like a change of the history: `notKept` names the sides whose value is left out.
  fileprivate func asValue(_ includesSecrets: Bool) -> Value {
    var members: [(ExactString, Value)] = [("key", .string(key.text))]
    var notKept: [Value] = []
    if isSecret { members.append(("secret", true)) }
    for (name, side) in [("old", old), ("new", new)] as [(String, PastValue)] where side != .absent {
      if case .value(let value) = side, includesSecrets || !isSecret {
        members.append((ExactString(name), value))
      } else {
        notKept.append(.string(name))
      }
    }
    if !notKept.isEmpty { members.append(("notKept", .array(notKept))) }
    return .dictionary(ValueDictionary(members))
  }
}
