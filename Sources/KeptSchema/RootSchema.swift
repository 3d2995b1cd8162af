// The keywords that only a complete declaration has: default, summary, secret, since, replacedBy,
// renamedFrom.

package import KeptValues

/// A declaration that is being parsed.
package struct RootSchema {
  package let schema: Schema
  package let canonical: Value
  /// The text of ``canonical``.
  package let json: String
  package let type: DeclaredType
  package let defaultValue: Value?
  package let summary: String?
  /// The key to set instead of this one, which is deprecated.
  package let replacement: KeyName?
  /// The name that the key had before.
  package let formerName: KeyName?
  package let isSecret: Bool

  package static func has(_ word: ExactString) -> Bool {
    switch word {
    case "default", "summary", "secret", "since", "replacedBy", "renamedFrom": true
    default: false
    }
  }

  package init(_ value: Value) throws(StoreError) {
    guard case .dictionary = value, let words = try value.checkedForStore().asDictionary else {
      throw StoreError(
        .invalid, "a declaration must be a JSON object such as {\"type\":\"integer\"}, not \(value.describedAsJSON)")
    }
    guard !value.isLostDeclaration else {
      throw StoreError(
        .invalid,
        "the declaration was lost when a store was salvaged; declare the key as before, or undeclare it to show its "
          + "value")
    }
    // Before patterns are compiled and other expensive work is done.
    if value.mostJSONBytes > Declaration.largestText { try Self.checkSize(value.jsonByteCount) }
    var reader = SchemaReader(isSecret: Self.mayBeSecret(words))
    var (schema, canonical) = try reader.read(words, isRoot: true)
    isSecret =
      try reader.word("secret", of: words) { reader, value throws(StoreError) in try reader.flag(value) } ?? false
    summary = try reader.word("summary", of: words, Self.line)
    _ = try reader.word("since", of: words, Self.line)
    replacement = try reader.word("replacedBy", of: words) { reader, value throws(StoreError) in
      guard schema.isDeprecated else { throw reader.wrong(.invalid, "the keyword needs \"deprecated\": true; add it") }
      return try Self.key(reader, value)
    }
    formerName = try reader.word("renamedFrom", of: words, Self.key)
    defaultValue = try reader.word("default", of: words) { reader, value throws(StoreError) in
      try reader.fitting(value, schema, called: "the default")
    }
    if let defaultValue { canonical["default"] = defaultValue }
    if !isSecret { canonical["secret"] = nil }
    type = try reader.declaredType(words)
    self.schema = schema
    self.canonical = .dictionary(canonical)
    json = self.canonical.json
    // A normalized number can be longer.
    try Self.checkSize(json.utf8.count)
  }

  /// Whether messages must hide values, also when `secret` itself is invalid.
  package static func mayBeSecret(_ words: ValueDictionary) -> Bool {
    words["secret"].map { $0 != false } ?? false
  }

  private static func line(_ reader: SchemaReader, _ value: Value) throws(StoreError) -> String {
    try reader.text(value)
  }

  private static func key(_ reader: SchemaReader, _ value: Value) throws(StoreError) -> KeyName {
    let name = try reader.text(value)
    do throws(StoreError) { return try KeyName(name) } catch { throw reader.wrong(error.code, error.message) }
  }

  /// Throws `tooLarge` if the text of a declaration is too long.
  private static func checkSize(_ count: Int) throws(StoreError) {
    guard count <= Declaration.largestText else {
      throw StoreError(
        .tooLarge,
        "the declaration is \(count) bytes long as canonical JSON; at most \(Declaration.largestText) are allowed")
    }
  }
}

extension SchemaReader {
  /// Parses a keyword of the root; nil if it is absent.
  fileprivate mutating func word<Result>(
    _ name: ExactString, of words: ValueDictionary,
    _ read: (SchemaReader, Value) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    guard let value = words[name] else { return nil }
    place.enter(name)
    defer { place.leave() }
    return try read(self, value)
  }

  /// The single type of a key, already known to be valid.
  fileprivate func declaredType(_ words: ValueDictionary) throws(StoreError) -> DeclaredType {
    guard let type = words["type"]?.asString.flatMap({ DeclaredType(word: $0) }) else {
      throw wrong(.invalid, "it has no type")
    }
    return type
  }
}
