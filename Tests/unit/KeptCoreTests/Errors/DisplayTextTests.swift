// Which characters are escaped for a terminal, a log and a report, and how.

@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite struct `Displayed text` {
  @Test(arguments: [
    ("plain \"text\" \\ = é 設定 שלום", "plain \"text\" \\ = é 設定 שלום"),
    ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
    ("\r\n", "\\r\\n"),
    ("\u{1B}[31m\u{7}\u{7F}\u{9B}\0", "\\u{1B}[31m\\u{7}\\u{7F}\\u{9B}\\u{0}"),
    ("\u{2028}\u{2029}\u{85}", "\\u{2028}\\u{2029}\\u{85}"),
    ("x\u{61C}\u{200E}\u{200F}\u{202E}\u{2066}\u{2069}y", "x\\u{61C}\\u{200E}\\u{200F}\\u{202E}\\u{2066}\\u{2069}y"),
    ("pass\u{200B}\u{2060}\u{FEFF}\u{AD}word", "pass\\u{200B}\\u{2060}\\u{FEFF}\\u{AD}word"),
    ("a\u{E0041}\u{E007F}\u{E0100}", "a\\u{E0041}\\u{E007F}\\u{E0100}"),
    // Joiners and variation selectors without an effect.
    ("a\u{200D}b\u{200C}c\u{FE0F}", "a\\u{200D}b\\u{200C}c\\u{FE0F}"),
    ("\u{FE0F}\u{200D}", "\\u{FE0F}\\u{200D}"),
    ("😀\u{200D}a", "😀\\u{200D}a"),
    ("😀\u{FE0F}\u{FE0F}", "😀\u{FE0F}\\u{FE0F}"),
    ("1\u{FE0F}", "1\\u{FE0F}"),
  ])
  func `has escapes`(text: String, displayed: String) {
    #expect(Array(DisplayText.line(text).unicodeScalars) == Array(displayed.unicodeScalars))
    #expect(DisplayText.line(displayed) == displayed)
    #expect(DisplayText.escapes(text) == (text != displayed))
  }

  @Test(arguments: [
    "👩‍👩‍👧‍👦", "❤️", "🏳️‍🌈", "👍🏽", "🇩🇪", "1️⃣", "☎︎", "می‌خواهم", "क्‍ष", "e\u{301}", "한국어", "ｱ", "\u{A0}",
  ])
  func `keeps what a writing system or an emoji needs`(text: String) { #expect(DisplayText.line(text) == text) }

  @Test func `may keep its lines`() {
    #expect(DisplayText.lines("a\n\tb\r\n\u{1B}\u{2028}") == "a\n\tb\\r\n\\u{1B}\\u{2028}")
  }

  @Test func `is the same value if it is JSON`() throws {
    let value: Value = ["k\u{9B}": .string("\u{1B}\n\u{7F}\u{202E}\u{61C}\u{E0041}\u{FEFF}😀 é")]
    let json = DisplayText.json(value.json)
    #expect(json == #"{"k\u009b":"\u001b\n\u007f\u202e\u061c\udb40\udc41\ufeff😀 é"}"#)
    #expect(try Value(json: json) == value)
    #expect(DisplayText.json("{\n\t\"a\": 1\r\n}") == "{\n\t\"a\": 1\r\n}")
  }

  @Test func `escapes what Unicode calls control, separator and default ignorable`() {
    let annotations = 0xFFF9...0xFFFB as ClosedRange<UInt32>
    for value in UInt32(0)...0x10FFFF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let isUnsafe =
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: scalar.properties.isDefaultIgnorableCodePoint || annotations.contains(value)
        }
      let text = String(Character(scalar))
      guard DisplayText.escapes(text) != isUnsafe else { continue }
      Issue.record("U+\(String(value, radix: 16)) is \(isUnsafe ? "not escaped" : "escaped")")
    }
  }

  @Test func `is what an error says`() {
    let error = StoreError(.invalid, key: "a\n\u{202E}", "the path /tmp/\u{1B}x\nis\u{61C} wrong")
    #expect(error.description == "\"a\\n\\u{202E}\": the path /tmp/\\u{1B}x\nis\\u{61C} wrong")
    let long = StoreError(.absent, key: String(repeating: "e\u{301}", count: 300), "has no value")
    #expect(long.description.utf8.count < 200)
  }

  @Test func `is what a change and an explanation show`() throws {
    let store = Store(storage: MemoryStorage())
    try store.set(.string("\u{9B}\u{61C}"), forKey: "k\n")
    #expect(try store.explain("k\n").description.hasPrefix("k\\n = \"\\u009b\\u061c\": "))
    let change = Change(key: try key("k\n"), old: nil, new: .string("\u{9B}"))
    #expect(change.description == "\"k\\n\": absent → \"\\u009b\"")
  }
}
