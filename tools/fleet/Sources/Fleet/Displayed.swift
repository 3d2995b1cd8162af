// Text of others as a terminal or a log may show it.

package enum Displayed {
  /// One line, without characters that a terminal or a reader could take for something else: controls, line breaks, and
  /// marks that turn the direction of text.
  package static func line(_ text: String) -> String {
    var line = ""
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069:
        line += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
      default: line.unicodeScalars.append(scalar)
      }
    }
    return line
  }
}
