// A module for Python: constants of `kept.Key`, the types of their values, and a function that declares them. It is
// formatted as ruff formats, which keeps what ends with a comma on lines of its own, but lines that are too long.

import Kept

struct PythonModule {
  private let schema: GeneratedSchema
  private var names: Names
  private var types: [String] = []
  private var keys: [String] = []
  private var usesLiteral = false
  private var usesNotRequired = false
  private var usesTypedDict = false

  static func text(of schema: GeneratedSchema) throws(StoreError) -> String {
    var module = PythonModule(schema)
    for key in schema.keys { try module.write(key) }
    return module.text
  }

  private init(_ schema: GeneratedSchema) {
    self.schema = schema
    let imported = ["Any", "Final", "Literal", "NotRequired", "TypedDict", "None", "True", "False"]
    names = Names(reserved: ["FINGERPRINT", "DECLARATIONS"] + imported)
  }

  private var text: String {
    let imported = [
      ("Any", keys.contains { $0.has("cast(Any") }), ("Final", true), ("Literal", usesLiteral),
      ("NotRequired", usesNotRequired), ("TypedDict", usesTypedDict),
      ("cast", keys.contains { $0.has("cast(Any") }),
    ].filter(\.1).map(\.0).joined(separator: ", ")
    var lines = [
      "\"\"\"\(GeneratedSchema.notice)\"\"\"", "", "# fmt: off", "# ruff: noqa",
      "from __future__ import annotations", "",
      "from typing import \(imported)", "", "import kept", "",
      "FINGERPRINT: Final = \(PythonLiteral.string(schema.fingerprint))",
      Self.docstring("Identifies the declarations, in every language for which they were generated."), "",
    ]
    lines.append(Self.constant("DECLARATIONS", PythonLiteral.parts(schema.json)))
    lines += [
      Self.docstring("The declarations of all keys, as JSON Schema."), "", "",
      "def declare(settings: kept.Settings) -> None:",
      "    " + Self.docstring("Declares all keys, all or none. Call it whenever the store has been opened.", "    "),
      "    settings.declare_list(DECLARATIONS)",
    ]
    for type in types { lines += ["", "", type] }
    if !keys.isEmpty { lines += ["", "", keys.joined(separator: "\n\n")] }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func docstring(_ text: String, _ indent: String = "") -> String { docstring([text], indent) }

  /// Paragraphs as the documentation of what is above it.
  private static func docstring(_ paragraphs: [String], _ indent: String = "") -> String {
    let safe = paragraphs.map { $0.replacing([("\\", "\\\\"), ("\"\"\"", "'\\''")]) }
    var lines = safe.map { CommentText.lines($0, width: 80 - indent.utf8.count) }.joined(separator: [""]) + []
    if lines[lines.count - 1].ends(with: "\"") { lines[lines.count - 1] += "." }
    let ending = lines.count == 1 ? "\"\"\"" : "\n\(indent)\"\"\""
    return "\"\"\"" + lines.joined(separator: "\n\(indent)").replacing([("\n\(indent)\n", "\n\n")]) + ending
  }

  /// A constant of adjacent texts: on one line, or in parentheses if they fit into lines of their own.
  private static func constant(_ name: String, _ parts: [String]) -> String {
    let line = "\(name): Final = \(parts[0])"
    if parts.count == 1, line.width <= 88 || parts[0].width > 84 { return line }
    return "\(name): Final = (\n" + parts.map { "    \($0)\n" }.joined() + ")"
  }

  // MARK: - Keys

  private mutating func write(_ key: GeneratedKey) throws(StoreError) {
    let name = key.words.beginsWithDigit ? "KEY_" + key.words.capitals : key.words.capitals
    try names.claim(name, for: key.key)
    let comment = Self.docstring(key.sentences)
    guard let type = try type(of: key.shape, key.words, key.key) else {
      keys.append(Self.constant(name, [PythonLiteral.string(key.key.text)]) + "\n" + comment)
      return
    }
    let isPlain = !type.has("[") && !isLiteral(key.shape)
    let optional = key.fallback == nil ? " | None" : ""
    var lines = ["\(name): Final[kept.Key[\(type)\(optional)]] = kept.Key("]
    lines.append("    \(PythonLiteral.string(key.key.text)),")
    lines.append("    \(isPlain ? type : "cast(Any, \(type))"),")
    let fallback = key.fallback.map { PythonLiteral.of($0, key.shape, "    ") } ?? "None"
    lines.append("    default=\(fallback),")
    lines += rules(of: key).map { "    \($0)," }
    keys.append((lines + [")", comment]).joined(separator: "\n"))
  }

  private func isLiteral(_ shape: Shape) -> Bool { if case .choices = shape { true } else { false } }

  private func rules(of key: GeneratedKey) -> [String] {
    let known = [
      ("enum", "choices"), ("const", "constant"), ("minimum", "minimum"), ("maximum", "maximum"),
      ("exclusiveMinimum", "exclusive_minimum"), ("exclusiveMaximum", "exclusive_maximum"),
      ("multipleOf", "multiple_of"), ("minLength", "min_length"), ("maxLength", "max_length"), ("pattern", "pattern"),
      ("minItems", "min_items"), ("maxItems", "max_items"), ("uniqueItems", "unique_items"),
      ("minProperties", "min_members"), ("maxProperties", "max_members"), ("format", "format"),
      ("deprecated", "deprecated"), ("replacedBy", "replaced_by"), ("renamedFrom", "renamed_from"), ("since", "since"),
      ("summary", "summary"), ("secret", "secret"),
    ]
    return known.compactMap { word, rule in
      guard let value = key.rules[ExactString(word)] else { return nil }
      if word == "enum" {
        guard !isLiteral(key.shape), let choices = value.asArray else { return nil }
        return "choices=\(PythonLiteral.list(choices.map { PythonLiteral.of($0, key.shape, "        ") }, "    "))"
      }
      return "\(rule)=\(PythonLiteral.of(value, word == "const" ? key.shape : .any, "    "))"
    }
  }

  // MARK: - Types

  /// The annotation of a type; nil for one that `kept.Key` does not have.
  private mutating func type(of shape: Shape, _ words: Words, _ key: KeyName) throws(StoreError) -> String? {
    switch shape {
    case .boolean: return "bool"
    case .integer: return "int"
    case .number: return "float"
    case .string: return "str"
    case .bytes: return "bytes"
    case .date: return "kept.Timestamp"
    case .any: return nil
    case .choices(let choices):
      usesLiteral = true
      let name = try claimType(words, key)
      let values = choices.values.map { PythonLiteral.of($0, .any, "    ") }
      // A subscript of one element would be joined to one line.
      let listed = values.count == 1 ? "[\(values[0])]" : PythonLiteral.list(values, "")
      types.append("\(name) = Literal\(listed)\n" + Self.docstring("The choices of `\(CommentText.of(key.text))`."))
      return name
    case .array(let element):
      guard let element = try type(of: element, words + Words(of: "element"), key) else { return nil }
      return "list[\(element)]"
    case .dictionary(let member):
      guard let member = try type(of: member, words + Words(of: "member"), key) else { return nil }
      return "dict[str, \(member)]"
    case .record(let members): return try record(members, words, key)
    }
  }

  private mutating func claimType(_ words: Words, _ key: KeyName) throws(StoreError) -> String {
    let title = words.beginsWithDigit ? "Key" + words.title : words.title
    // One word of one letter is equal to the constant.
    let name = title == words.capitals || names.has(title) ? title + "Value" : title
    try names.claim(name, for: key)
    return name
  }

  private mutating func record(_ members: [Shape.Member], _ words: Words, _ key: KeyName) throws(StoreError) -> String?
  {
    let name = try claimType(words, key)
    var fields: [(name: String, type: String)] = []
    for member in members {
      let inside = words + Words(of: member.name)
      guard let type = try type(of: member.shape, inside, key) else { return nil }
      if !member.isRequired { usesNotRequired = true }
      fields.append((member.name, member.isRequired ? type : "NotRequired[\(type)]"))
    }
    usesTypedDict = true
    let sentence = "The members of `\(CommentText.of(key.text))`."
    if fields.allSatisfy({ PythonLiteral.isIdentifier($0.name) }) {
      let lines = fields.map { "    \($0.name): \($0.type)" }
      let comment = Self.docstring(sentence, "    ")
      types.append((["class \(name)(TypedDict):", "    \(comment)", ""] + lines).joined(separator: "\n"))
    } else {
      let lines = fields.map { "        \(PythonLiteral.string($0.name)): \($0.type)," }
      let dictionary = ["\(name) = TypedDict(", "    \"\(name)\",", "    {"] + lines + ["    },", ")"]
      types.append((dictionary + [Self.docstring(sentence)]).joined(separator: "\n"))
    }
    return name
  }
}

/// Literals of Python.
enum PythonLiteral {
  /// - Parameter indent: the indentation of the line that the literal begins on.
  static func of(_ value: Value, _ shape: Shape, _ indent: String) -> String {
    switch shape.form(of: value) {
    case .null: return "None"
    case .bool(let value): return value ? "True" : "False"
    case .int(let value): return String(value)
    case .uint(let value): return String(value)
    case .double(let value): return value.isFinite ? "\(value)".replacing([("e+", "e")]) : "float(\"\(value)\")"
    case .string(let text): return string(text)
    case .bytes(let bytes): return "b\"" + bytes.map { "\\x" + String.digits($0, 16, 2) }.joined() + "\""
    case .date(let date): return "kept.Timestamp(\(date.seconds), \(date.nanoseconds))"
    case .array(let values):
      let element = if case .array(let element) = shape { element } else { Shape.any }
      return list(values.map { of($0, element, indent + "    ") }, indent)
    case .dictionary(let members):
      let listed = members.compactMap { member -> String? in
        guard let shape = shape.member(member.key.text) else { return nil }
        return "\(string(member.key.text)): \(of(member.value, shape, indent + "    "))"
      }
      return list(listed, indent, "{", "}")
    }
  }

