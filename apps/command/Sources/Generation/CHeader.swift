// A header for C99 and C++: for each key a prepared key, a getter, a setter, and constants for its rules.

import Kept

struct CHeader {
  private let schema: GeneratedSchema
  private let prefix: String
  private let capitals: String
  private var names: Names
  private var lines: [String] = []

  static func text(of schema: GeneratedSchema) throws(StoreError) -> String {
    guard !schema.name.snake.utf8.starts(with: "kept".utf8) else {
      throw StoreError(.invalid, "names that begin with kept are the library's; choose another prefix with --name")
    }
    var header = CHeader(schema)
    header.writeOpening()
    for key in schema.keys { try header.write(key) }
    header.lines += ["", "#endif"]
    return header.lines.joined(separator: "\n") + "\n"
  }

  private init(_ schema: GeneratedSchema) {
    self.schema = schema
    (prefix, capitals) = (schema.name.snake, schema.name.capitals)
    let own = ["declare", "ready_", "absent_", "copy_", "choice_", "refuse_", "text_", "read_"]
      .map { "\(schema.name.snake)_\($0)" }
    let macros = ["FINGERPRINT", "GENERATED_H", "DEPRECATED_"].map { "\(schema.name.capitals)_\($0)" }
    names = Names(reserved: own + macros)
  }

  private var errorParameter: String { "kept_error *error" }

  // MARK: - The file's own parts

  private mutating func writeOpening() {
    lines += [
      "/* clang-format off */", "/* \(GeneratedSchema.notice)", " *",
      " * Each key has a getter and a setter, which return what kept_get_… and kept_set_… return. A getter of a key",
      " * with a default gives the default, and KEPT_OK, if the key is absent. `store` may also be a transaction or a",
      " * snapshot. */",
      "#ifndef \(capitals)_GENERATED_H", "#define \(capitals)_GENERATED_H", "",
      "#include <kept.h>",
    ]
    if schema.keys.contains(where: { $0.fallback?.isFinite == false }) { lines.append("#include <math.h>") }
    lines.append("#include <string.h>")
    comment(["Identifies the declarations, in every language for which they were generated."])
    define("FINGERPRINT", CLiteral.string(schema.fingerprint))
    comment([
      "Declares all keys, all or none, and returns what kept_declare_list() returns.",
      "Call it whenever the store has been opened: repeating it changes nothing.",
    ])
    let text = CLiteral.string(schema.json, width: 110).map { "  \($0)" }.joined(separator: "\n  ")
    function(
      "kept_status", "declare", ["kept_store *store", errorParameter],
      ["return kept_declare_list(store,", "\(text),", "  error);"])
    lines.append("")
    lines.append("/* What the functions below share. */")
    function(
      "const kept_key *", "ready_", ["const kept_key **key", "const char *name"],
      [
        "const kept_key *ready = __atomic_load_n(key, __ATOMIC_ACQUIRE);",
        "if (ready == NULL && kept_key_prepare(name, &ready, NULL) == KEPT_OK) "
          + "__atomic_store_n(key, ready, __ATOMIC_RELEASE);",
        "return ready;",
      ])
    function(
      "kept_status", "absent_", [errorParameter],
      [
        "if (error != NULL) {", "  error->status = KEPT_OK;", "  error->reserved = 0;", "  error->offset = -1;",
        "  error->message[0] = 0;", "}", "return KEPT_OK;",
      ])
    function(
      "kept_status", "copy_",
      [
        "const char *text", "size_t size", "size_t end", "char *buffer", "size_t capacity", "size_t *length",
        errorParameter,
      ],
      [
        "if (length != NULL) *length = size;",
        "if (capacity < size + end) {",
        "  (void)\(prefix)_absent_(error);",
        "  if (error != NULL) error->status = KEPT_TOO_LARGE;",
        "  return KEPT_TOO_LARGE;", "}",
        "if (buffer != NULL) memcpy(buffer, text, size + end);", "return \(prefix)_absent_(error);",
      ])
    if schema.keys.contains(where: \.hasNamedTexts) { writeChoiceHelpers() }
    if schema.keys.contains(where: { $0.deprecation != nil }) {
      lines += [
        "#if defined(__GNUC__)",
        "#define \(capitals)_DEPRECATED_(message) __attribute__((deprecated(message)))", "#else",
        "#define \(capitals)_DEPRECATED_(message)", "#endif",
      ]
    }
  }

