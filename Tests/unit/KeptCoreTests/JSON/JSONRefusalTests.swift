// What the reader refuses, the offset of the error, and its message. Each table has one subject. The rows marked json-c
// are accepted or misread by json-c itself.

import KeptCore
@testable import KeptValues
import Testing

/// An invalid text, the offset of the error, and a part of the message.
struct Refusal: CustomTestStringConvertible {
  let bytes: [UInt8]
  let offset: Int
  let fragment: String

  init(_ text: String, _ offset: Int, _ fragment: String) {
    self.init(Array(text.utf8), offset, fragment)
  }

  init(_ bytes: [UInt8], _ offset: Int, _ fragment: String) {
    self.bytes = bytes
    self.offset = offset
    self.fragment = fragment
  }

  var testDescription: String { "\(String(decoding: bytes.prefix(60), as: UTF8.self)) at \(offset)" }

  func expect(_ code: StoreError.Code = .invalid, sourceLocation: SourceLocation = #_sourceLocation) {
    let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation) {
      try bytes.withUnsafeBufferPointer { _ = try Value(jsonBytes: $0) }
    }
    #expect(error?.code == code, sourceLocation: sourceLocation)
    #expect(error?.offset == offset, sourceLocation: sourceLocation)
    #expect(error?.message.contains(fragment) == true, "\(error?.message ?? "")", sourceLocation: sourceLocation)
  }
}

@Suite struct JSONRefusalTests {
  @Test(arguments: [
    Refusal("", 0, "ends where a value"),
    Refusal("  \n ", 4, "ends where a value"),
    Refusal("[", 1, "ends where a value"),
    Refusal("[1", 2, "',' or ']'"),
    Refusal("[1,", 3, "ends where a value"),
    Refusal("[1,]", 3, "expected a JSON value"),
    Refusal("[,1]", 1, "expected a JSON value"),
    Refusal("[1 2]", 3, "',' or ']'"),
    Refusal("[1}", 2, "',' or ']'"),
    Refusal("]", 0, "expected a JSON value"),
    Refusal("{", 1, "a key in double quotes"),
    Refusal("{\"a\"", 4, "expected ':' after a key"),
    Refusal("{\"a\" 1}", 5, "expected ':' after a key"),
    Refusal("{\"a\":", 5, "ends where a value"),
    Refusal("{\"a\":}", 5, "expected a JSON value"),
    Refusal("{\"a\":1", 6, "',' or '}'"),
    Refusal("{\"a\":1]", 6, "',' or '}'"),
    Refusal("{\"a\":1,", 7, "a key in double quotes"),
    Refusal("{\"a\":1,}", 7, "a key in double quotes"),
    Refusal("{,}", 1, "a key in double quotes"),
    Refusal("{a:1}", 1, "a key in double quotes"),
    Refusal("{1:2}", 1, "a key in double quotes"),
    Refusal("{'a':1}", 1, "a key in double quotes"),  // json-c
    Refusal("'a'", 0, "an array, a string"),
    Refusal("tru", 0, "true, false or null"),
    Refusal("nul", 0, "true, false or null"),
    Refusal("[falsy]", 1, "true, false or null"),
    Refusal("True", 0, "expected a JSON value"),
    Refusal("NULL", 0, "JSON has no NaN"),
    Refusal("undefined", 0, "expected a JSON value"),
    Refusal("/* a comment */ 1", 0, "expected a JSON value"),
    Refusal("\u{feff}1", 0, "expected a JSON value"),
    Refusal("\u{b}1", 0, "expected a JSON value"),
    Refusal("\u{a0}1", 0, "expected a JSON value"),
  ])
  func `a text that is not JSON is refused`(refusal: Refusal) { refusal.expect() }

  @Test(arguments: [
    Refusal("1 2", 2, "unexpected text after the JSON value"),
    Refusal("{} {}", 3, "unexpected text after the JSON value"),
    Refusal("nulls", 4, "unexpected text after the JSON value"),
    Refusal("1 // a comment", 2, "unexpected text after the JSON value"),
    Refusal("0x10", 1, "unexpected text after the JSON value"),
    Refusal("1_000", 1, "unexpected text after the JSON value"),
    Refusal("1,5", 1, "unexpected text after the JSON value"),
    Refusal("[1]\0", 3, "unexpected text after the JSON value"),  // json-c
    Refusal("1\0", 1, "unexpected text after the JSON value"),  // json-c
    Refusal("\"a\"\0\"b\"", 3, "unexpected text after the JSON value"),  // json-c
  ])
  func `trailing text is refused`(refusal: Refusal) { refusal.expect() }

