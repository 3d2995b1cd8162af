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

  /// The columns that a text takes on a terminal.
  static func width(_ text: String) -> Int { DisplayText.columns(text) }

  /// A text that fits the columns of a terminal, with `…` for the rest.
  static func cut(_ text: String, to columns: Int) -> String { DisplayText.cut(text, toColumns: columns) }
}
