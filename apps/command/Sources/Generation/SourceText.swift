// Text for comments and literals. Nothing from a declaration ends a comment or a literal early.

import Kept

/// Text in a comment: one line without characters that hide or rearrange others, and without the ends of comments.
enum CommentText {
  /// - Parameter keepsSpaces: whether spaces stay as they are; otherwise a group of them is one.
  static func of(_ text: String, keepsSpaces: Bool = false) -> String {
    var line = ""
    for scalar in text.unicodeScalars {
      if !keepsSpaces, scalar.isASCII ? 9...13 ~= scalar.value || scalar == " " : scalar.properties.isWhitespace {
        if !line.isEmpty, !line.ends(with: " ") { line += " " }
      } else if scalar.isVisible {
        line.unicodeScalars.append(scalar)
      } else {
        line += "U+" + String(scalar.value, radix: 16, uppercase: true)
      }
    }
    while !keepsSpaces, line.ends(with: " ") { line.unicodeScalars.removeLast() }
    return excerpt(line)
  }

  private static func excerpt(_ line: String) -> String {
    line.unicodeScalars.count <= 400 ? line : String(String.UnicodeScalarView(line.unicodeScalars.prefix(399))) + "…"
  }

  /// Lines of at most a width, broken at spaces.
  static func lines(_ text: String, width: Int) -> [String] {
    var lines = [""]
    for word in text.parts(at: " ") where !word.isEmpty {
      let line = lines[lines.count - 1]
      if line.isEmpty {
        lines[lines.count - 1] = word
      } else if line.unicodeScalars.count + 1 + word.unicodeScalars.count <= width {
        lines[lines.count - 1] += " \(word)"
      } else {
        lines.append(word)
      }
    }
    return lines
  }
}

extension Unicode.Scalar {
  /// Whether it is drawn on the character before it.
  var isMark: Bool {
    if value < 0x300 { return false }
    return switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark: true
    default: false
    }
  }

  /// Whether it can be seen, and leaves the order of other characters alone.
  var isVisible: Bool {
    if isASCII { return 0x20..<0x7F ~= value }
    return switch properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator,
      .nonspacingMark, .enclosingMark, .spacingMark:
      false
    case .spaceSeparator: self == " "
    default: true
    }
  }
}

extension String {
  /// The text with escapes for combining marks that have no letter before them, or for all.
  func escapingMarks(all: Bool = false, _ escape: (Unicode.Scalar) -> String = Self.escape) -> String {
    guard unicodeScalars.contains(where: \.isMark) else { return self }
    var (text, hasBase) = ("", false)
    for scalar in unicodeScalars {
      if scalar.isMark, all || !hasBase {
        text += escape(scalar)
      } else {
        text.unicodeScalars.append(scalar)
        let isLetter = scalar.properties.isAlphabetic || "0"..."9" ~= scalar
        hasBase = isLetter || scalar.isMark || !scalar.isASCII && scalar.isVisible
      }
    }
    return text
  }

  private static func escape(_ scalar: Unicode.Scalar) -> String {
    "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
  }

  /// The text with some parts replaced.
  func replacing(_ parts: [(String, String)]) -> String {
    parts.reduce(self) { text, part in
      var (result, rest) = ([UInt8](), Array(text.utf8)[...])
      let sought = Array(part.0.utf8)
      while let place = rest.firstPlace(of: sought) {
        result += rest[..<place] + part.1.utf8
        rest = rest[(place + sought.count)...]
      }
      return rest.startIndex == 0 ? text : String(decoding: result + rest, as: UTF8.self)
    }
  }

  private func padded(to count: Int) -> String {
    String(repeating: "0", count: Swift.max(0, count - utf8.count)) + self
  }

  /// A number in a base, with leading zeros.
  static func digits(_ number: some BinaryInteger, _ radix: Int, _ count: Int) -> String {
    String(number, radix: radix).padded(to: count)
  }
}

extension ArraySlice<UInt8> {
  fileprivate func firstPlace(of part: [UInt8]) -> Int? {
    var start = startIndex
    while let place = self[start...].firstIndex(of: part[0]) {
      if self[place...].starts(with: part) { return place }
      start = place + 1
    }
    return nil
  }
}

extension StringProtocol {
  func ends(with end: String) -> Bool { utf8.reversed().starts(with: end.utf8.reversed()) }

  func has(_ part: String) -> Bool { Array(utf8)[...].firstPlace(of: Array(part.utf8)) != nil }

  /// The parts between the occurrences of a sign, empty ones too.
  func parts(at sign: Unicode.Scalar) -> [String] {
    Substring(self).unicodeScalars.split(separator: sign, omittingEmptySubsequences: false).map { String($0) }
  }
}
