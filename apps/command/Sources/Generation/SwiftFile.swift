// A file for Swift: the keys in an extension of `Keys`, the types of their values, and a function that declares them.

import Kept

struct SwiftFile {
  private let schema: GeneratedSchema
  private let typeName: String
  private var names: Names
  private var types: [String] = []
  private var keys: [String] = []
  private var usesFoundation = false

  static func text(of schema: GeneratedSchema) throws(StoreError) -> String {
    var file = SwiftFile(schema)
    for key in schema.keys { try file.write(key) }
    return file.text
  }

  private init(_ schema: GeneratedSchema) {
    self.schema = schema
    typeName = schema.name.title + "Schema"
    names = Names(reserved: [typeName] + SwiftName.libraryTypes)
  }

  private var text: String {
    var lines = ["// \(GeneratedSchema.notice)", "// swift-format-ignore-file", "", "import Kept", ""]
    if usesFoundation {
      lines += [
        "#if canImport(FoundationEssentials)", "  import FoundationEssentials", "#else", "  import Foundation",
        "#endif", "",
      ]
    }
    if !keys.isEmpty { lines += ["extension Keys {", keys.joined(separator: "\n\n"), "}", ""] }
    if !types.isEmpty { lines += ["extension Keys {", types.joined(separator: "\n\n"), "}", ""] }
    lines += [
      "/// The declarations of all keys.", "enum \(typeName) {",
      "  /// Identifies the declarations, in every language for which they were generated.",
      "  static let fingerprint = \(SwiftLiteral.string(schema.fingerprint))", "",
      "  /// Declares all keys, all or none; returns the stored values that do not fit.", "  ///",
      "  /// Call it whenever the store has been opened.",
      "  @discardableResult",
      "  static func declare(in store: some SettingsAccess) throws(StoreError) -> [StoreError] {",
      "    try store.declare(listJSON: json)", "  }", "", "  /// The declarations, as JSON Schema.",
      "  static let json = \"\"\"",
    ]
    let parts = SwiftLiteral.parts(schema.json)
    lines += parts.enumerated().map { "    \($1)\($0 + 1 < parts.count ? "\\" : "")" }
    return (lines + ["    \"\"\"", "}"]).joined(separator: "\n") + "\n"
  }

  // MARK: - Keys

