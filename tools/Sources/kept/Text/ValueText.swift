// A value as the text that `kept get` prints and `kept set` takes, so that what is read can be written.

import Kept

enum ValueText {
  /// The text of a value of a declared type, or of JSON if the key is not declared.
  static func text(of value: Value, as type: DeclaredType?) -> String {
    switch (type, value) {
    case (.string, .string(let text)): text
    case (.date, .date(let moment)): moment.description
    case (.bytes, .bytes): base64(value) ?? value.json
    default: value.json
    }
  }

  /// The exact contents: a text without quotes, bytes as they are, anything else as JSON.
  static func raw(_ value: Value) -> [UInt8] {
    switch value {
    case .string(let text): Array(text.utf8)
    case .bytes(let bytes): bytes
    default: Array(value.json.utf8)
    }
  }

  /// Reads a text as a value of a type.
  static func value(_ text: String, as type: DeclaredType, key: KeyName) throws(StoreError) -> Value {
    switch type {
    case .string: return .string(text)
    case .boolean:
      switch text.lowercased() {
      case "true", "yes", "on", "1": return true
      case "false", "no", "off", "0": return false
      default: throw unfit(text, key, "a boolean", "true or false")
      }
    case .date:
      do throws(StoreError) { return .date(try Timestamp(text: text)) } catch {
        if let value = try? Value(json: text), value.kind == .date { return value }
        throw unfit(text, key, "a date", "UTC such as 2026-11-20T23:44:01Z")
      }
    case .bytes:
      let form = "{\"$binary\":{\"base64\":\(Value.string(text).json),\"subType\":\"00\"}}"
      if let value = (try? Value(json: form)) ?? (try? Value(json: text)), value.kind == .bytes { return value }
      throw unfit(text, key, "bytes", "base64")
    case .integer:
      let value = try number(text, key, "an integer", "a number such as 70")
      guard case .double(let double) = value, double.rounded() != double else { return value }
      throw unfit(text, key, "a whole number", whole(double))
    case .number: return try number(text, key, "a number", "one such as 0.5")
    case .array, .object: return try json(text, key: key)
    }
  }

  /// Reads JSON; an error shows the place.
  static func json(_ text: String, key: KeyName?, hiding words: [String] = []) throws(StoreError) -> Value {
    do throws(StoreError) { return try Value(json: text) } catch {
      throw StoreError(error.code, key: key?.text, error.shown(in: text, hiding: words).message)
    }
  }

  /// Reads the text for a key without a declaration: JSON, and nothing is guessed.
  static func undeclared(_ text: String, key: KeyName) throws(StoreError) -> Value {
    do throws(StoreError) { return try Value(json: text) } catch {
      let quoted = Value.string(text).json
      let isShort = quoted.utf8.count <= 60
      throw .refused(
        key,
        "is not declared, so its value must be JSON, and \(Excerpt.of(text)) is none; for \(isShort ? "the text " : "")"
          + "\(isShort ? quoted : "text") add --string, or write it in quotes (\(error.message))"
          + Caret.under(error.offset, of: text))
    }
  }

  private static func number(
    _ text: String, _ key: KeyName, _ kind: String, _ example: String
  ) throws(StoreError) -> Value {
    switch try? Value(json: text) {
    case .some(let value) where [.int, .uint, .double].contains(value.kind): return value
    default: throw unfit(text, key, kind, example)
    }
  }

  /// The whole numbers beside one that is none.
  private static func whole(_ double: Double) -> String {
    let (below, above) = (Int64(exactly: double.rounded(.down)), Int64(exactly: double.rounded(.up)))
    guard let below, let above else { return "a number such as 70" }
    return "\(below) or \(above)"
  }

  private static func unfit(_ text: String, _ key: KeyName, _ kind: String, _ example: String) -> StoreError {
    .refused(key, "takes \(kind), and \(Excerpt.of(text)) is none; give \(example)")
  }

  /// The text in `{"$binary":{"base64":"…","subType":"00"}}`.
  private static func base64(_ value: Value) -> String? {
    let parts = value.json.parts(at: "\"")
    return parts.count > 5 ? parts[5] : nil
  }
}

/// A text in a message: short, on one line, in quotes.
enum Excerpt {
  static func of(_ text: String) -> String { "\"\(Shown.cut(Shown.line(text), to: 60))\"" }
}
