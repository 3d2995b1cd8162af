// Checks a value against a schema, and gives it the form that the schema prescribes.

import KeptValues

/// The check of one value against a schema.
struct Admission {
  package let isSecret: Bool
  // The name of the value in messages.
  private var subject: String
  private var place = JSONPointer()
  private(set) var effort: Pattern.Effort

  package init(isSecret: Bool, subject: String = "the value", effort: Pattern.Effort = Pattern.Effort(of: nil)) {
    self.isSecret = isSecret
    self.subject = subject
    self.effort = effort
  }

  /// The value in the form that the schema prescribes.
  ///
  /// Throws `wrongType` if the value itself has another type, and `invalid` for every other violation.
  package mutating func admit(_ given: Value, to schema: Schema) throws(StoreError) -> Value {
    guard var value = schema.types.form(of: given) else { throw otherType(given, schema.types) }
    switch value {
    case .int, .uint, .double: try checkBounds(value, schema)
    case .string(let text): try checkText(text, schema)
    case .bytes(let bytes): try checkCount(bytes.count, schema.lengths, of: value, unit: "bytes")
    case .array(let elements): value = .array(try admit(elements, to: schema))
    case .dictionary(let members):
      if let rules = schema.members { value = .dictionary(try admit(members, to: rules)) }
    case .null, .bool, .date: break
    }
    try checkChoices(value, schema.choices)
    return value
  }

  /// Admits a value in an array or a dictionary; its place has been entered.
  private mutating func admit(_ value: Value, to schema: Subschema) throws(StoreError) -> Value {
    switch schema {
    case .anything: return value
    case .nothing: throw refused(value, "is not allowed by the declaration; leave it out")
    case .words(let schema): return try admit(value, to: schema)
    }
  }

  private mutating func admit(_ elements: [Value], to schema: Schema) throws(StoreError) -> [Value] {
    if let rules = schema.elements {
      try checkCount(elements.count, rules.counts, of: .array(elements), unit: "elements")
    } else if case .anything = schema.items {
      return elements
    }
    var admitted: [Value] = []
    admitted.reserveCapacity(elements.count)
    for (index, element) in elements.enumerated() {
      place.enter(index)
      admitted.append(try admit(element, to: schema.element(at: index)))
      place.leave()
    }
    if schema.elements?.isUnique == true { try checkUnique(admitted) }
    return admitted
  }

  private mutating func checkUnique(_ elements: [Value]) throws(StoreError) {
    guard elements.count > 1 else { return }
    var seen: Set<Value> = []
    for (index, element) in elements.enumerated() where !seen.insert(element.comparedForm).inserted {
      place.enter(index)
      throw refused(element, "is a duplicate; elements must be unique")
    }
  }

  private mutating func admit(_ members: ValueDictionary, to rules: MemberRules) throws(StoreError) -> ValueDictionary {
    for name in rules.required where members[name] == nil {
      throw refused(.dictionary(members), "lacks the member \"\(Excerpt.of(name.text))\"; add it")
    }
    try checkCount(members.count, rules.counts, of: .dictionary(members), unit: "members")
    var admitted: [(ExactString, Value)] = []
    admitted.reserveCapacity(members.count)
    var next = 0
    for member in members {
      // Both are ordered by name.
      while next < rules.properties.count, rules.properties[next].name < member.key { next += 1 }
      let isDeclared = next < rules.properties.count && rules.properties[next].name == member.key
      try checkName(member.key, rules)
      // An undeclared member name of a secret value is part of the secret.
      place.enter(isDeclared || !isSecret ? member.key : "…")
      let property = isDeclared ? rules.properties[next].schema : nil
      admitted.append((member.key, try admit(member, to: rules, property)))
      place.leave()
    }
    return ValueDictionary(admitted)
  }

  /// Admits a member; its place has been entered.
  /// - Parameter property: the entry of `properties` for it.
  private mutating func admit(
    _ member: ValueDictionary.Member, to rules: MemberRules, _ property: Subschema?
  ) throws(StoreError) -> Value {
    guard !rules.patterns.isEmpty else { return try admit(member.value, to: property ?? rules.others) }
    var value = member.value
    var isOther = property == nil
    if let property { value = try admit(value, to: property) }
    for (pattern, schema) in rules.patterns.lazy.map({ ($0.pattern, $0.schema) }) {
      // Each pattern reads the name.
      effort.earn(member.key.text.utf8.count)
      guard try isFound(pattern, in: member.key.text, called: "the member's name") else { continue }
      isOther = false
      value = try admit(value, to: schema)
    }
    return isOther ? try admit(value, to: rules.others) : value
  }

  private mutating func checkName(_ name: ExactString, _ rules: MemberRules) throws(StoreError) {
    if case .anything = rules.names { return }
    let own = subject
    subject = "the member name"
    defer { subject = own }
    _ = try admit(.string(name.text), to: rules.names)
  }
}

// MARK: - Constraints

