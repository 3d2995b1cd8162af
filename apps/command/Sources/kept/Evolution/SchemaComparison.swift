// Finds the values that one schema admits and another does not.
//
// Keywords are compared one by one. A finding may concern values that another keyword excludes, but no value is missed:
// what cannot be decided is a finding, too.

import Kept

struct SchemaComparison {
  struct Finding {
    /// Whether such values surely exist, unless another keyword excludes them.
    let isCertain: Bool
    let sentence: String
    /// The keyword of the root that it is about; nil for all others.
    let word: ExactString?
  }
  private(set) var findings: [Finding] = []
  private var place: [String] = []

  /// - Parameters:
  ///   - old: the older schema, a bool or an object without the keywords of a whole declaration.
  ///   - new: the newer one.
  init(from old: Value, to new: Value) { compare(old, new) }

  /// Whether a schema surely admits every value of another one.
  static func contains(_ old: Value, in new: Value) -> Bool { SchemaComparison(from: old, to: new).findings.isEmpty }

  private mutating func compare(_ old: Value, _ new: Value, at step: String) {
    place.append(step)
    compare(old, new)
    place.removeLast()
  }

  private mutating func compare(_ old: Value, _ new: Value) {
    if old == new || old == false || new == true { return }
    guard new != false else { return add("no value is allowed") }
    let (before, after) = (old.asDictionary ?? [:], new.asDictionary ?? [:])
    if let values = Self.allValues(of: before) { return compare(values, after) }
    if let choices = after["const"].map({ [$0] }) ?? after["enum"]?.asArray {
      return add("only \(shown(choices)) \(choices.count == 1 ? "is" : "are") allowed")
    }
    let types = compareTypes(before, after)
    if types.contains(.integer) || types.contains(.number) {
      compareNumbers(before, after, areIntegers: !types.contains(.number))
    }
    if !types.isDisjoint(with: [.string, .bytes]) { compareCounts(before, after, "minLength", "maxLength") }
    if types.contains(.string) { comparePatterns(before, after) }
    if types.contains(.array) { compareElements(before, after) }
    if types.contains(.object) { compareMembers(before, after) }
  }

  // MARK: - Choices and types

  /// All values of a schema, if there are few.
  private static func allValues(of words: ValueDictionary) -> [Value]? {
    if let values = words["const"].map({ [$0] }) ?? words["enum"]?.asArray { return values }
    let types = types(of: words)
    guard types.isSubset(of: [.boolean, .integer, .null]) else { return nil }
    var values: [Value] = types.contains(.boolean) ? [false, true] : []
    if types.contains(.null) { values.append(.null) }
    if types.contains(.integer) {
      guard let least = words["minimum"]?.asInt64, let most = words["maximum"]?.asInt64, least <= most,
        case (let count, false) = most.subtractingReportingOverflow(least), count < 1000
      else { return nil }
      values += (least...most).map { .int($0) }
    }
    let schema = Probe(.dictionary(words))
    return values.filter { schema.admits($0) != false }
  }

  private mutating func compare(_ values: [Value], _ new: ValueDictionary) {
    let schema = Probe(.dictionary(new))
    let lost = values.filter { schema.admits($0) == false }
    if !lost.isEmpty { add("\(shown(lost)) \(lost.count == 1 ? "is" : "are") no longer allowed") }
    if values.contains(where: { schema.admits($0) == nil }) { add("the choices cannot be compared", isCertain: false) }
  }

  /// The types of a schema without choices.
  private static func types(of words: ValueDictionary) -> Set<ValueType> {
    guard let type = words["type"] else { return Set(ValueType.allCases) }
    return Set((type.asArray ?? [type]).compactMap { $0.asString.flatMap { ValueType(rawValue: $0) } })
  }

  /// Returns the types that both have.
  private mutating func compareTypes(_ old: ValueDictionary, _ new: ValueDictionary) -> Set<ValueType> {
    let (types, known) = (Self.types(of: old), Self.types(of: new))
    var lost = types.subtracting(known)
    // A number is stored as a double, which holds integers up to 2^53.
    var integers = old
    integers["type"] = "integer"
    if known.contains(.number), Self.contains(.dictionary(integers), in: Self.exactAsDoubles) { lost.remove(.integer) }
    if lost.count > known.count {
      add("only \(Self.shown(known)) \(known.count == 1 ? "is" : "are") allowed")
    } else if !lost.isEmpty {
      add("\(Self.shown(lost)) \(lost.count == 1 ? "is" : "are") no longer allowed")
    }
    return types.subtracting(lost)
  }

