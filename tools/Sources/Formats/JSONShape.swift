// What the members of a JSON object are, without reading their values: one of them may be too large, or wrong.

import Kept

/// The names of the members of an object, and which of them are objects that could be split.
struct JSONShape {
  private(set) var names: [ExactString] = []
  private(set) var objects: [String] = []
  private let bytes: [UInt8]
  private var position: Int

  /// nil if a text does not begin as an object with a name and a colon, or without members.
  init?(_ text: PlainText) {
    bytes = text.bytes
    position = bytes.firstIndex { !$0.isSpace } ?? bytes.count
    guard skip("{") else { return nil }
    if skip("}") { return }
    while let name = string(), skip(":") {
      names.append(ExactString(name))
      if isObject { objects.append(name) }
      skipValue()
      guard skip(",") else { break }
    }
    if names.isEmpty { return nil }
  }

  private var next: Unicode.Scalar? { position < bytes.count ? Unicode.Scalar(bytes[position]) : nil }

  /// Skips a sign, and the white space around it.
  private mutating func skip(_ sign: Unicode.Scalar) -> Bool {
    skipSpace()
    guard next == sign else { return false }
    position += 1
    skipSpace()
    return true
  }

  private mutating func skipSpace() { while position < bytes.count, bytes[position].isSpace { position += 1 } }

  private mutating func string() -> String? {
    guard next == "\"" else { return nil }
    let start = position
    position = JSONComments.endOfString(bytes, from: start)
    guard case .string(let name)? = try? Value(json: bytes[start..<position].text) else { return nil }
    return name
  }

  /// Whether an object with members follows that is not a form such as `{"$date":…}`.
  private var isObject: Bool {
    var ahead = self
    return ahead.skip("{") && ahead.next == "\"" && !bytes[(ahead.position + 1)...].starts(with: "$".utf8)
  }

  private mutating func skipValue() {
    var depth = 0
    while let sign = next {
      switch sign {
      case "\"":
        position = JSONComments.endOfString(bytes, from: position)
        continue
      case "{", "[": depth += 1
      case "}", "]":
        if depth == 0 { return }
        depth -= 1
      case "," where depth == 0: return
      default: break
      }
      position += 1
    }
  }
}