extension Admission {
  @inline(__always)
  private func checkBounds(_ value: Value, _ schema: Schema) throws(StoreError) {
    if let minimum = schema.minimum, value.isLess(than: minimum) || value.isNaN {
      let found = value.isNaN ? "not within" : "below"
      throw refused(value, "is \(found) the \(named("minimum", minimum)); use \(shown("minimum", minimum)) or more")
    }
    if let maximum = schema.maximum, maximum.isLess(than: value) || value.isNaN {
      let found = value.isNaN ? "not within" : "above"
      throw refused(value, "is \(found) the \(named("maximum", maximum)); use \(shown("maximum", maximum)) or less")
    }
    if let rules = schema.numbers { try checkNumber(value, rules) }
  }

  private func checkNumber(_ value: Value, _ rules: NumberRules) throws(StoreError) {
    if let bound = rules.exclusiveMinimum, !bound.isLess(than: value) {
      let (name, least) = (named("exclusiveMinimum", bound), shown("exclusiveMinimum", bound))
      throw refused(value, "is not above the \(name); use more than \(least)")
    }
    if let bound = rules.exclusiveMaximum, !value.isLess(than: bound) {
      let (name, most) = (named("exclusiveMaximum", bound), shown("exclusiveMaximum", bound))
      throw refused(value, "is not below the \(name); use less than \(most)")
    }
    guard let divisor = rules.multipleOf else { return }
    // A declared divisor is a finite number; other numbers have no multiples.
    guard let number = DecimalNumber(value), let unit = DecimalNumber(divisor), number.isMultiple(of: unit) else {
      throw refused(value, "is not a multiple of \(isSecret ? "the declared number" : "\(divisor)"); use a multiple")
    }
  }

  // Bounds and patterns are not shown for a secret: they may leave a single value.
  private func named(_ word: String, _ bound: Value) -> String { isSecret ? word : "\(word) \(bound)" }

  private func named(_ pattern: Pattern) -> String {
    isSecret ? "the declared pattern" : "the pattern \(Excerpt.of(pattern.text))"
  }

  private func shown(_ word: String, _ bound: Value) -> String { isSecret ? "the \(word)" : "\(bound)" }

  private mutating func checkText(_ text: String, _ schema: Schema) throws(StoreError) {
    // A scalar has 1 to 4 bytes, so most texts need not be counted.
    let bytes = text.utf8.count
    if schema.lengths.least > bytes / 4 || schema.lengths.most < bytes {
      try checkCount(text.unicodeScalars.count, schema.lengths, of: .string(text), unit: "characters")
    }
    guard let pattern = schema.pattern else { return }
    effort.earn(bytes)
    guard try isFound(pattern, in: text, called: subject) else {
      throw refused(.string(text), "does not match \(named(pattern)); use text that matches")
    }
  }

  /// Throws `invalid` if the search takes too long, and `failed` without memory.
  private mutating func isFound(
    _ pattern: Pattern, in text: String, called subject: String
  ) throws(StoreError) -> Bool {
    switch try pattern.search(text, spending: &effort) {
    case .found: return true
    case .notFound: return false
    case .tooLong:
      throw refused(
        .string(text), called: subject,
        "takes too long to match against \(named(pattern)); shorten it, or simplify the pattern")
    }
  }

  private func checkCount(_ count: Int, _ range: CountRange, of value: Value, unit: String) throws(StoreError) {
    // The length of a secret reveals something about it.
    let found = isSecret ? "" : " (\(count))"
    if count < range.least { throw refused(value, "has too few \(unit)\(found); the minimum is \(range.least)") }
    if count > range.most { throw refused(value, "has too many \(unit)\(found); the maximum is \(range.most)") }
  }

  @inline(__always)
  private func checkChoices(_ value: Value, _ choices: Choices) throws(StoreError) {
    guard choices.contains(value) else { throw noChoice(value, choices.listed) }
    guard choices.isConstant(value) else { throw noConstant(value, choices) }
  }
}

// MARK: - Messages

extension Admission {
  private func refused(_ value: Value, called subject: String? = nil, _ reason: String) -> StoreError {
    let shown = isSecret ? "" : " \(Excerpt.of(value))"
    let subject = subject ?? self.subject
    return StoreError(.invalid, "\(subject)\(shown)\(inside) \(reason)")
  }

  /// The place, unless it is the value itself.
  private var inside: String { place.isRoot ? "" : " at \(place)" }

  private func otherType(_ value: Value, _ types: TypeSet) -> StoreError {
    let isNumber = !types.isDisjoint(with: [.integer, .number])
    // A number has the wrong kind if the conversion would alter it.
    let number = if case .int = value { true } else if case .uint = value { true } else { value.kind == .double }
    let inexact = isNumber && number ? " that cannot be converted exactly" : ""
    let error = refused(value, "is \(value.describedAsJSON)\(inexact); the declared type is \(types)")
    return place.isRoot ? StoreError(.wrongType, error.message) : error
  }

  private func noChoice(_ value: Value, _ choices: [Value]) -> StoreError {
    guard !isSecret else { return refused(value, "is not one of the declared choices; use one of them") }
    let shown = choices.prefix(5).map { Excerpt.of($0) }.joined(separator: ", ")
    return refused(value, "is not one of the declared choices; use one of \(shown)\(choices.count > 5 ? ", …" : "")")
  }

  private func noConstant(_ value: Value, _ choices: Choices) -> StoreError {
    let shown = isSecret ? "" : " \(choices.constant.map { Excerpt.of($0) } ?? "")"
    return refused(value, "is not the declared constant\(shown); use that, or leave it out")
  }
}