  private mutating func write(_ key: GeneratedKey) throws(StoreError) {
    let name = SwiftName.of(key.words.beginsWithDigit ? Words(of: "key") + key.words : key.words, or: "Key")
    try names.claim(name, for: key.key)
    let type = try type(of: key.shape, key.words, key.key, isMember: false)
    // An optional reads its default from the declaration.
    let fallback = key.fallback.flatMap { SwiftLiteral.of($0, key.shape, type) }
    var arguments = [SwiftLiteral.string(key.key.text)]
    if let fallback { arguments.append("default: \(fallback)") }
    arguments += SwiftConstraints.of(key.rules, key.shape)
    if let summary = key.summary { arguments.append("summary: \(SwiftLiteral.string(summary))") }
    if key.isSecret { arguments.append("secret: true") }
    let opening = "  static let \(name) = Key<\(type)\(fallback == nil ? "?" : "")>("
    var lines = key.sentences.map { Self.comment($0, "  ") }.joined(separator: ["  ///"]) + []
    if let message = key.deprecation {
      lines.append("  @available(*, deprecated, message: \(SwiftLiteral.string(message)))")
    }
    let line = opening + arguments.joined(separator: ", ") + ")"
    if line.unicodeScalars.count <= 100 {
      lines.append(line)
    } else {
      lines.append(opening)
      lines += arguments.enumerated().map { "    \($1)\($0 + 1 < arguments.count ? "," : ")")" }
    }
    keys.append(lines.joined(separator: "\n"))
  }

  private static func comment(_ text: String, _ indent: String) -> [String] {
    CommentText.lines(text, width: 94).map { "\(indent)/// \($0)" }
  }

  // MARK: - Types

  private mutating func type(
    of shape: Shape, _ words: Words, _ key: KeyName, isMember: Bool
  ) throws(StoreError) -> String {
    switch shape {
    case .boolean: return "Bool"
    case .integer(let isUnsigned): return isUnsigned ? "UInt64" : "Int"
    case .number: return "Double"
    case .string: return "String"
    case .bytes:
      usesFoundation = true
      return "Data"
    case .date:
      // A Timestamp is exact, but not Codable.
      if isMember { usesFoundation = true }
      return isMember ? "Date" : "Timestamp"
    case .any: return "Value"
    case .choices(let choices): return try choice(choices, words, key)
    case .array(let element):
      return "[" + (try type(of: element, words + Words(of: "element"), key, isMember: isMember)) + "]"
    case .dictionary(let member):
      let type = try type(of: member, words + Words(of: "member"), key, isMember: isMember)
      return "[String" + ": \(type)]"
    case .record(let members): return try record(members, words, key)
    }
  }

  private mutating func claimType(_ words: Words, _ key: KeyName) throws(StoreError) -> String {
    let title = words.beginsWithDigit ? "Key" + words.title : words.title
    let name = names.has(title) ? title + "Value" : title
    try names.claim(name, for: key)
    return name
  }

  private mutating func choice(
    _ choices: Shape.Choices, _ words: Words, _ key: KeyName
  ) throws(StoreError) -> String {
    let name = try claimType(words, key)
    var lines = Self.comment("The choices of `\(CommentText.of(key.text))`.", "  ")
    let raw = choices.areTexts ? "String" : "Int"
    lines.append("  enum \(name): \(raw), Codable, CaseIterable, Sendable, Storable {")
    do throws(StoreError) {
      for (words, value) in try choices.named() {
        lines.append("    case \(SwiftLiteral.assigned(value, to: SwiftName.of(words, or: "Choice")))")
      }
    } catch { throw error.naming(key) }
    types.append((lines + ["  }"]).joined(separator: "\n"))
    return name
  }

  private mutating func record(
    _ members: [Shape.Member], _ words: Words, _ key: KeyName
  ) throws(StoreError) -> String {
    let name = try claimType(words, key)
    var lines = Self.comment("The members of `\(CommentText.of(key.text))`.", "  ")
    lines.append("  struct \(name): Codable, Hashable, Sendable, Storable {")
    let listed = try SwiftName.members(members, key)
    for (member, property) in zip(members, listed) {
      let type = try type(of: member.shape, words + Words(of: member.name), key, isMember: true)
      lines.append("    var \(property): \(type)\(member.isRequired ? "" : "?")")
    }
    lines += ["", "    private enum CodingKeys: String, CodingKey {"]
    for (member, property) in zip(members, listed) {
      lines.append("      case \(SwiftLiteral.assigned(.string(member.name), to: property))")
    }
    types.append((lines + ["    }", "  }"]).joined(separator: "\n"))
    return name
  }
}

/// Identifiers of Swift.
enum SwiftName {
  /// The name in camel case; with backticks for a keyword, and longer for what backticks do not allow.
  static func of(_ words: Words, or suffix: String) -> String {
    let name = words.camel
    if impossible.contains(ExactString(name)) { return name + suffix }
    return keywords.contains(ExactString(name)) ? "`\(name)`" : name
  }

  /// The properties of a record.
  static func members(_ members: [Shape.Member], _ key: KeyName) throws(StoreError) -> [String] {
    var (names, seen): ([String], Set<ExactString>) = ([], [])
    for member in members {
      var words = Words(of: member.name)
      if words.isEmpty { words = Words(of: "member" + member.name.unicodeScalars.map { "u\($0.value)" }.joined()) }
      let name = of(words.beginsWithDigit ? Words(of: "member") + words : words, or: "Member")
      guard seen.insert(ExactString(name)).inserted else {
        throw StoreError(
          .invalid, key: key.text,
          "has two members that become the name \(name), one of them \"\(CommentText.of(member.name))\"; rename "
            + "one of them"
        )
      }
      names.append(name)
    }
    return names
  }

  /// Types that the generated code uses, or that others would expect under this name.
  static let libraryTypes = [
    "Any", "AnyObject", "Array", "Bool", "CaseIterable", "Codable", "CodingKey", "CodingKeys", "Constraint", "Data",
    "Date", "Dictionary", "Double", "Error", "Hashable", "Int", "Key", "Keys", "Kept", "Never", "Optional", "Protocol",
    "Self", "Sendable", "SettingsAccess", "Storable", "Store", "StoreError", "String", "Timestamp", "Type", "UInt64",
    "Value", "Void",
  ]

