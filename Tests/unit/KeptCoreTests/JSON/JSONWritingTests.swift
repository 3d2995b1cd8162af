// The canonical text: exactly one for each value.

@testable import KeptValues
import Testing

@Suite struct JSONWritingTests {
  @Test(
    arguments: [
      (.null, "null"), (true, "true"), (false, "false"), (0, "0"), (-1, "-1"), (10, "10"),
      (.int(.min), "-9223372036854775808"), (.int(.max), "9223372036854775807"),
      (.uint(1 << 63), #"{"$numberULong":"9223372036854775808"}"#), (.uint(7), "7"),
      (1.0, "1.0"), (1000.0, "1000.0"), (-0.0, "-0.0"), (1e16, "1e+16"), (.double(.leastNonzeroMagnitude), "5e-324"),
      (0.1, "0.1"),
      (.double(.nan), #"{"$numberDouble":"NaN"}"#), (.double(.infinity), #"{"$numberDouble":"Infinity"}"#),
      (.double(-.infinity), #"{"$numberDouble":"-Infinity"}"#),
      (.bytes([]), #"{"$binary":{"base64":"","subType":"00"}}"#),
      (.bytes([0, 1, 2, 255]), #"{"$binary":{"base64":"AAEC/w==","subType":"00"}}"#),
      ([1, [], .null], "[1,[],null]"), (.dictionary([:]), "{}"),
      (["b": 1, "a": ["c": 2]], #"{"a":{"c":2},"b":1}"#),
      (["$a": 1], #"{"$literal":{"$a":1}}"#), (["!": 1, "$": 2], #"{"$literal":{"!":1,"$":2}}"#),
      (["a$": 1], #"{"a$":1}"#), (["$a": ["$b": 1]], #"{"$literal":{"$a":{"$literal":{"$b":1}}}}"#),
    ] as [(Value, String)])
  func `every kind has one text`(value: Value, text: String) {
    #expect(value.json == text)
    #expect(value.description == text)
  }

  @Test func `a date is RFC 3339 with the digits it needs`() throws {
    let date = try Timestamp(seconds: 1_795_218_241, nanoseconds: 250_000_000)
    #expect(Value.date(date).json == #"{"$date":"2026-11-20T23:44:01.25Z"}"#)
  }

  @Test func `only what JSON requires is escaped`() {
    let controls = String(String.UnicodeScalarView((0..<0x20).compactMap { Unicode.Scalar($0) }))
    let escaped =
      #"\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007\b\t\n\u000b\f\r\u000e\u000f"#
      + #"\u0010\u0011\u0012\u0013\u0014\u0015\u0016\u0017\u0018\u0019\u001a\u001b\u001c\u001d\u001e\u001f"#
    #expect(Value.string(controls).json == "\"\(escaped)\"")
    #expect(Value.string(#"a"b\c/d"#).json == #""a\"b\\c/d""#)
    #expect(Value.string("\u{7f}é\u{2028}𝄞").json == "\"\u{7f}é\u{2028}𝄞\"")
    #expect(Value.dictionary(["\"\n": 1]).json == #"{"\"\n":1}"#)
  }

  @Test func `keys are sorted by their bytes, not by their meaning`() {
    let value: Value = ["z": 1, "e\u{301}": 2, "\u{e9}": 3, "a": 4, "B": 5, "": 6, "aa": 7, "\u{ffff}": 8, "𝄞": 9]
    let members = #""":6,"B":5,"a":4,"aa":7,"e\#u{301}":2,"z":1,"\#u{e9}":3,"\#u{ffff}":8,"𝄞":9"#
    #expect(value.json == "{\(members)}")
  }

  @Test func `equal values have equal text, whatever the text they were read from`() throws {
    let spellings = [
      #"{"a":[1,2.5],"b":"é"}"#, #" { "b" : "\u00e9" , "a" : [ 1 , 25e-1 ] } "#,
      #"{"$literal":{"\u0061":[{"$numberLong":"1"},2.50],"b":"é"}}"#,
    ]
    #expect(Set(try spellings.map { try Value(json: $0).json }) == [spellings[0]])
  }

  @Test func `appending keeps the existing text`() {
    var bytes = Array("x=".utf8)
    Value.array([1]).appendJSON(to: &bytes)
    #expect(String(decoding: bytes, as: UTF8.self) == "x=[1]")
  }
}
