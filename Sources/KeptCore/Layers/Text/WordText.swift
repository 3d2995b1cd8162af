// Normalization of words: surrounding white space and letter case are ignored.

extension String {
  /// The text without the white space at its ends.
  var withoutOuterSpace: String {
    let scalars = unicodeScalars
    guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
      let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
    else { return "" }
    return String(scalars[first...last])
  }

  /// The text without any ASCII white space.
  var withoutSpace: String {
    String(decoding: utf8.filter { $0 != 0x20 && !(0x09...0x0D ~= $0) }, as: UTF8.self)
  }

  /// The text with its ASCII letters in lower case; empty if it is too long for a word.
  var lowerCasedWord: String {
    guard utf8.count <= 16 else { return "" }
    return String(decoding: utf8.map { 0x41...0x5A ~= $0 ? $0 | 0x20 : $0 }, as: UTF8.self)
  }
}

extension UInt8 {
  /// The value of a hexadecimal digit, in either case.
  @inlinable
  package var hexadecimalDigit: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}