  static func list(_ items: [String], _ indent: String, _ open: String = "[", _ close: String = "]") -> String {
    if items.isEmpty { return open + close }
    return open + "\n" + items.map { "\(indent)    \($0),\n" }.joined() + indent + close
  }

  static func string(_ text: String) -> String {
    let doubles = text.unicodeScalars.count { $0 == "\"" }
    let quote: Unicode.Scalar = doubles > text.unicodeScalars.count { $0 == "'" } ? "'" : "\""
    return "\(quote)" + text.unicodeScalars.map { escaped($0, quote) }.joined() + "\(quote)"
  }

  /// Adjacent literals of about a line each, which together are the text.
  static func parts(_ text: String) -> [String] {
    // ruff joins those that fit into one line.
    if string(text).width <= 84 { return [string(text)] }
    var (parts, part, count): ([String], String.UnicodeScalarView, Int) = ([], .init(), 0)
    for scalar in text.unicodeScalars {
      part.append(scalar)
      count += 1
      if scalar == "," && count >= 50 || count >= 70 {
        parts.append(string(String(part)))
        (part, count) = (.init(), 0)
      }
    }
    return part.isEmpty && !parts.isEmpty ? parts : parts + [string(String(part))]
  }

  private static func escaped(_ scalar: Unicode.Scalar, _ quote: Unicode.Scalar) -> String {
    switch scalar {
    case "\\": "\\\\"
    case quote: "\\\(quote)"
    case "\n": "\\n"
    case "\t": "\\t"
    case "\r": "\\r"
    case let scalar where scalar.isVisible: String(scalar)
    case let scalar where scalar.value < 0x100: "\\x" + String.digits(scalar.value, 16, 2)
    case let scalar where scalar.value < 0x10000: "\\u" + String.digits(scalar.value, 16, 4)
    default: "\\U" + String.digits(scalar.value, 16, 8)
    }
  }

  static func isIdentifier(_ name: String) -> Bool {
    guard let first = name.unicodeScalars.first, !("0"..."9" ~= first), !keywords.contains(ExactString(name)) else {
      return false
    }
    // Python would rename __a inside a class.
    return !name.utf8.starts(with: "__".utf8)
      && name.unicodeScalars.allSatisfy { $0 == "_" || "a"..."z" ~= $0 || "A"..."Z" ~= $0 || "0"..."9" ~= $0 }
  }

  private static let keywords: Set<ExactString> = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
    "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
  ]
}

extension Shape {
  /// The type of a member; nil if the type does not have it.
  func member(_ name: String) -> Shape? {
    switch self {
    case .dictionary(let member): member
    case .record(let members): members.first { ExactString($0.name) == ExactString(name) }?.shape
    default: .any
    }
  }
}

extension StringProtocol {
  /// The columns of a line, at most.
  fileprivate var width: Int { unicodeScalars.reduce(0) { $0 + ($1.isASCII ? 1 : 2) } }
}
