// The columns of a terminal that a text takes.

import Kept
import Testing

@Suite struct `The columns of a text` {
  @Test(arguments: [
    ("", 0), ("abc", 3), ("größe", 5), ("e\u{301}", 1), ("設定", 4), ("ｱ", 1), ("Ａ", 2), ("한", 2),
    ("\u{1112}\u{1161}\u{11AB}", 2),
    ("שלום", 4), ("–", 1), ("→", 1), ("…", 1), ("\u{3000}", 2),
  ])
  func `are two for wide characters and none for combining ones`(text: String, columns: Int) {
    #expect(DisplayText.columns(text) == columns)
  }

  @Test(arguments: [
    "😀", "✅", "⭐", "⌚", "❤️", "⚠️", "👍🏽", "👩‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪", "1️⃣", "🏴‍☠️", "🥇", "🪐", "🀄", "🛒",
  ])
  func `are two for an emoji`(emoji: String) {
    #expect(DisplayText.columns(emoji) == 2)
    #expect(DisplayText.columns("\(emoji)a\(emoji)") == 5)
    #expect(DisplayText.padded(emoji, toColumns: 4) == "\(emoji)  ")
  }

  @Test(arguments: ["☎", "❤", "✔", "©", "🌡"]) func `are one for a symbol that is shown as text`(symbol: String) {
    #expect(DisplayText.columns(symbol) == 1)
  }

  @Test(arguments: [
    ("abcd", 4, "abcd"), ("abcde", 4, "abc…"), ("設定値", 5, "設定…"), ("設定値", 4, "設…"), ("ab", 1, "…"),
    ("👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 3, "👩‍👩‍👧‍👦…"),
  ])
  func `are cut between characters`(text: String, most: Int, cut: String) {
    #expect(DisplayText.cut(text, toColumns: most) == cut)
  }
}
