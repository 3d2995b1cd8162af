// The schema parser: it accepts the supported part of JSON Schema, draft 2020-12, and nothing else.

import KeptValues

/// Parses schemas, and returns their canonical form: numbers in the form of their type, and without `$comment`.
struct SchemaReader {
  package var place = JSONPointer()
  package let isSecret: Bool
  private var hasFoundDeprecated = false
  private var depth = 0
  /// The remaining steps for searching patterns in names and choices.
  var effort = Pattern.Effort()

  package init(isSecret: Bool) { self.isSecret = isSecret }

  /// Parses the keywords of a schema; at the root, those of ``RootSchema`` are skipped.
  package mutating func read(
    _ words: ValueDictionary, isRoot: Bool = false
  ) throws(StoreError) -> (schema: Schema, canonical: ValueDictionary) {
    var schema = Schema()
    var canonical = words
    // For this schema and those nested in it.
    let hasFoundDeprecatedBefore = hasFoundDeprecated
    hasFoundDeprecated = false
    defer { hasFoundDeprecated = hasFoundDeprecated || hasFoundDeprecatedBefore }
    // The other keywords are restricted to those that apply to the type.
    schema.types = try types(words, isRoot: isRoot)
    for word in words where !(isRoot && RootSchema.has(word.key)) {
      place.enter(word.key)
      canonical[word.key] = try read(word.key, word.value, into: &schema)
      place.leave()
    }
    schema.mentionsDeprecated = hasFoundDeprecated
    try checkContradictions(schema)
    // Choices are checked against all other keywords.
    if let choices = words["enum"] {
      try read(choices: choices, into: &schema)
      canonical["enum"] = .array(schema.choices.listed)
    }
    if let constant = words["const"] {
      place.enter("const")
      schema.choices.constant = try fitting(constant, schema, called: "the constant")
      place.leave()
      canonical["const"] = schema.choices.constant
    }
    return (schema, canonical)
  }

  /// Parses a keyword, and returns its value in canonical form; nil omits it.
  private mutating func read(
    _ word: ExactString, _ value: Value, into schema: inout Schema
  ) throws(StoreError) -> Value? {
    switch word {
    case "type", "enum", "const": return value
    case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
      return try readNumber(word, value, into: &schema)
    case "minLength", "maxLength":
      return try readCount(word, value, of: [.string, .bytes], schema.types, into: &schema.lengths)
    case "pattern":
      try checkApplies(to: .string, of: schema.types)
      schema.pattern = try pattern(value)
      return value
    case "title", "description", "format":
      _ = try text(value)
      return value
    case "$comment":
      _ = try text(value)
      return nil
    case "deprecated":
      schema.isDeprecated = try flag(value)
      if schema.isDeprecated { hasFoundDeprecated = true }
      return schema.isDeprecated ? true : nil
    case "items", "prefixItems", "minItems", "maxItems", "uniqueItems":
      try checkApplies(to: .array, of: schema.types)
      return try readElements(word, value, into: &schema)
    case "properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties",
      "maxProperties":
      try checkApplies(to: .object, of: schema.types)
      var rules = schema.members ?? MemberRules()
      defer { schema.members = rules }
      return try readMembers(word, value, into: &rules)
    default:
      throw wrong(
        .unsupported,
        "Kept does not support this keyword here; leave it out, because it would not be checked")
    }
  }

  private func readNumber(
    _ word: ExactString, _ value: Value, into schema: inout Schema
  ) throws(StoreError) -> Value {
    let number = try bound(value, of: schema.types)
    var rules = schema.numbers ?? NumberRules()
    switch word {
    case "minimum": schema.minimum = number
    case "maximum": schema.maximum = number
    case "exclusiveMinimum": rules.exclusiveMinimum = number
    case "exclusiveMaximum": rules.exclusiveMaximum = number
    default:
      guard Value.int(0).isLess(than: number) else {
        throw wrong(.invalid, "multipleOf must be greater than 0, not \(shown(value))")
      }
      rules.multipleOf = number
    }
    if word != "minimum", word != "maximum" { schema.numbers = rules }
    return number
  }

  /// Parses a keyword such as `minLength` or `maxItems`.
  private func readCount(
    _ word: ExactString, _ value: Value, of sensible: TypeSet, _ types: TypeSet, into range: inout CountRange
  ) throws(StoreError) -> Value {
    try checkApplies(to: sensible, of: types)
    let count = try count(value)
    if word.hasPrefix("min") { range.least = count } else { range.most = count }
    return .int(Int64(count))
  }

