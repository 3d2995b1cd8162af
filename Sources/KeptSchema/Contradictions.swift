// Detects declarations that no value could fit. They are refused, because they are mistakes.

import KeptValues

extension SchemaReader {
  /// Throws `invalid` if two keywords contradict each other.
  mutating func checkContradictions(_ schema: Schema) throws(StoreError) {
    try checkBounds(schema)
    try checkRange(schema.lengths, "minLength", "maxLength")
    if let elements = schema.elements { try checkElements(elements, schema.items) }
    if let members = schema.members { try checkMembers(members) }
  }

  private func checkBounds(_ schema: Schema) throws(StoreError) {
    let lower: [(String, Value?)] = [
      ("minimum", schema.minimum), ("exclusiveMinimum", schema.numbers?.exclusiveMinimum),
    ]
    let upper: [(String, Value?)] = [
      ("maximum", schema.maximum), ("exclusiveMaximum", schema.numbers?.exclusiveMaximum),
    ]
    for (low, least) in lower {
      for (high, most) in upper {
        guard let least, let most else { continue }
        if most.isLess(than: least) {
          throw wrong(.invalid, "the \(named(low, least)) is greater than the \(named(high, most)); swap them")
        }
        if low != "minimum" || high != "maximum", !least.isLess(than: most) {
          throw wrong(
            .invalid, "no number lies between the \(named(low, least)) and the \(named(high, most)); change one of them"
          )
        }
      }
    }
    try checkIntegers(schema)
  }

  private func named(_ word: String, _ bound: Value) -> String { isSecret ? word : "\(word) \(bound)" }

  /// Throws if there is no integer between the bounds, as between 0.2 and 0.8.
  private func checkIntegers(_ schema: Schema) throws(StoreError) {
    guard schema.types.contains(.integer), schema.types.isSubset(of: [.integer, .null]) else { return }
    let lower = [
      schema.minimum.map { $0.leastInteger(isExclusive: false) },
      schema.numbers?.exclusiveMinimum.map { $0.leastInteger(isExclusive: true) },
    ]
    let upper = [
      schema.maximum.map { $0.greatestInteger(isExclusive: false) },
      schema.numbers?.exclusiveMaximum.map { $0.greatestInteger(isExclusive: true) },
    ]
    for case let low? in lower {
      // The inner nil means that no 64-bit integer is beyond the bound.
      guard let low else { throw noInteger() }
      for case let high? in upper {
        guard let high, !high.isLess(than: low) else { throw noInteger() }
      }
    }
    for case let high? in upper where high == nil { throw noInteger() }
  }

  private func noInteger() -> StoreError {
    wrong(.invalid, "no 64-bit integer is within the bounds; change one of them")
  }

  private func checkRange(_ range: CountRange, _ least: String, _ most: String) throws(StoreError) {
    guard range.least > range.most else { return }
    throw wrong(
      .invalid, "the \(least) \(range.least) is greater than the \(most) \(range.most); swap them")
  }

  private func checkElements(_ rules: ElementRules, _ items: Subschema) throws(StoreError) {
    try checkRange(rules.counts, "minItems", "maxItems")
    var possible = rules.first.firstIndex { $0.isNothing }
    if possible == nil, items.isNothing { possible = rules.first.count }
    guard let possible, rules.counts.least > possible else { return }
    throw wrong(
      .invalid, "minItems is \(rules.counts.least), but the declaration allows at most \(possible); lower it")
  }

  private mutating func checkMembers(_ rules: MemberRules) throws(StoreError) {
    try checkRange(rules.counts, "minProperties", "maxProperties")
    if rules.required.count > rules.counts.most {
      throw wrong(
        .invalid,
        "\(rules.required.count) members are required, but maxProperties is \(rules.counts.most); raise it")
    }
    for name in rules.required where try isForbidden(name, by: rules) {
      throw wrong(
        .invalid,
        "the member \"\(Excerpt.of(name.text))\" is required but never allowed; allow it, or do not require it")
    }
    guard rules.patterns.isEmpty, rules.others.isNothing else { return }
    let possible = rules.properties.count { !$0.schema.isNothing }
    guard rules.counts.least > possible else { return }
    throw wrong(
      .invalid, "minProperties is \(rules.counts.least), but the declaration allows at most \(possible); lower it")
  }