  /// `type string`, or `types array, boolean and object`.
  private static func shown(_ types: Set<ValueType>) -> String {
    let names = types.map(\.rawValue).sorted()
    let first = names.dropLast().joined(separator: ", ")
    return names.count == 1 ? "type \(names[0])" : "types \(first) and \(names.last ?? "")"
  }

  private static let exactAsDoubles: Value = [
    "type": "integer", "minimum": .int(-1 << 53), "maximum": .int(1 << 53),
  ]

  // MARK: - Numbers and texts

  private mutating func compareNumbers(_ old: ValueDictionary, _ new: ValueDictionary, areIntegers: Bool) {
    typealias Bound = (value: Value?, isExclusive: Bool)
    let (above, below) = (old["exclusiveMinimum"], old["exclusiveMaximum"])
    var lower: [Bound] = [(old["minimum"], false), (above, true)]
    var upper: [Bound] = [(old["maximum"], false), (below, true)]
    var divisors = [old["multipleOf"]]
    if areIntegers {
      lower += [(.int(.min), false), (above?.asInt64.flatMap { $0 < .max ? .int($0 + 1) : nil }, false)]
      upper += [(.uint(.max), false), (below?.asInt64.flatMap { $0 > .min ? .int($0 - 1) : nil }, false)]
      divisors.append(1)
    }
    let words: [(ExactString, loose: ExactString, [Bound])] = [
      ("minimum", "minimum", lower), ("exclusiveMinimum", "minimum", lower), ("maximum", "maximum", upper),
      ("exclusiveMaximum", "maximum", upper),
      ("multipleOf", "multipleOf", divisors.map { ($0, false) }),
    ]
    for (word, loose, known) in words {
      guard let bound = new[word] else { continue }
      let isImplied = known.contains { value, isExclusive in
        value.map { Probe([isExclusive ? loose : word: bound]).admits($0) == true } ?? false
      }
      if !isImplied { addNarrower(word, old, new) }
    }
  }

  private mutating func compareCounts(
    _ old: ValueDictionary, _ new: ValueDictionary, _ minimum: ExactString, _ maximum: ExactString
  ) {
    let known = Self.counts(old, minimum, maximum)
    if let least = new[minimum]?.asInt64, least > known.lowerBound { addNarrower(minimum, old, new) }
    if let most = new[maximum]?.asInt64, most < known.upperBound { addNarrower(maximum, old, new) }
  }

  private static func counts(
    _ words: ValueDictionary, _ minimum: ExactString, _ maximum: ExactString
  ) -> ClosedRange<Int64> {
    var (least, most) = (words[minimum]?.asInt64 ?? 0, words[maximum]?.asInt64 ?? .max)
    if maximum == "maxItems", words["items"] == false { most = min(most, Int64(words.array("prefixItems").count)) }
    if maximum == "maxProperties" {
      least = max(least, Int64(words.array("required").count))
      if words["additionalProperties"] == false, words["patternProperties"] == nil {
        most = min(most, Int64(words.object("properties").count))
      }
    }
    return min(least, most)...most
  }

  private mutating func comparePatterns(_ old: ValueDictionary, _ new: ValueDictionary) {
    guard new["pattern"] != nil, new["pattern"] != old["pattern"] else { return }
    let (before, after) = (Probe(.dictionary(old)), Probe(.dictionary(new)))
    let texts: [Value] = ["", " ", "a", "A1"]
    addNarrower(
      "pattern", old, new,
      isCertain: texts.contains { before.admits($0) == true && after.admits($0) == false })
  }

  // MARK: - Elements and members

  private mutating func compareElements(_ old: ValueDictionary, _ new: ValueDictionary) {
    compareCounts(old, new, "minItems", "maxItems")
    let most = Self.counts(old, "minItems", "maxItems").upperBound
    if new["uniqueItems"] == true, old["uniqueItems"] != true, most > 1 {
      add("equal elements are no longer allowed")
    }
    let (first, newFirst) = (old.array("prefixItems"), new.array("prefixItems"))
    let (rest, newRest) = (old["items"] ?? true, new["items"] ?? true)
    let count = max(first.count, newFirst.count)
    for index in 0..<count where index < most {
      compare(
        index < first.count ? first[index] : rest, index < newFirst.count ? newFirst[index] : newRest,
        at: "element \(index + 1)")
    }
    if count < most { compare(rest, newRest, at: count == 0 ? "each element" : "each other element") }
  }

