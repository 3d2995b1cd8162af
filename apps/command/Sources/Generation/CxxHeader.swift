// A header for C++17 on kept.hpp: a typed key for each key, an enumeration for choices, and constants for rules.

import Kept

struct CxxHeader {
  private let schema: GeneratedSchema
  /// Not the bare name, which may be a function of the C library.
  private let space: String
  private var names: Names
  private var choices: [String] = []
  private var codecs: [String] = []
  private var keys: [String] = []

  static func text(of schema: GeneratedSchema) throws(StoreError) -> String {
    var header = CxxHeader(schema)
    for key in schema.keys { try header.write(key) }
    return header.text
  }

  private init(_ schema: GeneratedSchema) {
    self.schema = schema
    space = "\(schema.name.snake)_keys"
    names = Names(reserved: ["declare", "fingerprint"])
  }

  private var text: String {
    let guardName = "\(schema.name.capitals)_GENERATED_HPP"
    var lines = [
      "// clang-format off", "// \(GeneratedSchema.notice)", "//",
      "// Read and write a key with get() and set() of a kept::store, a transaction or a snapshot.",
      "#ifndef \(guardName)", "#define \(guardName)", "", "#include <cmath>", "#include <kept.hpp>", "",
    ]
    if !choices.isEmpty {
      lines += ["namespace \(space) {"] + choices + ["", "}  // namespace \(space)", ""] + codecs
    }
    lines += ["namespace \(space) {"] + keys
    lines += Self.comment(["Identifies the declarations, in every language for which they were generated."])
    lines += ["inline constexpr const char *fingerprint = \(CLiteral.string(schema.fingerprint));"]
    lines += Self.comment([
      "Declares all keys, all or none. Returns KEPT_OK, or KEPT_MISFIT if a stored value does not fit. Call it "
        + "whenever the store has been opened: repeating it changes nothing."
    ])
    lines += ["inline kept_status declare(kept::writer &store) {", "  return store.declare_list("]
    lines.append(CLiteral.string(schema.json, width: 110).map { "      \($0)" }.joined(separator: "\n") + ");")
    return (lines + ["}", "", "}  // namespace \(space)", "", "#endif"]).joined(separator: "\n") + "\n"
  }

  // MARK: - Keys

  private mutating func write(_ key: GeneratedKey) throws(StoreError) {
    let name = CxxName.of(key.words)
    try names.claim(name, for: key.key)
    let type = try type(of: key)
    try writeConstants(of: key, type)
    let fallback = key.fallback.flatMap { literal(of: key.shape.form(of: $0), key) }
    keys += Self.comment(key.sentences)
    let opening = "inline const kept::key<\(fallback == nil ? "std::optional<\(type)>" : type)> \(name){"
    let rest = "\(CLiteral.string(key.key.text))\(fallback.map { ", \($0)" } ?? "")};"
    keys += opening.utf8.count + rest.utf8.count <= 80 ? [opening + rest] : [opening, "    " + rest]
  }

  private mutating func type(of key: GeneratedKey) throws(StoreError) -> String {
    switch key.shape {
    case .boolean: return "bool"
    case .integer(let isUnsigned): return isUnsigned ? "std::uint64_t" : "std::int64_t"
    case .number: return "double"
    case .string: return "std::string"
    case .bytes: return "kept::bytes"
    case .date: return "kept::date"
    case .choices(let choices): return try writeChoices(choices, of: key)
    case .array, .dictionary, .record, .any: return "kept::json"
    }
  }

  private func literal(of value: Value, _ key: GeneratedKey) -> String? {
    switch (key.shape, value) {
    case (.choices(let choices), _):
      let named = try? choices.named()
      return named?.first { $0.value == value }.map { "\(Self.type(of: key))::\(CxxName.of($0.words))" }
    case (.array, _), (.dictionary, _), (.record, _), (.any, _): return "kept::json{\(CLiteral.string(value.json))}"
    case (_, .string(let text)): return Self.string(text)
    case (_, .bytes(let bytes)):
      let listed = bytes.map { "std::byte{\($0)}" }.joined(separator: ", ")
      return "kept::bytes{\(listed)}"
    case (_, .date(let date)): return "kept::date{\(CLiteral.integer(date.seconds)), \(date.nanoseconds)}"
    default: return CLiteral.of(value, key.shape)
    }
  }

  /// With its length, because it may contain a NUL.
  private static func string(_ text: String) -> String {
    "std::string(\(CLiteral.string(text)), \(text.utf8.count))"
  }

