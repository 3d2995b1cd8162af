import KeptCore
import Testing

@Suite struct JSONReadingTests {
  @Test(arguments: [
    "null", "true", "0", "-12", "9223372036854775807", "-9223372036854775808", "1.5", "-0.0", "1e+16", "5e-324",
    #""""#, #""a\"b\\c\u0000\u001f/é𝄞""#, "[]", "{}", "[1,[2,{}],null]", #"{"a":1,"b":[true]}"#,
    #"{"$numberULong":"18446744073709551615"}"#, #"{"$numberDouble":"NaN"}"#,
    #"{"$binary":{"base64":"AAECAw==","subType":"00"}}"#, #"{"$date":"2026-11-20T23:44:01.25Z"}"#,
    #"{"$literal":{"$a":{"$date":"0001-01-01T00:00:00Z"}}}"#,
  ])
  func `canonical text reads and writes back as it was`(text: String) throws {
    #expect(try Value(json: text).json == text)
  }
}
