// Lines of a text, and what the readers of lines share.

/// A line of a text, without its line feed.
struct TextLine {
  /// The line without white space at its ends.
  let content: ArraySlice<UInt8>
  /// The characters of white space before the content.
  let indent: Int
  /// From 1.
  let number: Int

  var place: String { "line \(number)" }
  var text: String { content.text }

  static func all(of text: PlainText) -> [TextLine] {
    var number = 0
    return text.bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
      number += 1
      let content = line.trimmed
      return TextLine(content: content, indent: content.startIndex - line.startIndex, number: number)
    }
  }
}

extension UInt8 {
  package var isSpace: Bool { self == 0x20 || 0x09...0x0D ~= self }
  var isCommentSign: Bool { self == UInt8(ascii: "#") || self == UInt8(ascii: ";") }
}

extension ArraySlice<UInt8> {
  package var text: String { String(decoding: self, as: UTF8.self) }

  package var trimmed: ArraySlice<UInt8> {
    var rest = drop(while: \.isSpace)
    while rest.last?.isSpace == true { rest.removeLast() }
    return rest
  }
}