  private mutating func compareMembers(_ old: ValueDictionary, _ new: ValueDictionary) {
    compareCounts(old, new, "minProperties", "maxProperties")
    for name in new.array("required") where !old.array("required").contains(name) {
      add("the member \(shown([name])) is required")
    }
    let (before, after) = (Members(old), Members(new))
    if let names = new["propertyNames"] { compare(before.names, names, at: "the name of each member") }
    for name in Set(before.named.map(\.key) + after.named.map(\.key)).sorted() {
      let step = "the member \(shown([.string(name.text)]))"
      guard let olds = before.schemas(of: name), let news = after.schemas(of: name) else {
        addUndecided(at: step)
        continue
      }
      for schema in news where !olds.contains(false) {
        if olds.count == 1 {
          compare(olds[0], schema, at: step)
        } else if !olds.contains(where: { Self.contains($0, in: schema) }) {
          addUndecided(at: step)
        }
      }
    }
    // Members that neither schema names.
    func matching(_ pattern: ExactString) -> String {
      "each member whose name matches \(shown([.string(pattern.text)]))"
    }
    let unnamed = before.patterns.map(\.value) + [before.others]
    for pattern in after.patterns {
      if let same = before.patterns[pattern.key] {
        compare(same, pattern.value, at: matching(pattern.key))
      } else if !unnamed.allSatisfy({ Self.contains($0, in: pattern.value) }) {
        addUndecided(at: matching(pattern.key))
      }
    }
    for member in before.patterns where after.patterns[member.key] == nil {
      if !Self.contains(member.value, in: after.others) { addUndecided(at: matching(member.key)) }
    }
    let isOnly = [before, after].allSatisfy { $0.named.isEmpty && $0.patterns.isEmpty }
    compare(before.others, after.others, at: isOnly ? "each member" : "each other member")
  }

  /// The keywords for the members of an object.
  private struct Members {
    let named: ValueDictionary
    let patterns: ValueDictionary
    let others: Value
    /// A schema of all names.
    let names: Value

    init(_ words: ValueDictionary) {
      (named, patterns) = (words.object("properties"), words.object("patternProperties"))
      others = words["additionalProperties"] ?? true
      var names = words["propertyNames"]?.asDictionary ?? [:]
      if others == false, patterns.isEmpty {
        names = ["enum": .array(named.map { .string($0.key.text) })]
      } else if names["enum"] == nil, names["const"] == nil {
        names["type"] = "string"
      }
      self.names = words["propertyNames"] == false ? false : .dictionary(names)
    }

    /// All schemas for a member; nil if that cannot be found out.
    func schemas(of name: ExactString) -> [Value]? {
      var schemas = named[name].map { [$0] } ?? []
      for pattern in patterns {
        guard let isFound = Probe(["pattern": .string(pattern.key.text)]).admits(.string(name.text)) else { return nil }
        if isFound { schemas.append(pattern.value) }
      }
      return schemas.isEmpty ? [others] : schemas
    }
  }

  // MARK: - Findings

  private mutating func add(_ sentence: String, isCertain: Bool = true, word: ExactString? = nil) {
    let location = place.map { "\($0): " }.joined()
    findings.append(
      Finding(isCertain: isCertain, sentence: location + sentence, word: place.isEmpty ? word : nil))
  }

  private mutating func addNarrower(
    _ word: ExactString, _ old: ValueDictionary, _ new: ValueDictionary, isCertain: Bool = true
  ) {
    let (before, after) = (old[word].map { shown([$0]) } ?? "none", shown([new[word] ?? .null]))
    add("\(word) is \(after) instead of \(before)", isCertain: isCertain, word: word)
  }

  private mutating func addUndecided(at step: String) {
    place.append(step)
    add("the schemas cannot be compared", isCertain: false)
    place.removeLast()
  }

  private func shown(_ values: [Value]) -> String {
    let shown = values.prefix(5).map { Shown.cut(Shown.json($0), to: 60) }
    return shown.joined(separator: ", ") + (values.count > 5 ? ", …" : "")
  }
}

/// The name of a type in a schema.
private enum ValueType: String, CaseIterable {
  case boolean, integer, number, string, bytes, date, array, object, null
}

/// A schema inside a declaration, to find out what it admits.
private struct Probe {
  private let declaration: Declaration?

  init(_ schema: Value) { declaration = try? Declaration(["type": "array", "items": schema]) }

  /// Whether the schema admits a value; nil if that cannot be found out.
  func admits(_ value: Value) -> Bool? {
    guard let declaration else { return nil }
    do throws(StoreError) {
      _ = try declaration.admitted([value])
      return true
    } catch { return error.code == .failed ? nil : false }
  }
}

extension ValueDictionary {
  fileprivate func array(_ word: ExactString) -> [Value] { self[word]?.asArray ?? [] }

  fileprivate func object(_ word: ExactString) -> ValueDictionary { self[word]?.asDictionary ?? [:] }
}
