// Text from a store as a terminal or a line may show it.

import Kept

/// Keys and values may have line breaks, escapes of the terminal, and characters that turn the direction of text.
enum Shown {
  /// One line, with escapes such as `\n`, `\t` or `\u{1B}`.
  static func line(_ text: String) -> String { DisplayText.line(text) }

  /// A key for a line of fields: as it is, or as a JSON string if it could be mistaken for more than one field.
  static func key(_ key: KeyName) -> String {
    let text = key.text
    let isField = !DisplayText.escapes(text) && !text.unicodeScalars.contains { $0 == "\"" || $0 == "=" }
    return isField ? text : json(.string(text))
  }

  /// A value as JSON with escapes.
  static func json(_ value: Value) -> String { json(value.json) }

  /// JSON with escapes.
  static func json(_ text: String) -> String { DisplayText.json(text) }

  /// The columns that a text takes on a terminal: wide characters take two, combining ones none.
  static func width(_ text: String) -> Int { text.unicodeScalars.reduce(0) { $0 + width($1) } }

  private static func width(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control: return 0
    default: break
    }
    switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
      0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1FAFF, 0x20000...0x3FFFD:
      return 2
    default: return 1
    }
  }

  /// A text of at most so many columns, with `…` for the rest.
  static func cut(_ text: String, to columns: Int) -> String {
    if width(text) <= columns { return text }
    var cut = ""
    var used = 1
    for character in text {
      used += width(String(character))
      if used > columns { break }
      cut.append(character)
    }
    return cut + "…"
  }
}