  @Test(arguments: [
    Refusal("NaN", 0, "$numberDouble"),  // json-c
    Refusal("[1,NaN]", 3, "$numberDouble"),  // json-c
    Refusal("Infinity", 0, "$numberDouble"),  // json-c
    Refusal("-Infinity", 0, "$numberDouble"),  // json-c
    Refusal("01", 0, "a leading 0"),
    Refusal("-01", 1, "a leading 0"),
    Refusal("-00", 1, "a leading 0"),
    Refusal("1.", 2, "expected a digit"),  // json-c
    Refusal("[1.]", 3, "expected a digit"),  // json-c
    Refusal("1.e5", 2, "expected a digit"),
    Refusal(".5", 0, "expected a JSON value"),
    Refusal("+1", 0, "expected a JSON value"),
    Refusal("-", 1, "expected a digit"),
    Refusal("--1", 1, "expected a digit"),
    Refusal("1e", 2, "expected a digit"),
    Refusal("1e+", 3, "expected a digit"),
    Refusal("1e+-5", 3, "expected a digit"),
    Refusal("-0", 0, "cannot be negative zero"),  // json-c
    Refusal("[1,-0]", 3, "cannot be negative zero"),  // json-c
    Refusal("9223372036854775808", 0, "$numberULong"),
    Refusal("[18446744073709551615]", 1, "$numberULong"),
    Refusal("18446744073709551616", 0, "more than 64 bits"),  // json-c
    Refusal("[ 99999999999999999999999 ]", 2, "more than 64 bits"),  // json-c
    Refusal("-9223372036854775809", 0, "below -9223372036854775808"),  // json-c
    Refusal("-99999999999999999999", 0, "more than 64 bits"),  // json-c
    Refusal("1e309", 0, "range of a double"),  // json-c
    Refusal("[-1.8e308]", 1, "range of a double"),  // json-c
    Refusal("1e-400", 0, "range of a double"),  // json-c
    Refusal("-1e-400", 0, "range of a double"),  // json-c
    Refusal("0.000001e-320", 0, "range of a double"),  // json-c
    Refusal("1e99999999999999999999", 0, "range of a double"),  // json-c
    Refusal("1e-99999999999999999999", 0, "range of a double"),  // json-c
  ])
  func `a number that would not survive is refused`(refusal: Refusal) { refusal.expect() }

