// The columns of a terminal that a text takes.

extension DisplayText {
  /// The columns that a text takes on a terminal.
  ///
  /// Wide characters and emoji take two, also an emoji of several characters; combining characters take none.
  public static func columns(_ text: String) -> Int {
    if text.utf8.allSatisfy({ 0x20..<0x7F ~= $0 }) { return text.utf8.count }
    return text.reduce(0) { $0 + columns($1) }
  }

  /// A text of at most so many columns, which ends in `…` if a part of it is left out.
  public static func cut(_ text: String, toColumns most: Int) -> String {
    if columns(text) <= most { return text }
    guard most > 0 else { return "" }
    var cut = ""
    var used = 1
    for character in text {
      used += columns(character)
      if used > most { break }
      cut.append(character)
    }
    return cut + "…"
  }

  /// A text that is filled with spaces up to a number of columns.
  public static func padded(_ text: String, toColumns least: Int) -> String {
    text + String(repeating: " ", count: max(0, least - columns(text)))
  }

  private static func columns(_ character: Character) -> Int {
    let scalars = character.unicodeScalars
    if scalars.contains(where: \.isShownAsEmoji) { return 2 }
    return scalars.reduce(0) { $0 + $1.columns }
  }
}

extension Unicode.Scalar {
  /// Whether a character with it is shown as an emoji, which is wide.
  fileprivate var isShownAsEmoji: Bool { value == 0xFE0F || properties.isEmojiPresentation }

  fileprivate var columns: Int {
    switch value {
    // The vowels and final consonants of a syllable in Hangul.
    case 0x1160...0x11FF, 0xD7B0...0xD7FF: return 0
    case 0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x3247, 0x3250...0x4DBF, 0x4E00...0xA4CF,
      0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60,
      0xFFE0...0xFFE6, 0x16FE0...0x18D08, 0x1AFF0...0x1B2FB, 0x1F200...0x1F265, 0x20000...0x3FFFD:
      // A mark of tone or voice among them combines with a wide character.
      return isCombining ? 0 : 2
    default: return isCombining ? 0 : 1
    }
  }

  private var isCombining: Bool {
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control: true
    default: false
    }
  }
}
