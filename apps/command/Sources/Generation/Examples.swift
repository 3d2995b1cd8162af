// How a key is set, by each layer, with a value that its declaration takes.

import Kept

struct Examples {
  private let key: KeyName
  private let options: PageOptions
  private let declaration: Declaration
  /// Nil if none is known, and for a secret.
  private let value: Value?

  init(_ key: KeyName, _ declaration: Declaration, _ words: ValueDictionary, _ options: PageOptions) {
    (self.key, self.declaration, self.options) = (key, declaration, options)
    let candidates = Self.candidates(.dictionary(words)).filter { value in
      value != declaration.defaultValue && (try? declaration.admitted(value)) != nil
    }
    // A dash as VALUE would read standard input.
    let value = (candidates + [declaration.defaultValue].compactMap(\.self)).first { value in
      let text = ExactString(Self.typed(value))
      return text != "-" && !text.text.utf8.contains(0)
    }
    self.value = declaration.isSecret ? nil : value
  }

  var rows: [Page.Row] {
    var rows = [
      Page.Row(label: "Administrator", lines: ["In \(code: "managed.json") or \(code: "system.json"):"], code: file)
    ]
    if let program = options.program, isArgument {
      rows.append(Page.Row(label: "Arguments", code: Shell.command([program, "-\(key.text)", text])))
    }
    if let prefix = options.environmentPrefix {
      let name = EnvironmentName.name(of: key, prefix: prefix)
      rows.append(Page.Row(label: "Environment", code: "export \(name)=\(Shell.quoted(text))"))
    }
    rows.append(
      declaration.isSecret && !key.text.has("=")
        ? Page.Row(
          label: "User", lines: ["Asks for the value, and does not show it:"], code: command([key.text, "-"]))
        : Page.Row(label: "User", code: command([key.text, text])))
    return rows
  }

  private var text: String { value.map(Self.typed) ?? "VALUE" }

  /// The value as people type it.
  private static func typed(_ value: Value) -> String { value.asString ?? RuleText.shown(value) }

  private var file: String {
    let values = Value.dictionary(ValueDictionary([(key.exact, value ?? "VALUE")]))
    let json = RuleText.json(.dictionary(["values": values]))
    return value == nil && declaration.type != .string ? json.replacing([("\"VALUE\"", "VALUE")]) : json
  }

  /// Whether an argument can set the key: other users can read a secret there, and some texts would be read otherwise.
  private var isArgument: Bool {
    var arguments = LaunchArguments()
    guard !declaration.isSecret, (try? arguments.set(true, forKey: key.text)) != nil else { return false }
    guard declaration.type == .string, let edge = text.unicodeScalars.first, let end = text.unicodeScalars.last else {
      return true
    }
    return edge != "-" && !edge.properties.isWhitespace && !end.properties.isWhitespace
  }

  private func command(_ words: [String]) -> String {
    guard !key.text.has("=") else {
      let change = Value.dictionary(["set": .string(key.text), "value": value ?? "VALUE"]).json
      return Shell.command(["printf", "%s", change]) + " | "
        + Shell.command(["kept", "transaction", options.shownStore])
    }
    let isPlain = !words.contains { $0.unicodeScalars.first == "-" && $0.utf8.count > 1 }
    return Shell.command(["kept", "set", options.shownStore] + (isPlain ? [] : ["--"]) + words)
  }

  /// Values that may fit a schema.
  private static func candidates(_ schema: Value) -> [Value] {
    guard let words = schema.asDictionary else { return schema == false ? [] : [1] }
    if let constant = words["const"] { return [constant] }
    if let choices = words["enum"]?.asArray { return choices }
    switch words["type"]?.asString ?? words["type"]?.asArray?.first?.asString {
    case "boolean": return [true, false]
    case "integer", "number": return numbers(words)
    case "string": return ["text", .string(String(repeating: "t", count: length(words)))]
    case "bytes": return [.bytes([UInt8](repeating: 0, count: length(words)))]
    case "date": return [try? Timestamp(seconds: 1_767_225_600)].compactMap { $0.map { .date($0) } }
    case "array": return arrays(words)
    default: return objects(words)
    }
  }

  private static func length(_ words: ValueDictionary) -> Int {
    let least = max(1, words["minLength"]?.asInt64 ?? 0)
    return Int(min(least, words["maxLength"]?.asInt64 ?? least, 200))
  }

  private static func numbers(_ words: ValueDictionary) -> [Value] {
    let ends = [words["minimum"] ?? words["exclusiveMinimum"], words["maximum"] ?? words["exclusiveMaximum"]]
    let bounds = (ends + [words["multipleOf"]]).compactMap(\.self)
    let inside = bounds.compactMap(\.asInt64).flatMap { [.int($0 &+ 1), .int($0 &- 1)] as [Value] }
    let middle = zip(ends.prefix(1), ends.suffix(1)).compactMap { low, high -> Value? in
      guard let low = low?.asDouble, let high = high?.asDouble else { return nil }
      return .double(low / 2 + high / 2)
    }
    return [1, 2] + bounds + inside + middle
  }

  private static func arrays(_ words: ValueDictionary) -> [Value] {
    let first = (words["prefixItems"]?.asArray ?? []).compactMap { candidates($0).first }
    let each = words["items"].map(candidates) ?? [1]
    let missing = min(max(0, Int(words["minItems"]?.asInt64 ?? 0) - first.count), each.count)
    return [.array(first + each.prefix(max(1, missing))), .array(first), .array([])]
  }

  private static func objects(_ words: ValueDictionary) -> [Value] {
    var members: [(ExactString, Value)] = []
    for member in words["properties"]?.asDictionary ?? ValueDictionary() {
      if let value = candidates(member.value).first { members.append((member.key, value)) }
    }
    let required = (words["required"]?.asArray ?? []).compactMap(\.asString).map { ExactString($0) }
    let other = words["additionalProperties"].flatMap { candidates($0).first }.map { [("name" as ExactString, $0)] }
    return [members, members.filter { required.contains($0.0) }, other ?? [], []].map {
      .dictionary(ValueDictionary($0))
    }
  }
}

/// Words of a shell.
enum Shell {
  static func command(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }

  /// A word that a shell reads as the text; characters that cannot be seen are written as their bytes.
  static func quoted(_ text: String) -> String {
    if DisplayText.escapes(text) || text.escapingMarks().utf8.count != text.utf8.count {
      return "$'" + text.utf8.map(escaped).joined() + "'"
    }
    let isPlain = !text.isEmpty && text.utf8.allSatisfy(plain.contains)
    return isPlain ? text : "'" + text.replacing([("'", "'\\''")]) + "'"
  }

  private static let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:@_".utf8)

  private static func escaped(_ byte: UInt8) -> String {
    switch byte {
    case UInt8(ascii: "'"), UInt8(ascii: "\\"): "\\" + String(UnicodeScalar(byte))
    case 0x20..<0x7F: String(UnicodeScalar(byte))
    default: "\\" + String.digits(byte, 8, 3)
    }
  }
}