  private mutating func writeChoiceHelpers() {
    let choices = ["const \(prefix)_choice_ *choices", "size_t count"]
    lines += ["typedef struct \(prefix)_choice_ {", "  const char *text;", "  size_t length;", "} \(prefix)_choice_;"]
    function(
      "kept_status", "refuse_", ["const char *message", errorParameter],
      [
        "if (error != NULL) {", "  (void)\(prefix)_absent_(error);", "  error->status = KEPT_INVALID;",
        "  memcpy(error->message, message, strlen(message) + 1);", "}", "return KEPT_INVALID;",
      ])
    function(
      "const char *", "text_", choices + ["size_t index", "size_t *length"],
      [
        "if (index >= count) return NULL;", "if (length != NULL) *length = choices[index].length;",
        "return choices[index].text;",
      ])
    function(
      "kept_status", "read_",
      ["kept_store *store", "const kept_key *key"] + choices
        + ["char *buffer", "size_t capacity", "size_t *index", errorParameter],
      [
        "size_t length = 0, each = 0;",
        "kept_status status = kept_key_get_string(store, key, buffer, capacity, &length, error);",
        "if (status < 0 && status != KEPT_TOO_LARGE) return status;",
        "for (each = 0; status == KEPT_OK && each < count; each++) {",
        "  if (choices[each].length == length && memcmp(choices[each].text, buffer, length) == 0) {",
        "    *index = each;", "    return KEPT_OK;", "  }", "}",
        "return \(prefix)_refuse_(\"the stored text is not one of the choices\", error);",
      ])
  }

  // MARK: - Keys

  private mutating func write(_ key: GeneratedKey) throws(StoreError) {
    let name = key.words.snake
    for part in ["key", "get", "set"] { try names.claim("\(prefix)_\(part)_\(name)", for: key.key) }
    try writeConstants(of: key)
    switch key.shape {
    case .boolean: writeScalar(key, "bool", "bool")
    case .integer(let isUnsigned):
      writeScalar(key, isUnsigned ? "uint64_t" : "int64_t", isUnsigned ? "uint64" : "int64")
    case .number: writeScalar(key, "double", "double")
    case .string: writeBuffer(key, "string", "char")
    case .bytes: writeBuffer(key, "bytes", "void")
    case .date: writeDate(key)
    case .choices(let choices) where choices.areTexts: try writeChoices(key, choices)
    case .choices: writeScalar(key, "int64_t", "int64")
    case .array, .dictionary, .record, .any: writeJSON(key)
    }
  }

  /// What the getter reads through: a prepared key, which is looked up once.
  private mutating func writeKey(_ key: GeneratedKey) {
    let name = key.words.snake
    comment(key.sentences)
    function(
      "const kept_key *", "key_\(name)", [],
      ["static const kept_key *key;", "return \(prefix)_ready_(&key, \(CLiteral.string(key.key.text)));"])
  }

  private mutating func writeScalar(_ key: GeneratedKey, _ type: String, _ kind: String) {
    let name = key.words.snake
    writeKey(key)
    // There is no prepared read of an unsigned integer.
    let read =
      kind == "uint64"
      ? "kept_get_uint64(store, \(CLiteral.string(key.key.text)), value, error)"
      : "kept_key_get_\(kind)(store, \(prefix)_key_\(name)(), value, error)"
    getter(key, ["\(type) *value"], read, fallback: ["*value = \(constant(key, "DEFAULT"));"])
    setter(key, ["\(type) value"], "kept_set_\(kind)(store, \(CLiteral.string(key.key.text)), value, error)")
  }

