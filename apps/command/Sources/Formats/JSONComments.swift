// JSON with comments, as editors have it for their settings: // and /* */, and a comma after the last member.

public enum JSONComments {
  /// The text with spaces in the place of comments and of commas before a closing bracket, so that offsets stay.
  ///
  /// A text that does not begin as JSON, or with a comment, stays as it is.
  public static func removed(from text: PlainText) -> PlainText {
    var bytes = text.bytes
    guard let first = bytes.first(where: { !$0.isSpace }), first == UInt8(ascii: "{") || first == UInt8(ascii: "/")
    else {
      return text
    }
    var comma: Int?
    // The last byte that is neither white space nor part of a comment.
    var last: UInt8 = 0
    var position = 0
    while position < bytes.count {
      let start = position
      switch Unicode.Scalar(bytes[position]) {
      case "\"":
        position = endOfString(bytes, from: position)
        (comma, last) = (nil, UInt8(ascii: "\""))
      case "/" where isNext(UInt8(ascii: "/"), bytes, position):
        while position < bytes.count, bytes[position] != 0x0A { position += 1 }
        blank(&bytes, start..<position)
      case "/" where isNext(UInt8(ascii: "*"), bytes, position):
        position += 2
        while position < bytes.count,
          !(bytes[position] == UInt8(ascii: "*") && isNext(UInt8(ascii: "/"), bytes, position))
        {
          position += 1
        }
        // One that does not end stays, and is an error.
        guard position < bytes.count else { return text }
        position += 2
        blank(&bytes, start..<position)
      case ",":
        comma = "[{,:".utf8.contains(last) ? nil : position
        (last, position) = (UInt8(ascii: ","), position + 1)
      case "}", "]":
        if let comma { bytes[comma] = 0x20 }
        (comma, last, position) = (nil, bytes[position], position + 1)
      default:
        if !bytes[position].isSpace { (comma, last) = (nil, bytes[position]) }
        position += 1
      }
    }
    return PlainText(checked: bytes)
  }

  private static func isNext(_ byte: UInt8, _ bytes: [UInt8], _ position: Int) -> Bool {
    position + 1 < bytes.count && bytes[position + 1] == byte
  }

  static func endOfString(_ bytes: [UInt8], from start: Int) -> Int {
    var position = start + 1
    while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
      position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
    }
    return min(position + 1, bytes.count)
  }

  private static func blank(_ bytes: inout [UInt8], _ range: Range<Int>) {
    for index in range where bytes[index] != 0x0A { bytes[index] = 0x20 }
  }
}