  // MARK: - Choices

  private static func type(of key: GeneratedKey) -> String { "\(CxxName.plain(key.words))_choice" }

  private mutating func writeChoices(_ choices: Shape.Choices, of key: GeneratedKey) throws(StoreError) -> String {
    let type = Self.type(of: key)
    try names.claim(type, for: key.key)
    let named: [(words: Words, value: Value)]
    do throws(StoreError) { named = try choices.named() } catch { throw error.naming(key.key) }
    self.choices += Self.comment(["The choices of `\(CommentText.of(key.key.text))`."])
    self.choices.append("enum class \(type)\(choices.areTexts ? "" : " : std::int64_t") {")
    let stored = choices.areTexts ? "std::string" : "std::int64_t"
    let full = "\(space)::\(type)"
    var (encoding, decoding): ([String], [String]) = ([], [])
    for (words, value) in named {
      let name = CxxName.of(words)
      let number = CLiteral.integer(value.asInt64 ?? 0)
      self.choices.append("  \(name)\(choices.areTexts ? "" : " = \(number)"),")
      let literal = choices.areTexts ? Self.string(value.asString ?? "") : number
      encoding.append("      case \(full)::\(name): return \(literal);")
      decoding.append("    if (stored_value == \(literal)) return \(full)::\(name);")
    }
    self.choices.append("};")
    codecs +=
      [
        "template <>", "struct kept::codec<\(full)> {", "  using stored = \(stored);",
        "  static stored encode(\(full) value) {", "    switch (value) {",
      ] + encoding + [
        "    }", "    throw kept::error(KEPT_INVALID, \"the number is not one of the choices\");", "  }",
        "  static std::optional<\(full)> decode(const stored &stored_value) {",
      ] + decoding + ["    return std::nullopt;", "  }", "};", ""]
    return type
  }

  // MARK: - Constants

  private mutating func writeConstants(of key: GeneratedKey, _ type: String) throws(StoreError) {
    for word in GeneratedKey.bounds {
      let value = key.rules[ExactString(word)].map(key.shape.form)
      guard let value, let literal = CLiteral.of(value, key.shape) else { continue }
      let name = "\(CxxName.plain(key.words))_\(Words(of: word).snake)"
      try names.claim(name, for: key.key)
      keys.append("inline constexpr auto \(name) = \(literal);")
    }
  }

  private static func comment(_ sentences: [String]) -> [String] {
    // A backslash at the end of a line would continue the comment.
    [""]
      + CommentText.lines(sentences.joined(separator: " "), width: 112).map {
        "/// \($0.replacing([("??", "? ?")]))" + ($0.ends(with: "\\") ? "." : "")
      }
  }
}

/// Identifiers of C++.
enum CxxName {
  /// The name in snake case, longer for what begins with a digit, to be the beginning of a name.
  static func plain(_ words: Words) -> String { words.beginsWithDigit ? "key_\(words.snake)" : words.snake }

  /// The same, and longer for what is a keyword or a macro.
  static func of(_ words: Words) -> String {
    let name = plain(words)
    return taken.contains(ExactString(name)) ? name + "_" : name
  }

  /// The keywords, and the macros of compilers and of the C library that are written like names.
  private static let taken: Set<ExactString> = [
    "alignas", "alignof", "and", "and_eq", "asm", "assert", "atomic_cancel", "atomic_commit", "atomic_noexcept", "auto",
    "bitand", "bitor", "bool", "break", "case", "catch", "char", "char16_t", "char32_t", "char8_t", "class", "co_await",
    "co_return", "co_yield", "compl", "concept", "const", "const_cast", "consteval", "constexpr", "constinit",
    "continue", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "errno", "explicit",
    "export", "extern", "false", "float", "for", "friend", "goto", "i386", "if", "inline", "int", "linux", "long",
    "math_errhandling", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "offsetof", "operator",
    "or", "or_eq", "private", "protected", "public", "reflexpr", "register", "reinterpret_cast", "requires", "return",
    "short", "signed", "sizeof", "static", "static_assert", "static_cast", "stderr", "stdin", "stdout", "struct",
    "switch", "synchronized", "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid",
    "typename", "union", "unix", "unsigned", "using", "va_arg", "va_copy", "va_end", "va_start", "virtual", "void",
    "volatile", "wchar_t", "while", "xor", "xor_eq",
  ]
}