  private mutating func writeBuffer(_ key: GeneratedKey, _ kind: String, _ type: String) {
    let (name, text) = (key.words.snake, CLiteral.string(key.key.text))
    writeKey(key)
    let read =
      kind == "bytes"
      ? "kept_get_bytes(store, \(text), buffer, capacity, length, error)"
      : "kept_key_get_string(store, \(prefix)_key_\(name)(), buffer, capacity, length, error)"
    let fallback = constant(key, "DEFAULT")
    let buffer = kind == "bytes" ? "(char *)buffer" : "buffer"
    let copy =
      "return \(prefix)_copy_(\(fallback), sizeof(\(fallback)) - 1, \(kind == "bytes" ? 0 : 1), \(buffer), capacity, "
      + "length, error);"
    getter(key, ["\(type) *buffer", "size_t capacity", "size_t *length"], read, fallback: [copy], returns: true)
    setter(
      key, ["const \(type) *\(kind == "bytes" ? "bytes" : "text")", "size_t length"],
      "kept_set_\(kind)(store, \(text), \(kind == "bytes" ? "bytes" : "text"), length, error)")
  }

  private mutating func writeDate(_ key: GeneratedKey) {
    let text = CLiteral.string(key.key.text)
    writeKey(key)
    getter(
      key, ["int64_t *seconds", "int32_t *nanoseconds"], "kept_get_date(store, \(text), seconds, nanoseconds, error)",
      fallback: [
        "*seconds = \(constant(key, "DEFAULT_SECONDS"));",
        "*nanoseconds = \(constant(key, "DEFAULT_NANOSECONDS"));",
      ])
    setter(
      key, ["int64_t seconds", "int32_t nanoseconds"], "kept_set_date(store, \(text), seconds, nanoseconds, error)")
  }

  private mutating func writeJSON(_ key: GeneratedKey) {
    let text = CLiteral.string(key.key.text)
    writeKey(key)
    comment([
      "Reads the value as JSON, which kept_free() frees. KEPT_ABSENT if neither it nor its default is in the store."
    ])
    function(
      "kept_status", "get_\(key.words.snake)", ["kept_store *store", "char **json", errorParameter],
      ["return kept_get_json(store, \(text), json, error);"], of: key)
    setter(key, ["const char *json"], "kept_set_json(store, \(text), json, error)")
  }

  private mutating func writeChoices(_ key: GeneratedKey, _ choices: Shape.Choices) throws(StoreError) {
    let name = key.words.snake
    let type = "\(prefix)_\(name)"
    for each in [type, "\(type)_text", "\(type)_choices_"] { try names.claim(each, for: key.key) }
    var listed: [(name: String, text: String)] = []
    do throws(StoreError) {
      for (words, value) in try choices.named() {
        listed.append(("\(capitals)_\(key.words.capitals)_\(words.capitals)", value.asString ?? ""))
      }
    } catch { throw error.naming(key.key) }
    for choice in listed { try names.claim(choice.name, for: key.key) }
    comment(["The choices of `\(CommentText.of(key.key.text))`."])
    lines.append("typedef enum \(type) {")
    let cases = listed.enumerated().map { "\($1.name) = \($0)\($0 + 1 < listed.count ? "," : "")" }
    let width = cases.map(\.utf8.count).filter { $0 <= 80 }.max() ?? 0
    for (each, choice) in zip(cases, listed) {
      let space = String(repeating: " ", count: max(0, width - each.utf8.count))
      lines.append("  \(each)\(space) /**< \(key.isSecret ? "a secret" : shown(choice.text)) */")
    }
    lines.append("} \(type);")
    function(
      "const \(prefix)_choice_ *", "\(name)_choices_", [],
      ["static const \(prefix)_choice_ choices[] = {"]
        + listed.map { "  { \(CLiteral.string($0.text)), \($0.text.utf8.count) }," } + ["};", "return choices;"])
    comment(["Returns the stored text of a choice; NULL for any other number. `length` may be NULL."])
    function(
      "const char *", "\(name)_text", ["\(type) choice", "size_t *length"],
      ["return \(prefix)_text_(\(type)_choices_(), \(listed.count), (size_t)choice, length);"])
    writeKey(key)
    getterComment(key)
    let longest = listed.map(\.text.utf8.count).max() ?? 0
    let fallback = listed.first { key.fallback?.asString.map { ExactString($0) } == ExactString($0.text) }?.name
    var body = [
      "char buffer[\(longest + 1)];", "size_t index = 0;", "const kept_key *key = \(prefix)_key_\(name)();",
      "const \(prefix)_choice_ *choices = \(type)_choices_();", "kept_status status = KEPT_OK;",
      "if (choice == NULL) return \(prefix)_refuse_(\"choice must not be NULL\", error);",
      "status = \(prefix)_read_(store, key, choices, \(listed.count), buffer, sizeof buffer, &index, error);",
    ]
    if let fallback {
      body += ["if (status == KEPT_ABSENT) {", "  *choice = \(fallback);", "  return \(prefix)_absent_(error);", "}"]
    }
    body += ["if (status == KEPT_OK) *choice = (\(type))index;", "return status;"]
    function("kept_status", "get_\(name)", ["kept_store *store", "\(type) *choice", errorParameter], body, of: key)
    comment(["Writes the value."])
    function(
      "kept_status", "set_\(name)", ["kept_store *store", "\(type) choice", errorParameter],
      [
        "size_t length = 0;", "const char *text = \(type)_text(choice, &length);",
        "if (text == NULL) return \(prefix)_refuse_(\"the number is not one of the choices\", error);",
        "return kept_set_string(store, \(CLiteral.string(key.key.text)), text, length, error);",
      ], of: key)
  }

