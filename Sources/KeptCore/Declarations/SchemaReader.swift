// How a schema is read, word by word: what Kept knows of JSON Schema, draft 2020-12, and nothing else.

/// Reads schemas, and gives back their canonical form: numbers in the form of their type, and without `$comment`.
struct SchemaReader {
  var place = JSONPointer()
  let isSecret: Bool

  init(isSecret: Bool) { self.isSecret = isSecret }

  /// Reads the words of a schema; at the root, those of ``RootSchema`` are passed over.
  mutating func read(
    _ words: ValueDictionary, isRoot: Bool = false
  ) throws(StoreError) -> (schema: Schema, canonical: ValueDictionary) {
    var schema = Schema()
    var canonical = words
    // The other words may only say what applies to the type.
    schema.types = try types(words, isRoot: isRoot)
    for word in words where !(isRoot && RootSchema.has(word.key)) {
      place.enter(word.key)
      canonical[word.key] = try read(word.key, word.value, into: &schema)
      place.leave()
    }
    try checkContradictions(schema)
    // Choices are checked by all other words.
    if let choices = words["enum"] {
      schema.choices = try self.choices(choices, of: schema)
      canonical["enum"] = .array(schema.choices)
    }
    return (schema, canonical)
  }

  /// Reads a word, and gives its value in canonical form; nil leaves it out.
  private mutating func read(
    _ word: ExactString, _ value: Value, into schema: inout Schema
  ) throws(StoreError) -> Value? {
    switch word {
    case "type", "enum": return value
    case "minimum":
      let bound = try bound(value, of: schema.types)
      schema.minimum = bound
      return bound
    case "maximum":
      let bound = try bound(value, of: schema.types)
      schema.maximum = bound
      return bound
    case "minLength":
      schema.minLength = try length(value, of: schema.types)
      return .int(Int64(schema.minLength))
    case "maxLength":
      schema.maxLength = try length(value, of: schema.types)
      return .int(Int64(schema.maxLength))
    case "pattern":
      schema.pattern = try pattern(value, of: schema.types)
      return value
    case "title", "description":
      _ = try text(value)
      return value
    case "$comment":
      _ = try text(value)
      return nil
    default: return try readInside(word, value, into: &schema)
    }
  }

  /// Reads a word about what is inside arrays and objects.
  private mutating func readInside(
    _ word: ExactString, _ value: Value, into schema: inout Schema
  ) throws(StoreError) -> Value? {
    switch word {
    case "items":
      try checkApplies(to: .array, of: schema.types)
      let items = try subschema(value)
      schema.items = items.schema
      return items.canonical
    case "properties", "required", "additionalProperties":
      try checkApplies(to: .object, of: schema.types)
      var rules = schema.members ?? MemberRules()
      defer { schema.members = rules }
      switch word {
      case "properties": return try properties(value, into: &rules)
      case "required":
        rules.required = try names(value)
        return value
      default:
        let others = try subschema(value)
        rules.others = others.schema
        return others.canonical
      }
    default:
      throw wrong(
        .unsupported,
        "the word is not one that Kept knows here; leave it out, for a rule that nothing checks would mislead")
    }
  }

  /// Reads a schema that stands inside another.
  mutating func subschema(_ value: Value) throws(StoreError) -> (schema: Subschema, canonical: Value) {
    switch value {
    case .bool(let isAnything): return (isAnything ? .anything : .nothing, value)
    case .dictionary(let words):
      let (schema, canonical) = try read(words)
      return (words.isEmpty ? .anything : .words(schema), .dictionary(canonical))
    default: throw wrong(.invalid, "a schema is an object, true or false, and this is \(value.described)")
    }
  }

  private mutating func properties(_ value: Value, into rules: inout MemberRules) throws(StoreError) -> Value {
    guard let properties = value.asDictionary else {
      throw wrong(.invalid, "the word takes an object of schemas, not \(value.described)")
    }
    var canonical: [(ExactString, Value)] = []
    for member in properties {
      place.enter(member.key)
      let property = try subschema(member.value)
      rules.properties.append(MemberRules.Property(name: member.key, schema: property.schema))
      canonical.append((member.key, property.canonical))
      place.leave()
    }
    return .dictionary(ValueDictionary(canonical))
  }

  /// A failure at the place that has been come to.
  func wrong(_ code: StoreError.Code, _ reason: String) -> StoreError {
    StoreError(code, "the declaration is wrong\(place.isRoot ? "" : " at \(place)"): \(reason)")
  }
}
