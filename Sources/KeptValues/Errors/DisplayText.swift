// Text for a terminal, a log or a report: which characters are escaped there. Whatever shows keys, values or texts of
// others uses this: the command, the browser, kept-fleet, the logs, and the messages of errors.

/// Text that may contain anything, as it is displayed.
///
/// Control characters control terminals and begin lines. Characters that change the direction of text rearrange the
/// text around them. Invisible characters make different keys look the same, and hide text. All of these are escaped:
/// the categories Cc, Zl and Zp of Unicode, and its property Default_Ignorable_Code_Point. Invisible characters that a
/// writing system needs stay where they have an effect: the joiner and the variation selectors in emoji, and both
/// joiners within Arabic and the scripts of South Asia.
///
/// In C: `kept_display_text`. In Python: `kept.display_text`.
public enum DisplayText: Sendable {
  /// Text on one line, with `\n`, `\t`, `\r` and escapes such as `\u{1B}`.
  public static func line(_ text: String) -> String { escaped(text, { _ in false }, Self.escape) }

  /// The same with the line breaks (LF) and tabs of the text.
  public static func lines(_ text: String) -> String { escaped(text, { $0 == "\n" || $0 == "\t" }, Self.escape) }

  /// JSON text with escapes such as `\u009b` in its strings; it has the same value.
  public static func json(_ text: String) -> String {
    // A control character of ASCII can only be white space between the parts of JSON text.
    escaped(text, { $0.value < 0x20 }, Self.jsonEscape)
  }

  /// A number of bytes such as `112 KB`, in powers of 1,000 and rounded down.
  ///
  /// C and Python have no counterpart.
  public static func size(_ bytes: Int) -> String {
    switch bytes {
    case ..<1000: "\(bytes) B"
    case ..<1_000_000: "\(bytes / 1000) KB"
    case ..<1_000_000_000: "\(bytes / 1_000_000).\(bytes / 100_000 % 10) MB"
    default: "\(bytes / 1_000_000_000).\(bytes / 100_000_000 % 10) GB"
    }
  }

  /// Whether ``line(_:)`` escapes a character of a text.
  public static func escapes(_ text: String) -> Bool {
    var scan = Scan(text)
    while let (_, isUnsafe) = scan.next() {
      if isUnsafe { return true }
    }
    return false
  }

  private static func escaped(
    _ text: String, _ isKept: (Unicode.Scalar) -> Bool, _ escape: (Unicode.Scalar) -> String
  ) -> String {
    if text.utf8.allSatisfy({ 0x20..<0x7F ~= $0 }) { return text }
    var displayed = ""
    var scan = Scan(text)
    while let (scalar, isUnsafe) = scan.next() {
      if isUnsafe, !isKept(scalar) { displayed += escape(scalar) } else { displayed.unicodeScalars.append(scalar) }
    }
    return displayed
  }

  private static func escape(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\n": "\\n"
    case "\t": "\\t"
    case "\r": "\\r"
    default: "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
    }
  }

  private static func jsonEscape(_ scalar: Unicode.Scalar) -> String {
    String(scalar).utf16.reduce(into: "") { escape, unit in
      let digits = String(unit, radix: 16)
      escape += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
    }
  }
}

/// The characters of a text one after the other, with their neighbours.
private struct Scan {
  private var rest: String.UnicodeScalarView.Iterator
  private var following: Unicode.Scalar?
  // The last character, unless it was unsafe.
  private var before: Unicode.Scalar?

  init(_ text: String) {
    rest = text.unicodeScalars.makeIterator()
    following = rest.next()
  }

  mutating func next() -> (Unicode.Scalar, isUnsafe: Bool)? {
    guard let scalar = following else { return nil }
    following = rest.next()
    let isUnsafe = scalar.isInvisible && !hasEffect(scalar)
    before = isUnsafe ? nil : scalar
    return (scalar, isUnsafe)
  }

  private func hasEffect(_ scalar: Unicode.Scalar) -> Bool {
    guard let before else { return false }
    switch scalar.value {
    case 0x200C,
      0x200D where before.isJoining:
      return following?.isJoining == true
    case 0x200D: return (before.isPictographic || before.value == 0xFE0F) && following?.isPictographic == true
    // A digit with a variation selector and U+20E3 is a keycap.
    case 0xFE0E, 0xFE0F: return before.isPictographic || following?.value == 0x20E3
    default: return false
    }
  }
}

extension Unicode.Scalar {
  /// Whether it controls a terminal, ends a line, changes the direction of text, or shows nothing.
  // A list, and not the properties of the standard library, which would bring its tables into libkept.so. A test
  // compares them.
  fileprivate var isInvisible: Bool {
    switch value {
    case 0..<0x20, 0x7F..<0xA0: true
    case 0x00AD, 0x034F, 0x061C, 0x115F...0x1160, 0x17B4...0x17B5, 0x180B...0x180F, 0x200B...0x200F, 0x2028...0x202E,
      0x2060...0x206F, 0x3164, 0xFE00...0xFE0F, 0xFEFF, 0xFFA0, 0xFFF0...0xFFFB, 0x1BCA0...0x1BCA3, 0x1D173...0x1D17A,
      0xE0000...0xE0FFF:
      true
    default: false
    }
  }

  /// Whether its script joins letters: Arabic and the like, and the scripts of South Asia.
  fileprivate var isJoining: Bool {
    switch value {
    case 0x0620..<0x0E00, 0x1000..<0x10A0, 0x1780..<0x17E0, 0x1820..<0x18B0, 0xFB50..<0xFE00, 0xFE70..<0xFEFF:
      !isInvisible
    default: false
    }
  }

  /// Whether it is in the blocks that have emoji.
  fileprivate var isPictographic: Bool {
    switch value {
    case 0xA9, 0xAE, 0x203C, 0x2049, 0x2100..<0x2C00, 0x3030, 0x303D, 0x3297, 0x3299, 0x1F000..<0x1FB00: true
    default: false
    }
  }
}
