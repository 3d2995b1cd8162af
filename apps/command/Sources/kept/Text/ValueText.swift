// What `kept get` prints and `kept set` takes beyond the text of a value.

import Kept

enum ValueText {
  /// The exact contents: a text without quotes, bytes as they are, anything else as JSON.
  static func raw(_ value: Value) -> [UInt8] {
    switch value {
    case .string(let text): Array(text.utf8)
    case .bytes(let bytes): bytes
    default: Array(value.json.utf8)
    }
  }

  /// Reads a text as a value of a type; an error of JSON shows the place.
  static func value(_ text: String, as type: DeclaredType?, key: KeyName) throws(StoreError) -> Value {
    do throws(StoreError) { return try Value(text: text, as: type) } catch {
      throw StoreError(error.code, key: key.text, error.shown(in: text).message)
    }
  }

  /// Reads JSON; an error shows the place.
  static func json(_ text: String, hiding words: [String]) throws(StoreError) -> Value {
    do throws(StoreError) { return try Value(json: text) } catch {
      throw error.shown(in: text, hiding: words)
    }
  }

  /// Reads the text for a key without a declaration, or for an element whose type is not declared: JSON, and nothing is
  /// guessed.
  static func untyped(_ text: String, key: KeyName, isDeclared: Bool) throws(StoreError) -> Value {
    do throws(StoreError) { return try Value(text: text, as: nil) } catch {
      let quoted = Value.string(text).json
      let isShort = quoted.utf8.count <= 60
      throw .refused(
        key,
        "\(isDeclared ? "declares no type for its elements, so each" : "is not declared, so its value") must be JSON "
          + "as Kept reads it, and \(Excerpt.of(text)) is not; for "
          + "\(isShort ? "the text \(quoted)" : "text") add --string, or write it in quotes (\(error.message))"
          + Caret.under(error.offset, of: text))
    }
  }
}

extension Declaration {
  /// The declared type; nil if the declaration may have been lost.
  var knownType: DeclaredType? { self == .lost ? nil : type }
}

/// A text in a message: short, on one line, in quotes.
enum Excerpt {
  static func of(_ text: String) -> String { "\"\(Shown.cut(Shown.line(text), to: 60))\"" }
}