  @Test(arguments: [
    Refusal("\"abc", 4, "ends inside a string"),
    Refusal("{\"abc", 5, "ends inside a string"),
    Refusal("\"a\tb\"", 2, "a control character"),  // json-c
    Refusal("\"\n\"", 1, "a control character"),  // json-c
    Refusal("\"\u{1f}\"", 1, "a control character"),  // json-c
    Refusal("\"a\0b\"", 2, "a control character"),  // json-c
    Refusal("{\"\u{1}\":1}", 2, "a control character"),  // json-c
    Refusal(#""a\x""#, 2, "invalid escape"),
    Refusal(#""\'""#, 1, "invalid escape"),
    Refusal(#""\"#, 1, "invalid escape"),
    Refusal(#""\U0041""#, 1, "invalid escape"),
    Refusal(#""\u12""#, 1, "4 hexadecimal digits"),
    Refusal(#""\u12G4""#, 1, "4 hexadecimal digits"),
    Refusal(#""\u123"#, 1, "4 hexadecimal digits"),
    Refusal(#""a\ud800""#, 2, "half of a surrogate pair"),  // json-c
    Refusal(#""\udc00""#, 1, "half of a surrogate pair"),  // json-c
    Refusal(#""\ud800x""#, 1, "half of a surrogate pair"),  // json-c
    Refusal(#""\ud800\n""#, 1, "half of a surrogate pair"),  // json-c
    Refusal(#""\ud800\u0041""#, 1, "half of a surrogate pair"),  // json-c
    Refusal(#""\ud800\ud800\udc00""#, 1, "half of a surrogate pair"),  // json-c
    Refusal(#""\udc00\ud800""#, 1, "half of a surrogate pair"),  // json-c
    Refusal(#""\ud800\u12""#, 1, "4 hexadecimal digits"),
    Refusal(#"{"\ud800":1}"#, 2, "half of a surrogate pair"),  // json-c
  ])
  func `a string that JSON does not have is refused`(refusal: Refusal) { refusal.expect() }

  @Test(arguments: [
    Refusal([0x22, 0xFF, 0x22], 1, "not valid UTF-8"),  // json-c
    Refusal([0x22, 0x61, 0x80, 0x22], 2, "not valid UTF-8"),  // json-c
    Refusal([0x22, 0xC0, 0x80, 0x22], 1, "not valid UTF-8"),  // json-c
    Refusal([0x22, 0xC1, 0xBF, 0x22], 1, "not valid UTF-8"),  // json-c
    Refusal([0x22, 0xC3, 0x28, 0x22], 1, "not valid UTF-8"),  // json-c
    Refusal([0x22, 0xE0, 0x80, 0x80, 0x22], 1, "not valid UTF-8"),  // json-c
    Refusal([0x22, 0xE2, 0x82, 0x22], 1, "not valid UTF-8"),  // json-c
    Refusal([0x22, 0xE2, 0x82], 1, "not valid UTF-8"),
    Refusal([0x22, 0xE2], 1, "not valid UTF-8"),
    Refusal([0x22, 0xED, 0xA0, 0x80, 0x22], 1, "not valid UTF-8"),  // json-c
    Refusal([0x22, 0xEF, 0xBF, 0xC0, 0x22], 1, "not valid UTF-8"),  // json-c
    Refusal([0x22, 0xF0, 0x8F, 0xBF, 0xBF, 0x22], 1, "not valid UTF-8"),  // json-c
    Refusal([0x22, 0xF1, 0x80, 0x80, 0x22], 1, "not valid UTF-8"),  // json-c
    Refusal([0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], 1, "not valid UTF-8"),  // json-c
    Refusal([0x22, 0xF5, 0x80, 0x80, 0x80, 0x22], 1, "not valid UTF-8"),  // json-c
    Refusal([0x7B, 0x22, 0x61, 0xFE, 0x22, 0x3A, 0x31, 0x7D], 3, "not valid UTF-8"),  // json-c
    Refusal([0xC3, 0xA9], 0, "expected a JSON value"),
  ])
  func `text that is not UTF-8 is refused`(refusal: Refusal) { refusal.expect() }

  @Test(arguments: [
    Refusal(#"{"k\u0000x":1}"#, 3, "a key contains a NUL"),  // json-c
    Refusal("{\"k\0x\":1}", 3, "a key contains a NUL"),  // json-c
    Refusal(#"{"a":1,"a":2}"#, 7, "this key twice"),  // json-c
    Refusal(#"{"a":1,"\u0061":2}"#, 7, "this key twice"),  // json-c
    Refusal(#"{"\ud834\udd1e":1, "𝄞":1}"#, 19, "this key twice"),  // json-c
    Refusal(#"{"":1,"":1}"#, 6, "this key twice"),  // json-c
    Refusal(#"[{"b":{"a":1,"c":{"a":0},"a":2}}]"#, 25, "this key twice"),  // json-c
    Refusal(#"{"$literal":{"$a":1,"$a":1}}"#, 20, "this key twice"),  // json-c
  ])
  func `a duplicate key is refused`(refusal: Refusal) { refusal.expect() }

  @Test(arguments: [2, 15, 16, 17, 18, 40])
  func `a duplicate key is refused among few keys and many`(count: Int) throws {
    let keys = (1...count).map { "\"\($0)\":0" }
    #expect(try Value(json: "{\(keys.joined(separator: ","))}").asDictionary?.count == count)
    for first in [0, count - 1] {
      let text = "{\(keys.joined(separator: ",")),\(keys[first])}"
      Refusal(text, text.utf8.count - keys[first].utf8.count - 1, "this key twice").expect()
    }
  }

  @Test(arguments: [
    Refusal(#"{"$foo":1}"#, 0, "not a known form"),
    Refusal(#"[1,{"a":{"$foo":1}}]"#, 8, "not a known form"),
    Refusal(#"{"$":1}"#, 0, "$literal"),
    Refusal(#"{"a":1,"$b":2}"#, 0, "not a known form"),
    Refusal(#"{"$date":"2026-01-01T00:00:00Z","a":1}"#, 0, "not a known form"),
    Refusal(#"{"$Date":"2026-01-01T00:00:00Z"}"#, 0, "not a known form"),
    Refusal(#"{"$numberInt":"1"}"#, 0, "not a known form"),
    Refusal(#"{"$oid":"5d505646cf6d4fe581014ab2"}"#, 0, "not a known form"),
    Refusal(#"{"$numberULong":1}"#, 0, "$numberULong takes"),
    Refusal(#"{"$numberULong":"-1"}"#, 0, "$numberULong takes"),
    Refusal(#"{"$numberULong":"+1"}"#, 0, "$numberULong takes"),
    Refusal(#"{"$numberULong":"01"}"#, 0, "$numberULong takes"),
    Refusal(#"{"$numberULong":""}"#, 0, "$numberULong takes"),
    Refusal(#"{"$numberULong":"1 "}"#, 0, "$numberULong takes"),
    Refusal(#"{"$numberULong":"1\u0000"}"#, 0, "$numberULong takes"),
    Refusal(#"{"$numberULong":"18446744073709551616"}"#, 0, "$numberULong takes"),
    Refusal(#"{"$numberLong":42}"#, 0, "$numberLong takes"),
    Refusal(#"{"$numberLong":"9223372036854775808"}"#, 0, "$numberLong takes"),
    Refusal(#"{"$numberLong":"-0"}"#, 0, "$numberLong takes"),
    Refusal(#"{"$numberLong":"42abc"}"#, 0, "$numberLong takes"),
    Refusal(#"{"$numberLong":"1.0"}"#, 0, "$numberLong takes"),
    Refusal(#"{"$numberDouble":"1.5"}"#, 0, "write other numbers bare"),
    Refusal(#"{"$numberDouble":1.5}"#, 0, "write other numbers bare"),
    Refusal(#"{"$numberDouble":"nan"}"#, 0, "$numberDouble takes"),
    Refusal(#"{"$numberDouble":"+Infinity"}"#, 0, "$numberDouble takes"),
    Refusal(#"{"$literal":1}"#, 0, "$literal takes an object"),
    Refusal(#"{"$literal":[]}"#, 0, "$literal takes an object"),
    Refusal(#"{"$literal":null}"#, 0, "$literal takes an object"),
    Refusal(#"{"$literal":{"a":{"$b":1}}}"#, 17, "not a known form"),
    Refusal(#" [ {"$literal":{"$literal":{"$literal":1}}}]"#, 27, "$literal takes an object"),
  ])
  func `a dollar form that is not one is refused`(refusal: Refusal) { refusal.expect() }

  @Test(arguments: [
    #"{"$binary":"AA=="}"#, #"{"$binary":{}}"#, #"{"$binary":null}"#, #"{"$binary":{"base64":"AA=="}}"#,
    #"{"$binary":{"base64":"AA==","subType":"01"}}"#, #"{"$binary":{"base64":"AA==","subType":0}}"#,
    #"{"$binary":{"base64":"AA==","subType":"00","a":1}}"#, #"{"$binary":{"base64":1,"subType":"00"}}"#,
    #"{"$binary":{"data":"AA==","subType":"00"}}"#, #"{"$binary":["AA==","00"]}"#,
  ])
  func `a binary of another shape is refused`(text: String) {
    Refusal("[" + text + "]", 1, "$binary takes exactly").expect()
  }

  @Test(arguments: [
    "A", "AA", "AA=", "AAA", "A===", "====", "AA==AA==", "AB==", "AAB=", "A-_=", "A A=", "AA=A", "é==", "AA==\\n",
  ])
  func `base64 that is not the one text of its bytes is refused`(base64: String) {
    Refusal(#"{"$binary":{"base64":"\#(base64)","subType":"00"}}"#, 0, "must use the alphabet").expect()
  }

  @Test func `a date that is not one is refused with the sentence of the date`() {
    Refusal(#"[{"$date":"2026-02-29T00:00:00Z"}]"#, 1, "month or day of the date does not exist").expect()
    Refusal(#"{"$date":"2026-02-28"}"#, 0, "must have the form").expect()
    Refusal(#"{"$date":1234}"#, 0, "$date takes a string").expect()
    Refusal(#"{"$date":{"$numberLong":"1"}}"#, 0, "$date takes a string").expect()
  }

  @Test func `no message quotes the text`() {
    for text in [
      "hunter2", "[\"hunter2]", #"{"hunter2":1,"hunter2":2}"#, #"{"$hunter2":1}"#, #"{"$numberLong":"hunter2"}"#,
    ] {
      let error = #expect(throws: StoreError.self) { try Value(json: text) }
      #expect(error?.description.contains("hunter2") == false)
    }
  }

  @Test(arguments: 1...20)
  func `a broken canonical text is read or refused, and never crashes`(seed: UInt64) throws {
    var random = SeededRandom(seed)
    var generator = ValueGenerator(seed: seed)
    for _ in 0..<200 {
      var bytes: [UInt8] = []
      try generator.storedValue().appendJSON(to: &bytes)
      let place = Int.random(in: 0..<bytes.count, using: &random)
      switch Int.random(in: 0..<3, using: &random) {
      case 0: bytes.removeSubrange(place...)
      case 1: bytes[place] = UInt8.random(in: 0...255, using: &random)
      default: bytes.insert(pick(Array(#"{}[]",:\0e-.$u"#.utf8), &random), at: place)
      }
      do {
        let value = try bytes.withUnsafeBufferPointer { try Value(jsonBytes: $0) }
        #expect(try Value(json: value.json) == value, "seed \(seed)")
      } catch let error as StoreError {
        #expect(0...bytes.count ~= error.offset ?? -1, "seed \(seed): \(error)")
        #expect(error.code == .invalid, "seed \(seed): \(error)")
      }
    }
  }

  private func pick(_ choices: [UInt8], _ random: inout SeededRandom) -> UInt8 {
    choices[Int(random.next() % UInt64(choices.count))]
  }
}