  private func shown(_ text: String) -> String {
    Self.safe(CommentText.of(Value.string(text).json, keepsSpaces: true))
  }

  // MARK: - Constants

  private func constant(_ key: GeneratedKey, _ rule: String) -> String { "\(capitals)_\(key.words.capitals)_\(rule)" }

  private mutating func writeConstants(of key: GeneratedKey) throws(StoreError) {
    var constants: [(String, String)] = []
    switch (key.shape, key.fallback.map(key.shape.form)) {
    case (.choices(let choices), _) where choices.areTexts: break
    case (.date, .date(let date)?):
      constants += [
        ("DEFAULT_SECONDS", CLiteral.integer(date.seconds)), ("DEFAULT_NANOSECONDS", String(date.nanoseconds)),
      ]
    case (_, let value?): if let literal = CLiteral.of(value, key.shape) { constants.append(("DEFAULT", literal)) }
    default: break
    }
    for word in GeneratedKey.bounds {
      let value = key.rules[ExactString(word)].map(key.shape.form)
      if let literal = value.flatMap({ CLiteral.of($0, key.shape) }) {
        constants.append((Words(of: word).capitals, literal))
      }
    }
    if case .choices(let choices) = key.shape, !choices.areTexts {
      do throws(StoreError) {
        for (words, value) in try choices.named() {
          constants.append((words.capitals, CLiteral.integer(value.asInt64 ?? 0)))
        }
      } catch { throw error.naming(key.key) }
    }
    if !constants.isEmpty { lines.append("") }
    for (rule, literal) in constants {
      try names.claim(constant(key, rule), for: key.key)
      lines.append("#define \(constant(key, rule)) \(literal)")
    }
  }

  private mutating func define(_ name: String, _ literal: String) {
    lines.append("#define \(capitals)_\(name) \(literal)")
  }

  // MARK: - Functions

  private mutating func getterComment(_ key: GeneratedKey) {
    comment([key.fallback == nil ? "Reads the value." : "Reads the value, or the default."])
  }

  private mutating func getter(
    _ key: GeneratedKey, _ outputs: [String], _ read: String, fallback: [String], returns: Bool = false
  ) {
    getterComment(key)
    var body = ["return \(read);"]
    if key.fallback != nil {
      body =
        ["kept_status status = \(read);", "if (status != KEPT_ABSENT) return status;"] + fallback
        + (returns ? [] : ["return \(prefix)_absent_(error);"])
    }
    function("kept_status", "get_\(key.words.snake)", ["kept_store *store"] + outputs + [errorParameter], body, of: key)
  }

  private mutating func setter(_ key: GeneratedKey, _ inputs: [String], _ write: String) {
    comment(["Writes the value."])
    function(
      "kept_status", "set_\(key.words.snake)", ["kept_store *store"] + inputs + [errorParameter], ["return \(write);"],
      of: key)
  }