  /// Also names that the compiler, or a protocol, gives a type or a value.
  private static let impossible: Set<ExactString> = [
    "self", "init", "type", "protocol", "allCases", "schema", "stored", "hash", "hashValue", "rawValue", "encode",
    "none", "some",
  ]

  private static let keywords: Set<ExactString> = [
    "actor", "any", "as", "associatedtype", "await", "break", "case", "catch", "class", "continue", "default", "defer",
    "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if",
    "import", "in", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "public",
    "repeat", "rethrows", "return", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true",
    "try", "typealias", "var", "where", "while",
  ]
}

/// Literals of Swift.
enum SwiftLiteral {
  /// A literal of a type; nil if each could fail.
  static func of(_ value: Value, _ shape: Shape, _ type: String) -> String? {
    switch (shape, shape.form(of: value)) {
    case (.boolean, .bool(let value)): return value ? "true" : "false"
    case (.integer, .int(let value)): return integer(value)
    case (.integer, .uint(let value)): return integer(value)
    case (.number, .double(let value)): return double(value)
    case (.string, .string(let text)): return string(text)
    case (.bytes, .bytes(let bytes)): return "Data([\(bytes.map(String.init).joined(separator: ", "))])"
    case (.choices(let choices), let value):
      guard let (words, _) = (try? choices.named())?.first(where: { $0.value == value }) else { return nil }
      return ".\(SwiftName.of(words, or: "Choice"))"
    case (.array(let element), .array(let values)):
      let literals = values.compactMap { of($0, element, "") }
      return literals.count == values.count ? "[\(literals.joined(separator: ", "))]" : nil
    case (.dictionary(let shape), .dictionary(let members)):
      let literals = members.compactMap { member in
        of(member.value, shape, "").map { "\(string(member.key.text)): \($0)" }
      }
      guard literals.count == members.count else { return nil }
      return literals.isEmpty ? "[:]" : "[\(literals.joined(separator: ", "))]"
    case (.record(let shapes), .dictionary(let members)):
      guard let names = try? SwiftName.members(shapes, KeyName("record")) else { return nil }
      var arguments: [String] = []
      for (shape, name) in zip(shapes, names) {
        guard let value = members[ExactString(shape.name)] else { continue }
        guard let literal = of(value, shape.shape, "") else { return nil }
        arguments.append("\(name): \(literal)")
      }
      return ".init(\(arguments.joined(separator: ", ")))"
    default: return nil
    }
  }

  /// A case with its raw value, unless that is its name.
  static func assigned(_ value: Value, to name: String) -> String {
    guard let text = value.asString else { return "\(name) = \(integer(value.asInt64 ?? 0))" }
    return text == name || "`\(text)`" == name ? name : "\(name) = \(string(text))"
  }

  /// From seven digits on, in groups of three.
  static func integer(_ value: some BinaryInteger) -> String {
    let digits = Array(String(value).utf8)
    let first = value < 0 ? 1 : 0
    guard digits.count - first >= 7 else { return String(value) }
    return digits.enumerated().map { index, digit in
      let isGroup = index > first && (digits.count - index).isMultiple(of: 3)
      return (isGroup ? "_" : "") + String(UnicodeScalar(digit))
    }.joined()
  }

  private static func double(_ value: Double) -> String {
    if value.isNaN { return ".nan" }
    return value.isInfinite ? (value < 0 ? "-.infinity" : ".infinity") : "\(value)"
  }

  static func string(_ text: String) -> String { "\"\(text.unicodeScalars.map { escaped($0) }.joined())\"" }

  /// The lines of a literal of several lines, which together are one.
  static func parts(_ text: String) -> [String] {
    var (parts, part, count) = ([String](), "", 0)
    for scalar in text.unicodeScalars {
      part += escaped(scalar, inLines: true)
      count += 1
      if scalar == "," && count >= 60 || count >= 80 {
        parts.append(part)
        (part, count) = ("", 0)
      }
    }
    return part.isEmpty && !parts.isEmpty ? parts : parts + [part]
  }

