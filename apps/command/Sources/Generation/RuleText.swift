// The rules of a declaration in words.

import Kept

enum RuleText {
  /// A line for each rule of a schema, without those that a page shows in other places.
  static func lines(_ words: ValueDictionary) -> [Line] {
    var lines: [Line] = []
    if let choices = words["enum"]?.asArray {
      lines.append("one of \(Line.joined(choices.map { "\(code: shown($0))" }, ", "))")
    }
    if let constant = words["const"] { lines.append("always \(code: shown(constant))") }
    for (word, text) in bounds {
      if let value = words[word] { lines.append("\(Line(stringLiteral: text)) \(code: shown(value))") }
    }
    if let pattern = words["pattern"]?.asString { lines.append("matches the regular expression \(code: pattern)") }
    if let format = words["format"]?.asString { lines.append("in the format \(code: format), which is not checked") }
    if words["uniqueItems"] == true { lines.append("no two elements are equal") }
    return lines + elements(words) + members(words)
  }

  private static let bounds: [(ExactString, String)] = [
    ("minimum", "at least"), ("exclusiveMinimum", "greater than"), ("maximum", "at most"),
    ("exclusiveMaximum", "less than"), ("multipleOf", "a multiple of"), ("minLength", "length at least"),
    ("maxLength", "length at most"), ("minItems", "number of elements at least"),
    ("maxItems", "number of elements at most"), ("minProperties", "number of members at least"),
    ("maxProperties", "number of members at most"),
  ]

  private static func elements(_ words: ValueDictionary) -> [Line] {
    let first = words["prefixItems"]?.asArray ?? []
    let lines = first.enumerated().map { "element \(Line(stringLiteral: String($0 + 1))): \(nested($1))" as Line }
    guard let items = words["items"] else { return lines }
    return lines + ["\(first.isEmpty ? "each element" : "each other element"): \(nested(items))"]
  }

  private static func members(_ words: ValueDictionary) -> [Line] {
    let properties = words["properties"]?.asDictionary ?? ValueDictionary()
    let required = (words["required"]?.asArray ?? []).compactMap(\.asString)
    var lines: [Line] = properties.map { member in
      let isRequired = required.contains { ExactString($0) == member.key }
      return "member \(code: member.key.text)\(isRequired ? " (required)" : ""): \(nested(member.value))"
    }
    for name in required where properties[ExactString(name)] == nil { lines.append("member \(code: name) (required)") }
    for member in words["patternProperties"]?.asDictionary ?? ValueDictionary() {
      lines.append("each member whose name matches \(code: member.key.text): \(nested(member.value))")
    }
    if let others = words["additionalProperties"] {
      lines.append("\(lines.isEmpty ? "each member" : "each other member"): \(nested(others))")
    }
    if let names = words["propertyNames"] { lines.append("name of each member: \(nested(names))") }
    return lines
  }

  /// A schema in another one.
  private static func nested(_ schema: Value) -> Line {
    guard let words = schema.asDictionary else { return schema == false ? "not allowed" : "any value" }
    let types = (words["type"]?.asArray ?? [words["type"]].compactMap(\.self)).compactMap(\.asString)
    let rules =
      lines(words) + (words["deprecated"] == true ? ["deprecated"] : []) + texts(words, "title", "description")
    let type: Line = types.isEmpty ? "any value" : "\(Line(stringLiteral: types.joined(separator: " or ")))"
    return rules.isEmpty ? type : "\(type) (\(Line.joined(rules, ", ")))"
  }

  /// The texts of some words that are not empty.
  static func texts(_ words: ValueDictionary, _ names: ExactString...) -> [Line] {
    names.compactMap { words[$0]?.asString }.map { "\(foreign: $0)" as Line }.filter { !$0.text.isEmpty }
  }

  /// A value as JSON, with invisible characters escaped.
  static func json(_ value: Value) -> String {
    DisplayText.json(value.json).escapingMarks { scalar in
      scalar.utf16.map { "\\u" + String.digits($0, 16, 4) }.joined()
    }
  }

  /// A value as JSON; a date, bytes and large integers as they are typed.
  static func shown(_ value: Value) -> String {
    switch value {
    case .uint(let number): String(number)
    case .date: value.text(as: .date)
    case .bytes: value.text(as: .bytes)
    default: json(value)
    }
  }
}
