// The value of a text by itself, its value when a type is requested, and what it is never converted to.

import KeptCore
@testable import KeptSchema
@testable import KeptValues
import Testing

@Suite struct TextValueTests {
  @Test(
    arguments: [
      // The examples from Foundation's argument domain.
      ("{a=1;b=(1,2);}", ["a": "1", "b": ["1", "2"]]), (#""q s""#, "q s"), ("<oops", "<oops"),
      ("<string>a &amp; b</string>", "a & b"), ("<integer>-5</integer>", -5), ("<real>nan</real>", .double(.nan)),
      ("<data>AAEC</data>", .bytes([0, 1, 2])), ("<array/>", []), ("<dict/>", [:]), ("<true/>", true),
      // What Kept adds.
      (#"{"a":1}"#, ["a": 1]), ("[1,2]", [1, 2]), ("5", 5), ("-5", -5), ("2.5", 2.5), ("1e3", 1000.0),
      ("true", true), ("false", false), ("9223372036854775807", .int(.max)), ("18446744073709551615", .uint(.max)),
      (#"{"$binary":{"base64":"AAEC","subType":"00"}}"#, .bytes([0, 1, 2])),
      (#"{"$numberDouble":"-Infinity"}"#, .double(-.infinity)), (#"{"a":null}"#, ["a": .null]), (" 5 ", 5),
      // Text only, unless a type is requested.
      ("", ""), (" ", " "), ("dark", "dark"), (" dark ", " dark "), ("TRUE", "TRUE"), ("yes", "yes"), ("null", "null"),
      ("007", "007"), ("+5", "+5"), ("-0", "-0"), ("1e999", "1e999"), ("18446744073709551616", "18446744073709551616"),
      ("0x10", "0x10"), ("5 apples", "5 apples"), ("NaN", "NaN"), ("inf", "inf"), ("-", "-"),
      ("2026-11-20T23:44:01Z", "2026-11-20T23:44:01Z"), ("AAEC", "AAEC"), (#"{"a":1"#, #"{"a":1"#),
      (#"{"$unknown":1}"#, #"{"$unknown":1}"#), ("[1,2", "[1,2"), (#"{"a":1,"a":2}"#, #"{"a":1,"a":2}"#),
    ] as [(String, Value)])
  func `a text has a natural value`(text: String, value: Value) {
    #expect(TextValue(text).natural == value)
  }

  @Test(arguments: ["true", "TRUE", "Yes", "1", "on", " oN\n"])
  func `words that are true`(text: String) { #expect(TextValue(text).value(as: .boolean) == true) }

  @Test(arguments: ["false", "False", "NO", "0", "off"])
  func `words that are false`(text: String) { #expect(TextValue(text).value(as: .boolean) == false) }

  @Test(arguments: ["", "2", "y", "t", "truetruetruetruetrue", "1.0", "<integer>1</integer>", "\"true\"", "n\u{43e}"])
  func `anything else is not a boolean`(text: String) { #expect(TextValue(text).value(as: .boolean) == nil) }

  @Test(
    arguments: [
      ("5", 5), ("-5", -5), ("+5", 5), ("007", 7), ("-0", 0), ("3.0", 3), ("-3.000", -3), (" 5\n", 5),
      ("-9223372036854775808", .int(.min)), ("9223372036854775808", .uint(1 << 63)),
      ("18446744073709551615", .uint(.max)), ("9007199254740993.0", 9_007_199_254_740_993),
      ("<integer>5</integer>", 5), ("<real>5</real>", 5), (#"{"$numberLong":"5"}"#, 5),
      ("18446744073709551616", nil), ("-9223372036854775809", nil), ("3.5", nil), ("1e3", nil), ("0x10", nil),
      ("5 5", nil), ("", nil), ("+", nil), (".", nil), (".0", nil), ("٣", nil), ("five", nil), ("true", nil),
      ("\"5\"", nil), ("<real>5.5</real>", nil), ("1.0.0", nil), ("--5", nil), ("1_000", nil),
    ] as [(String, Value?)])
  func `an integer is decimal and exact`(text: String, value: Value?) {
    #expect(TextValue(text).value(as: .integer) == value)
  }

  @Test(
    arguments: [
      ("5", 5.0), ("-2.5", -2.5), ("1e3", 1000.0), ("1E-3", 0.001), (".5", 0.5), ("5.", 5.0), ("-0.0", -0.0),
      ("+1.5", 1.5), ("0e999", 0.0), ("NaN", .double(.nan)), ("nan", .double(.nan)), ("Infinity", .double(.infinity)),
      ("-inf", .double(-.infinity)), ("+INFINITY", .double(.infinity)), ("<real>+infinity</real>", .double(.infinity)),
      ("<real>200.19999694824219</real>", 200.19999694824219), ("<integer>5</integer>", 5.0),
      ("5e-324", .double(.leastNonzeroMagnitude)), ("1e999", nil), ("-1e999", nil), ("1e-999", nil), ("0x1p3", nil),
      ("nan(0x1)", nil), ("infinit", nil), ("", nil), ("1,5", nil), ("1e", nil), ("e5", nil), (".", nil), ("- 5", nil),
    ] as [(String, Value?)])
  func `a number is decimal, or a word`(text: String, value: Value?) {
    #expect(TextValue(text).value(as: .number) == value)
  }

  @Test(
    arguments: [
      ("5", "5"), ("true", "true"), ("", ""), (" a ", " a "), (#""q s""#, "q s"), ("<string>x</string>", "x"),
      ("<string/>", ""), ("<integer>5</integer>", "<integer>5</integer>"), ("{a=1;}", "{a=1;}"), ("[1]", "[1]"),
      ("<oops", "<oops"), ("AAEC", "AAEC"),
    ] as [(String, Value)])
  func `a string is the text itself, or the text between quotes or string tags`(text: String, value: Value) {
    #expect(TextValue(text).value(as: .string) == value)
  }

  @Test func `a date is RFC 3339 or tagged`() throws {
    let date = Value.date(try Timestamp(text: "2001-01-02T00:00:00Z"))
    let forms = [
      "2001-01-02T00:00:00Z", "<date>2001-01-02T00:00:00Z</date>", #"{"$date":"2001-01-02T00:00:00Z"}"#,
      " 2001-01-02T00:00:00Z ",
    ]
    for text in forms { #expect(TextValue(text).value(as: .date) == date, "\(text)") }
    for text in ["2001-01-02", "2001-02-29T00:00:00Z", "<string>2001-01-02T00:00:00Z</string>", "0", ""] {
      #expect(TextValue(text).value(as: .date) == nil, "\(text)")
    }
  }

  @Test func `bytes are tagged, or base64 when bytes are asked for`() {
    let forms = ["AAEC", "<data>AAEC</data>", "<000102>", #"{"$binary":{"base64":"AAEC","subType":"00"}}"#, " AAEC "]
    for text in forms { #expect(TextValue(text).value(as: .bytes) == .bytes([0, 1, 2]), "\(text)") }
    for text in ["AAE", "AAE*", "\"AAEC\"", "<string>AAEC</string>", "AAE=="] {
      #expect(TextValue(text).value(as: .bytes) == nil, "\(text)")
    }
  }

  @Test func `arrays and objects are JSON or property lists, and never each other`() {
    for text in ["[\"1\"]", "(1)", "<array><string>1</string></array>"] {
      #expect(TextValue(text).value(as: .array) == ["1"])
      #expect(TextValue(text).value(as: .object) == nil)
    }
    for text in [#"{"a":"1"}"#, "{a=1;}", "<dict><key>a</key><string>1</string></dict>"] {
      #expect(TextValue(text).value(as: .object) == ["a": "1"])
      #expect(TextValue(text).value(as: .array) == nil)
    }
    #expect(TextValue("1,2").value(as: .array) == nil)
    #expect(TextValue(#"{"$date":"2001-01-02T00:00:00Z"}"#).value(as: .object) == nil)
  }

  @Test(
    arguments: [
      ("1", [1, 1.0, true, "1"]), ("on", ["on", true]), ("-5", [-5, -5.0, "-5"]), ("2.5", [2.5, "2.5"]),
      ("3.0", [3.0, 3, "3.0"]), ("dark", ["dark", .bytes([117, 170, 228])]), ("", ["", .bytes([])]),
      ("<integer>5</integer>", [5, 5.0, "<integer>5</integer>"]), ("{a=1;}", [["a": "1"], "{a=1;}"]),
      (#""5""#, ["5"]), ("nan", ["nan", .double(.nan)]),
    ] as [(String, [Value])])
  func `a text can be several things, the natural one first`(text: String, values: [Value]) {
    #expect(TextValue(text).candidates == values)
  }

  @Test func `texts are distinguished by their bytes`() {
    #expect(TextValue("\u{e9}") != TextValue("e\u{301}"))
    #expect(Set([TextValue("\u{e9}"), TextValue("e\u{301}"), TextValue("\u{e9}")]).count == 2)
  }

  @Test(
    arguments: [
      "x", "7", "-", "{", "(", "[", "<", "\"", "\\", "&", "<a>", "(a,", "{a=", "/*", "<!--", " ", "=", "1.", "\\U",
    ])
  func `a long text of anything is text, whatever it begins like`(part: String) {
    let text = String(repeating: part, count: 250_000 / part.utf8.count)
    for start in ["", "(", "<string>", "\""] {
      let value = TextValue(start + text)
      #expect(value.value(as: .date) == nil)
      #expect(value.natural == .string(start + text))
    }
  }
}