  /// Parses a keyword for arrays.
  private mutating func readElements(
    _ word: ExactString, _ value: Value, into schema: inout Schema
  ) throws(StoreError) -> Value? {
    if word == "items" {
      let items = try subschema(value)
      schema.items = items.schema
      return items.canonical
    }
    var rules = schema.elements ?? ElementRules()
    defer { schema.elements = rules }
    switch word {
    case "prefixItems": return .array(try prefixItems(value, into: &rules))
    case "uniqueItems":
      rules.isUnique = try flag(value)
      return rules.isUnique ? true : nil
    default: return try readCount(word, value, of: .array, schema.types, into: &rules.counts)
    }
  }

  private mutating func prefixItems(_ value: Value, into rules: inout ElementRules) throws(StoreError) -> [Value] {
    guard let schemas = value.asArray, !schemas.isEmpty else {
      throw wrong(.invalid, "the keyword must be an array of one or more schemas, not \(shown(value))")
    }
    var canonical: [Value] = []
    for (index, schema) in schemas.enumerated() {
      place.enter(index)
      let item = try subschema(schema)
      rules.first.append(item.schema)
      canonical.append(item.canonical)
      place.leave()
    }
    return canonical
  }

  /// Parses a keyword for objects.
  private mutating func readMembers(
    _ word: ExactString, _ value: Value, into rules: inout MemberRules
  ) throws(StoreError) -> Value {
    switch word {
    case "properties":
      return try schemas(value) { _, name, schema throws(StoreError) in
        rules.properties.append(MemberRules.Property(name: name, schema: schema))
      }
    case "patternProperties":
      return try schemas(value) { reader, name, schema throws(StoreError) in
        let pattern = try reader.pattern(.string(name.text))
        rules.patterns.append(MemberRules.PatternProperty(pattern: pattern, schema: schema))
      }
    case "required":
      rules.required = try names(value)
      return value
    case "propertyNames":
      let names = try subschema(value)
      if case .words(let schema) = names.schema, schema.types.isDisjoint(with: .string) {
        throw wrong(.invalid, "member names are strings, so the type cannot be \(schema.types); leave it out")
      }
      rules.names = names.schema
      return names.canonical
    case "additionalProperties":
      let others = try subschema(value)
      rules.others = others.schema
      return others.canonical
    default: return try readCount(word, value, of: .object, .object, into: &rules.counts)
    }
  }

  /// Parses a nested schema.
  mutating func subschema(_ value: Value) throws(StoreError) -> (schema: Subschema, canonical: Value) {
    switch value {
    case .bool(let isAnything): return (isAnything ? .anything : .nothing, value)
    case .dictionary(let words):
      guard depth < Limits.schemaNesting else {
        throw wrong(.tooLarge, "schemas are nested more than \(Limits.schemaNesting) levels deep; flatten them")
      }
      depth += 1
      defer { depth -= 1 }
      let (schema, canonical) = try read(words)
      return (words.isEmpty ? .anything : .words(schema), .dictionary(canonical))
    default: throw wrong(.invalid, "a schema must be an object, true or false, not \(value.describedAsJSON)")
    }
  }

  /// Parses an object of schemas, and passes on each with its name.
  private mutating func schemas(
    _ value: Value, _ take: (SchemaReader, ExactString, Subschema) throws(StoreError) -> Void
  ) throws(StoreError) -> Value {
    guard let schemas = value.asDictionary else {
      throw wrong(.invalid, "the keyword must be an object that maps names to schemas, not \(value.describedAsJSON)")
    }
    var canonical: [(ExactString, Value)] = []
    for member in schemas {
      place.enter(member.key)
      let (schema, text) = try subschema(member.value)
      try take(self, member.key, schema)
      canonical.append((member.key, text))
      place.leave()
    }
    return .dictionary(ValueDictionary(canonical))
  }

  /// The invalid value of a keyword for a message; of a secret only its kind.
  package func shown(_ value: Value) -> String { isSecret ? "this \(value.kind)" : Excerpt.of(value) }

  /// An error at the current place.
  package func wrong(_ code: StoreError.Code, _ reason: String) -> StoreError {
    StoreError(code, "the declaration is invalid\(place.isRoot ? "" : " at \(place)"): \(reason)")
  }
}