  /// - Parameter key: the key that it reads or writes for programs.
  private mutating func function(
    _ type: String, _ name: String, _ parameters: [String], _ body: [String], of key: GeneratedKey? = nil
  ) {
    if let message = key?.deprecation { lines.append("\(capitals)_DEPRECATED_(\(CLiteral.message(message)))") }
    let space = type.ends(with: "*") ? "" : " "
    let opening = "static inline \(type)\(space)\(prefix)_\(name)("
    let list = parameters.isEmpty ? ["void"] : parameters
    let rest = list.joined(separator: ", ") + ") {"
    if opening.utf8.count + rest.utf8.count <= 120 {
      lines.append(opening + rest)
    } else if rest.utf8.count <= 118 {
      lines += [opening, "  " + rest]
    } else {
      // Lines are broken between parameters alone.
      let text = ([opening + list[0]] + list.dropFirst()).map { $0.replacing([(" ", "\0")]) }.joined(separator: ", ")
      let filled = CommentText.lines(text + ")\0{", width: 118).joined(separator: "\n  ")
      lines.append(filled.replacing([("\0", " ")]))
    }
    lines += body.map { "  \($0)" }
    lines.append("}")
  }

  private mutating func comment(_ sentences: [String]) {
    lines.append("")
    let parts = CommentText.lines(sentences.map(Self.safe).joined(separator: " "), width: 112)
    for (index, line) in parts.enumerated() {
      lines.append((index == 0 ? "/** " : " *  ") + line + (index == parts.count - 1 ? " */" : ""))
    }
  }

  /// Text that neither begins nor ends a comment.
  private static func safe(_ text: String) -> String {
    text.replacing([("*/", "* /"), ("/*", "/ *"), ("??", "? ?")])
  }
}

/// Literals of C.
enum CLiteral {
  static func of(_ value: Value, _ shape: Shape) -> String? {
    switch value {
    case .bool(let value): value ? "true" : "false"
    case .int(let value): integer(value)
    case .uint(let value): "UINT64_C(\(value))"
    case .double(let value): double(value)
    case .string(let text): string(text)
    case .bytes(let bytes): string(bytes: bytes)
    default: nil
    }
  }

  static func integer(_ value: Int64) -> String {
    value == .min ? "INT64_MIN" : value < 0 ? "(-INT64_C(\(value.magnitude)))" : "INT64_C(\(value))"
  }

  private static func double(_ value: Double) -> String {
    if value.isNaN { return "((double)NAN)" }
    return value.isInfinite
      ? (value < 0 ? "(-(double)INFINITY)" : "((double)INFINITY)") : value.sign == .minus ? "(\(value))" : "\(value)"
  }

  static func string(_ text: String) -> String { string(bytes: Array(text.utf8)) }

  /// The text of an attribute, which compilers print as it is: they take no numbers of characters there.
  static func message(_ text: String) -> String {
    "\"" + text.replacing([("\\", "\\\\"), ("\"", "\\\""), ("??", "? ?")]) + "\""
  }

  private static func string(bytes: [UInt8]) -> String {
    extended(bytes.count) + "\"" + bytes.map(escaped).joined() + "\""
  }

  /// What makes compilers take a literal that is longer than C99 promises, and C++, without a warning.
  private static func extended(_ count: Int) -> String { count > 4095 ? "__extension__ " : "" }

  /// Adjacent literals, which together are the text.
  static func string(_ text: String, width: Int) -> [String] {
    var (parts, part, count): ([String], String, Int) = ([], extended(text.utf8.count) + "\"", 0)
    for byte in text.utf8 {
      let next = escaped(byte)
      if count + next.utf8.count > width {
        parts.append("\(part)\"")
        (part, count) = ("\"", 0)
      }
      part += next
      count += next.utf8.count
    }
    return parts + ["\(part)\""]
  }

  private static func escaped(_ byte: UInt8) -> String {
    switch byte {
    case UInt8(ascii: "\""): "\\\""
    case UInt8(ascii: "\\"): "\\\\"
    // Two of them may begin a trigraph.
    case UInt8(ascii: "?"): "\\?"
    case 0x20..<0x7F: String(UnicodeScalar(byte))
    default: "\\" + String.digits(byte, 8, 3)
    }
  }
}

extension Value {
  fileprivate var isFinite: Bool { asDouble.map(\.isFinite) ?? true }
}
