// Moves through a JSON text without reading its values: one of them may be too large, or wrong.

import Kept

/// A position in a JSON text.
struct JSONCursor {
  let bytes: [UInt8]
  private(set) var position: Int

  init(_ text: PlainText) {
    bytes = text.bytes
    position = bytes.firstIndex { !$0.isSpace } ?? bytes.count
  }

  var isAtEnd: Bool { position == bytes.count }
  private var next: Unicode.Scalar? { position < bytes.count ? Unicode.Scalar(bytes[position]) : nil }

  /// Skips a sign, and the white space around it.
  mutating func skip(_ sign: Unicode.Scalar) -> Bool {
    skipSpace()
    guard next == sign else { return false }
    position += 1
    skipSpace()
    return true
  }

  private mutating func skipSpace() { while position < bytes.count, bytes[position].isSpace { position += 1 } }

  /// The name of a member, and the colon after it; nil if there is none, and NUL if it is not Unicode.
  mutating func name() -> String? {
    guard next == "\"" else { return nil }
    let start = position
    position = JSONComments.endOfString(bytes, from: start)
    let text = bytes[start..<position].text
    guard skip(":") else { return nil }
    guard case .string(let name)? = try? Value(json: text) else { return "\0" }
    return name
  }

  /// Whether an object with members follows that is not a form such as `{"$date":…}`.
  var isObject: Bool {
    var ahead = self
    return ahead.skip("{") && ahead.next == "\"" && !bytes[(ahead.position + 1)...].starts(with: "$".utf8)
  }

  /// Skips a value, and returns where it is.
  mutating func skipValue() -> Range<Int> {
    let start = position
    var depth = 0
    while let sign = next {
      switch sign {
      case "\"":
        position = JSONComments.endOfString(bytes, from: position)
        continue
      case "{", "[": depth += 1
      case "}", "]":
        if depth == 0 { return start..<position }
        depth -= 1
      case "," where depth == 0: return start..<position
      default: break
      }
      position += 1
    }
    return start..<position
  }
}