  /// Whether no object may have a member with the name, as far as that can be determined.
  private mutating func isForbidden(_ name: ExactString, by rules: MemberRules) throws(StoreError) -> Bool {
    let property = rules[name]
    if let property, property.isNothing { return true }
    if case .words(let schema) = rules.names {
      var admission = Admission(isSecret: isSecret, effort: effort)
      defer { effort = admission.effort }
      do throws(StoreError) { _ = try admission.admit(.string(name.text), to: schema) } catch {
        // Without memory for a pattern, the name cannot be checked.
        guard error.code != .failed else { throw error }
        return true
      }
    }
    var isOther = property == nil
    for rule in rules.patterns {
      switch try rule.pattern.search(name.text, spending: &effort) {
      case .found where rule.schema.isNothing: return true
      case .found, .tooLong: isOther = false
      case .notFound: break
      }
    }
    return rules.names.isNothing || isOther && rules.others.isNothing
  }

  /// The choices in the form of their type, as written.
  ///
  /// Throws `invalid` if there is none, if one is repeated, or if one violates another keyword.
  package mutating func read(choices value: Value, into schema: inout Schema) throws(StoreError) {
    place.enter("enum")
    defer { place.leave() }
    guard let given = value.asArray else {
      throw wrong(.invalid, "the keyword must be an array of choices, not \(value.describedAsJSON)")
    }
    guard !given.isEmpty else {
      throw wrong(.invalid, "the list of choices is empty, so no value would be valid; add one or more")
    }
    var choices: [Value] = []
    for (index, choice) in given.enumerated() {
      place.enter(index)
      var admission = Admission(isSecret: isSecret, subject: "the choice", effort: effort)
      choices.append(try fitting(choice, schema, &admission))
      effort = admission.effort
      place.leave()
    }
    guard let twin = schema.choices.list(choices) else { return }
    let shown = isSecret ? "a choice" : "the choice \(Excerpt.of(twin))"
    throw wrong(.invalid, "\(shown) appears twice; remove one")
  }

  /// A default or a choice in the form that the schema prescribes.
  package func fitting(_ value: Value, _ schema: Schema, called subject: String) throws(StoreError) -> Value {
    var admission = Admission(isSecret: isSecret, subject: subject)
    return try fitting(value, schema, &admission)
  }

  private func fitting(
    _ value: Value, _ schema: Schema, _ admission: inout Admission
  ) throws(StoreError) -> Value {
    do {
      return try admission.admit(value, to: schema)
    } catch {
      // Without memory for a pattern, the value cannot be checked.
      throw wrong(error.code == .failed ? .failed : .invalid, error.message)
    }
  }
}

extension Subschema {
  fileprivate var isNothing: Bool { if case .nothing = self { true } else { false } }
}

// MARK: - Integers

extension Value {
  /// The smallest integer at or above a bound; nil if there is no such 64-bit integer.
  fileprivate func leastInteger(isExclusive: Bool) -> Value? {
    switch self {
    case .int(.max): return .uint(isExclusive ? 1 << 63 : UInt64(Int64.max))
    case .int(let bound): return .int(isExclusive ? bound + 1 : bound)
    case .uint(.max): return isExclusive ? nil : self
    case .uint(let bound): return .uint(isExclusive ? bound + 1 : bound)
    case .double(let bound):
      let integer = bound.rounded(.up)
      if integer < -0x1p63 { return .int(.min) }
      guard let value = Int64(exactly: integer).map({ .int($0) }) ?? UInt64(exactly: integer).map({ Value.uint($0) })
      else { return nil }
      return integer == bound ? value.leastInteger(isExclusive: isExclusive) : value
    default: return nil
    }
  }

  /// The largest integer at or below a bound; nil if there is no such 64-bit integer.
  fileprivate func greatestInteger(isExclusive: Bool) -> Value? {
    switch self {
    case .int(.min): return isExclusive ? nil : self
    case .int(let bound): return .int(isExclusive ? bound - 1 : bound)
    case .uint(0): return isExclusive ? .int(-1) : self
    case .uint(let bound): return .uint(isExclusive ? bound - 1 : bound)
    case .double(let bound):
      let integer = bound.rounded(.down)
      if integer >= 0x1p64 { return .uint(.max) }
      guard let value = Int64(exactly: integer).map({ .int($0) }) ?? UInt64(exactly: integer).map({ Value.uint($0) })
      else { return nil }
      return integer == bound ? value.greatestInteger(isExclusive: isExclusive) : value
    default: return nil
    }
  }
}
