// Text from a store as a terminal or a line may show it.

import Kept

/// Keys and values may have line breaks, escapes of the terminal, and characters that turn the direction of text.
enum Shown {
  /// One line, without control characters: those are shown as `\n`, `\t` or `\u{1B}`.
  static func line(_ text: String) -> String {
    if text.unicodeScalars.allSatisfy({ !isControl($0) }) { return text }
    var shown = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": shown += "\\n"
      case "\t": shown += "\\t"
      case "\r": shown += "\\r"
      case _ where isControl(scalar): shown += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
      default: shown.unicodeScalars.append(scalar)
      }
    }
    return shown
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  /// A key for a line of fields: as it is, or as a JSON string if it could be mistaken for more than one field.
  static func key(_ key: KeyName) -> String {
    let text = key.text
    return text.unicodeScalars.contains { isControl($0) || $0 == "\"" || $0 == "=" } ? json(.string(text)) : text
  }

  /// A value as JSON in which also the control characters are escaped that JSON permits.
  static func json(_ value: Value) -> String { json(value.json) }

  /// JSON in which also the control characters are escaped that JSON permits.
  static func json(_ text: String) -> String {
    if text.unicodeScalars.allSatisfy({ !isControl($0) }) { return text }
    var shown = ""
    for scalar in text.unicodeScalars {
      guard isControl(scalar) else {
        shown.unicodeScalars.append(scalar)
        continue
      }
      let digits = String(scalar.value, radix: 16)
      shown += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
    return shown
  }

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
