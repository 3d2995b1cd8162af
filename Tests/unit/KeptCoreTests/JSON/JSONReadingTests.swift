// What the reader accepts beyond the canonical text.

@testable import KeptValues
import Testing

@Suite struct JSONReadingTests {
  @Test(
    arguments: [
      ("null", .null), (" \t\r\n true \n", true), ("false", false), ("0", 0), ("-1", -1),
      ("9223372036854775807", .int(.max)), ("-9223372036854775808", .int(.min)), ("\"\"", ""),
      ("[ ]", []), ("{ }", .dictionary([:])), (" [ 1 , [ ] , { \"a\" : null } ] ", [1, [], ["a": .null]]),
      (#"{"b":1,"a":2}"#, ["a": 2, "b": 1]),
    ] as [(String, Value)])
  func `plain JSON reads as its values`(text: String, value: Value) throws {
    #expect(try Value(json: text) == value)
  }

  @Test(arguments: [
    ("0.0", 0.0), ("-0.0", -0.0), ("-0e0", -0.0), ("0e999", 0.0), ("0.000e-999", 0.0), ("1E5", 100_000.0),
    ("1e+05", 100_000.0), ("1.50", 1.5), ("1e0", 1.0), ("2.5e-1", 0.25),
    ("4.9406564584124654e-324", .leastNonzeroMagnitude),
    ("1.7976931348623158e308", .greatestFiniteMagnitude), ("9007199254740992.9999999999", 9_007_199_254_740_992.0),
    ("9007199254740993.00000000000000000000000000000000001", 9_007_199_254_740_994.0),
    ("0.1000000000000000055511151231257827021181583404541015625", 0.1),
  ])
  func `a point or an exponent makes a double, rounded correctly`(text: String, double: Double) throws {
    #expect(try Value(json: text).asDouble?.bitPattern == double.bitPattern)
    #expect(try Value(json: text).kind == .double)
  }

  @Test func `a double of a hundred thousand digits is read`() throws {
    #expect(try Value(json: "1." + String(repeating: "0", count: 100_000) + "1") == 1.0)
    #expect(try Value(json: String(repeating: "9", count: 300) + "e-" + "299") == 10.0)
  }

  @Test(arguments: [
    (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"), (#""\u0000""#, "\0"), (#""a\u0000b""#, "a\0b"),
    (#""\u00e9\u00E9""#, "éé"), (#""\ud834\udd1e\uD834\uDD1E""#, "𝄞𝄞"),
    (#""\udbff\udfff\ud800\udc00""#, "\u{10ffff}\u{10000}"),
    (#""\ud7ff\ue000\uffff""#, "\u{d7ff}\u{e000}\u{ffff}"), ("\"\u{7f}\u{80}\u{2028}\"", "\u{7f}\u{80}\u{2028}"),
  ])
  func `escapes are read as their characters`(text: String, string: String) throws {
    #expect(try Value(json: text) == .string(string))
  }

  @Test(
    arguments: [
      (#"{"$numberLong":"42"}"#, .int(42)), (#"{"$numberLong":"-9223372036854775808"}"#, .int(.min)),
      (#"{"$numberULong":"7"}"#, .int(7)), (#"{"$numberULong":"9223372036854775807"}"#, .int(.max)),
      (#"{"$numberULong":"9223372036854775808"}"#, .uint(1 << 63)),
      (#"{"$numberULong":"18446744073709551615"}"#, .uint(.max)),
      (#"{"$numberDouble":"Infinity"}"#, .double(.infinity)), (#"{"$numberDouble":"-Infinity"}"#, .double(-.infinity)),
      (#"{"$numberDouble":"NaN"}"#, .double(.nan)),
      (#"{ "$binary" : { "subType" : "00" , "base64" : "AAH/" } }"#, .bytes([0, 1, 255])),
      (#"{"$binary":{"base64":"","subType":"00"}}"#, .bytes([])),
      (#"{"\u0024numberLong":"5"}"#, .int(5)),
      (#"{"$literal":{"a":1}}"#, ["a": 1]), (#"{"$literal":{}}"#, .dictionary([:])),
      (#"{"$literal":{"$date":"x","b":{"$numberLong":"1"}}}"#, ["$date": "x", "b": 1]),
      (#"{"$literal":{"$literal":{"$literal":{"$":1}}}}"#, ["$literal": ["$": 1]]),
      (#"[{"$binary":{"base64":"AA==","subType":"00"}},[1.5,{"a":2.5}]]"#, [.bytes([0]), [1.5, ["a": 2.5]]]),
    ] as [(String, Value)])
  func `dollar forms read as their kinds`(text: String, value: Value) throws {
    #expect(try Value(json: text) == value)
  }

  @Test func `keys that only look alike are not duplicates`() throws {
    let value = try Value(json: #"{"\u00e9":1,"e\u0301":2,"a":{"a":1},"A":3,"":4}"#)
    #expect(value.asDictionary?.count == 5)
  }

  @Test func `bytes need no terminator, and nothing past them is read`() throws {
    for text in ["12", "1.5", "true", "null", "\"a\"", "[1]"] {
      let bytes = Array((text + "34").utf8)
      let value = try bytes.withUnsafeBufferPointer { bytes in
        try Value(jsonBytes: UnsafeBufferPointer(rebasing: bytes.dropLast(2)))
      }
      #expect(value.json == text)
    }
  }
}
