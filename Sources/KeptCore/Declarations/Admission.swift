// Whether a value fits a schema, and the form in which it does.

/// One value on its way through a schema.
struct Admission {
  private let isSecret: Bool
  // What the value is, for the message.
  private let subject: String
  private var place = JSONPointer()

  init(isSecret: Bool, subject: String = "the value") {
    self.isSecret = isSecret
    self.subject = subject
  }

  /// The value in the form that the schema gives it.
  ///
  /// Throws `wrongType` where the value itself has another type, and `invalid` for all else.
  mutating func admit(_ given: Value, to schema: Schema) throws(StoreError) -> Value {
    guard var value = schema.types.form(of: given) else { throw otherType(given, schema.types) }
    switch value {
    case .int, .uint, .double: try checkBounds(value, schema)
    case .string(let text): try checkText(text, schema)
    case .bytes(let bytes): try checkLength(bytes.count, of: value, schema, unit: "bytes")
    case .array(let elements): value = .array(try admit(elements, to: schema.items))
    case .dictionary(let members):
      if let rules = schema.members { value = .dictionary(try admit(members, to: rules)) }
    case .null, .bool, .date: break
    }
    guard schema.choices.isEmpty || schema.choices.contains(value) else { throw noChoice(value, schema.choices) }
    return value
  }

  /// A value of an array or a dictionary; the place has been entered.
  private mutating func admit(_ value: Value, to schema: Subschema) throws(StoreError) -> Value {
    switch schema {
    case .anything: return value
    case .nothing: throw refused(value, "is not allowed by the declaration; leave it out")
    case .words(let schema): return try admit(value, to: schema)
    }
  }

  private mutating func admit(_ elements: [Value], to schema: Subschema) throws(StoreError) -> [Value] {
    if case .anything = schema { return elements }
    var admitted: [Value] = []
    admitted.reserveCapacity(elements.count)
    for (index, element) in elements.enumerated() {
      place.enter(index)
      admitted.append(try admit(element, to: schema))
      place.leave()
    }
    return admitted
  }

  private mutating func admit(_ members: ValueDictionary, to rules: MemberRules) throws(StoreError) -> ValueDictionary {
    for name in rules.required where members[name] == nil {
      throw refused(.dictionary(members), "lacks the member \"\(Excerpt.of(name.text))\"; add it")
    }
    var admitted: [(ExactString, Value)] = []
    admitted.reserveCapacity(members.count)
    var next = 0
    for member in members {
      // Both are in the order of the names.
      while next < rules.properties.count, rules.properties[next].name < member.key { next += 1 }
      let isDeclared = next < rules.properties.count && rules.properties[next].name == member.key
      let schema = isDeclared ? rules.properties[next].schema : rules.others
      // What a secret's author has made up belongs to the secret.
      place.enter(isDeclared || !isSecret ? member.key : "…")
      admitted.append((member.key, try admit(member.value, to: schema)))
      place.leave()
    }
    return ValueDictionary(admitted)
  }
}

// MARK: - Rules

extension Admission {
  @inline(__always)
  private func checkBounds(_ value: Value, _ schema: Schema) throws(StoreError) {
    if let minimum = schema.minimum, value.isLess(than: minimum) || value.isNaN {
      throw refused(value, "is below the minimum \(minimum); write \(minimum) or more")
    }
    if let maximum = schema.maximum, maximum.isLess(than: value) || value.isNaN {
      throw refused(value, "is above the maximum \(maximum); write \(maximum) or less")
    }
  }

  private func checkText(_ text: String, _ schema: Schema) throws(StoreError) {
    // A scalar has 1 to 4 bytes: most texts need not be counted.
    let bytes = text.utf8.count
    if schema.minLength > bytes / 4 || schema.maxLength < bytes {
      try checkLength(text.unicodeScalars.count, of: .string(text), schema, unit: "characters")
    }
    guard let pattern = schema.pattern else { return }
    switch try pattern.search(text) {
    case .found: return
    case .notFound:
      throw refused(.string(text), "does not match the pattern \(Excerpt.of(pattern.text)); write text that does")
    case .tooLong:
      throw refused(
        .string(text),
        "takes too long to compare with the pattern \(Excerpt.of(pattern.text)); shorten it, or simplify the pattern")
    }
  }

  private func checkLength(_ count: Int, of value: Value, _ schema: Schema, unit: String) throws(StoreError) {
    // How long a secret is says something about it.
    let found = isSecret ? "is" : "has \(count) \(unit), which is"
    if count < schema.minLength {
      throw refused(value, "\(found) too short; write at least \(schema.minLength) \(unit)")
    }
    if count > schema.maxLength {
      throw refused(value, "\(found) too long; write at most \(schema.maxLength) \(unit)")
    }
  }
}

// MARK: - Sentences

extension Admission {
  private func refused(_ value: Value, _ reason: String) -> StoreError {
    let shown = isSecret ? "" : " \(Excerpt.of(value))"
    return StoreError(.invalid, "\(subject)\(shown)\(inside) \(reason)")
  }

  /// The place, if it is not the value itself.
  private var inside: String { place.isRoot ? "" : " at \(place)" }

  private func otherType(_ value: Value, _ types: TypeSet) -> StoreError {
    let isNumber = !types.isDisjoint(with: [.integer, .number])
    // A wrong kind of number is one that would be altered.
    let number = if case .int = value { true } else if case .uint = value { true } else { value.kind == .double }
    let kind = isNumber && number ? "\(value.described) that \(types) cannot hold unaltered" : value.described
    let error = refused(value, "is \(kind); the declared type is \(types)")
    return place.isRoot ? StoreError(.wrongType, error.message) : error
  }

  private func noChoice(_ value: Value, _ choices: [Value]) -> StoreError {
    guard !isSecret else { return refused(value, "is none of the declared choices; write one of them") }
    let shown = choices.prefix(5).map { Excerpt.of($0) }.joined(separator: ", ")
    return refused(value, "is none of the declared choices; write one of \(shown)\(choices.count > 5 ? ", …" : "")")
  }
}
