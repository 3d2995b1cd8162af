// Truncates a text or a value in a message, because the message must fit into the caller's `kept_error`.

package import KeptValues

/// A text, truncated if it is long.
package enum Excerpt {
  package static let length = 60

  package static func of(_ text: String) -> String {
    text.utf8.count <= length ? text : String(text.unicodeScalars.prefix(length)) + "…"
  }

  /// The canonical JSON of a value, truncated.
  package static func of(_ value: Value) -> String {
    switch value {
    case .string(let text): of(Value.string(String(text.unicodeScalars.prefix(length + 1))).json)
    case .bytes(let bytes): of(Value.bytes(Array(bytes.prefix(length))).json)
    default: of(value.json)
    }
  }
}
