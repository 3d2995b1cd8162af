// Searches and splits text by its bytes and scalars. Swift's own calls compare Characters: "\r\n" is one of them, and a
// sign with the combining mark behind it is, too. They find no "\n" in the first, and no "=" in the second.

extension StringProtocol {
  func begins(with start: String) -> Bool { utf8.starts(with: start.utf8) }

  func ends(with end: String) -> Bool { utf8.reversed().starts(with: end.utf8.reversed()) }

  func has(_ part: String) -> Bool {
    let (text, part) = (Array(utf8), Array(part.utf8))
    return part.isEmpty || text.indices.contains { text[$0...].starts(with: part) }
  }

  /// The parts between the occurrences of a sign, empty ones too.
  func parts(at sign: Unicode.Scalar) -> [String] {
    let scalars = Substring(self).unicodeScalars
    return scalars.split(separator: sign, omittingEmptySubsequences: false).map { String($0) }
  }

  /// The text before the first occurrence of a sign and the text after it; nil without one.
  func halves(at sign: Unicode.Scalar) -> (before: String, after: String)? {
    unicodeScalars.firstIndex(of: sign).map(halves)
  }

  /// The text before the last occurrence of a sign and the text after it; nil without one.
  func halves(atLast sign: Unicode.Scalar) -> (before: String, after: String)? {
    unicodeScalars.lastIndex(of: sign).map(halves)
  }

  private func halves(_ place: Index) -> (before: String, after: String) {
    let scalars = Substring(self).unicodeScalars
    return (String(scalars[..<place]), String(scalars[place...].dropFirst()))
  }

  /// The text without the byte order mark that editors on Windows write first.
  var withoutMark: String {
    let scalars = Substring(self).unicodeScalars
    return String(scalars.first == "\u{FEFF}" ? scalars.dropFirst() : scalars)
  }

  /// The lines, which end with `\n`, `\r\n` or `\r`.
  var lines: [String] {
    var (lines, line, last) = ([String](), String.UnicodeScalarView(), " " as Unicode.Scalar)
    for scalar in unicodeScalars {
      defer { last = scalar }
      if scalar == "\n", last == "\r" { continue }
      guard scalar == "\n" || scalar == "\r" else {
        line.append(scalar)
        continue
      }
      lines.append(String(line))
      line.removeAll()
    }
    return lines + [String(line)]
  }

  /// Whether there is nothing but spaces and tabs.
  var isBlank: Bool { utf8.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") } }
}