  private static func escaped(_ scalar: Unicode.Scalar, inLines: Bool = false) -> String {
    switch scalar {
    case "\\": "\\\\"
    case "\"": inLines ? "\"" : "\\\""
    case "\n": "\\n"
    case "\t": "\\t"
    case let scalar where scalar.isVisible: String(scalar)
    default: "\\u{\(String(scalar.value, radix: 16))}"
    }
  }
}

/// The rules of a declaration as constraints of a `Key`.
///
/// What they do not have, such as rules for the members of an object, is in the declarations alone.
enum SwiftConstraints {
  static func of(_ rules: ValueDictionary, _ shape: Shape) -> [String] {
    var constraints: [String] = []
    switch shape {
    case .integer, .number: constraints += numbers(rules, shape)
    case .string:
      constraints += range(rules, "minLength", "maxLength", "length")
      if let pattern = rules["pattern"]?.asString { constraints.append(".pattern(\(SwiftLiteral.string(pattern)))") }
    case .bytes: constraints += range(rules, "minLength", "maxLength", "length")
    case .array(let element):
      constraints += range(rules, "minItems", "maxItems", "count")
      if rules["uniqueItems"] == true { constraints.append(".uniqueElements()") }
      constraints += each(rules["items"], element)
    case .dictionary(let member):
      constraints += range(rules, "minProperties", "maxProperties", "count")
      constraints += each(rules["additionalProperties"], member)
    default: break
    }
    switch shape {
    case .boolean, .integer, .number, .string, .bytes:
      let choices = (rules["enum"]?.asArray ?? []).map { SwiftLiteral.of($0, shape, "") }
      if !choices.isEmpty, !choices.contains(nil) {
        constraints.append(".choices([\(choices.compactMap(\.self).joined(separator: ", "))])")
      }
      if let constant = rules["const"].flatMap({ SwiftLiteral.of($0, shape, "") }) {
        constraints.append(".constant(\(constant))")
      }
    default: break
    }
    if let format = rules["format"]?.asString { constraints.append(".format(\(SwiftLiteral.string(format)))") }
    if rules["deprecated"] == true { constraints.append(".deprecated") }
    for word in ["replacedBy", "renamedFrom", "since"] {
      if let text = rules[ExactString(word)]?.asString { constraints.append(".\(word)(\(SwiftLiteral.string(text)))") }
    }
    return constraints
  }

  private static func numbers(_ rules: ValueDictionary, _ shape: Shape) -> [String] {
    func bound(_ word: ExactString) -> String? { rules[word].flatMap { literal($0, shape) } }
    var constraints: [String] = []
    let (least, most) = (bound("minimum"), bound("maximum"))
    if let least, let most {
      // Without parentheses, the sign would belong to the dots.
      constraints.append(".range(\(least)...\(most.utf8.first == UInt8(ascii: "-") ? "(\(most))" : most))")
    } else {
      constraints += [least.map { ".minimum(\($0))" }, most.map { ".maximum(\($0))" }].compactMap(\.self)
    }
    for word in ["exclusiveMinimum", "exclusiveMaximum", "multipleOf"] {
      if let bound = bound(ExactString(word)) { constraints.append(".\(word)(\(bound))") }
    }
    return constraints
  }

  /// A bound; nil if the key's type does not have it.
  private static func literal(_ value: Value, _ shape: Shape) -> String? {
    switch (shape, shape.form(of: value)) {
    case (.integer(let isUnsigned), .int(let value)): isUnsigned && value < 0 ? nil : SwiftLiteral.integer(value)
    case (.integer(isUnsigned: true), .uint(let value)): SwiftLiteral.integer(value)
    case (.number, .double(let value)): "\(value)"
    default: nil
    }
  }

  private static func range(
    _ rules: ValueDictionary, _ least: ExactString, _ most: ExactString, _ name: String
  ) -> [String] {
    let (least, most) = (rules[least]?.asInt64, rules[most]?.asInt64)
    guard least != nil || most != nil else { return [] }
    return [".\(name)(\(SwiftLiteral.integer(least ?? 0))...\(most.map(SwiftLiteral.integer) ?? "Int.max"))"]
  }

  private static func each(_ schema: Value?, _ shape: Shape) -> [String] {
    let inside = schema?.asDictionary.map { of($0, shape) } ?? []
    return inside.isEmpty ? [] : [".each(\(inside.joined(separator: ", ")))"]
  }
}
