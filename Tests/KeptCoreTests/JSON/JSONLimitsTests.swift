// How deep and how large a value may be in JSON; the limits themselves are fine, one more is not.

import KeptCore
import Testing

@Suite struct JSONLimitsTests {
  private func nested(_ open: String, _ close: String, _ count: Int, inside: String = "") -> String {
    String(repeating: open, count: count) + inside + String(repeating: close, count: count)
  }

  @Test(arguments: [("[", "]", ""), ("[", "]", "1"), (#"{"a":"#, "}", "1.5"), (#"{"$literal":{"$a":"#, "}}", "null")])
  func `64 containers inside each other are fine and 65 are not`(open: String, close: String, inside: String) throws {
    let deep = nested(open, close, 64, inside: inside)
    #expect(try Value(json: deep).json == deep)
    let error = #expect(throws: StoreError.self) { try Value(json: nested(open, close, 65, inside: inside)) }
    #expect(error?.code == .tooLarge)
  }

  @Test func `the braces of dollar forms do not count`() throws {
    let literals = nested(#"{"$literal":{"$a":"#, "}}", 64, inside: #"{"$binary":{"base64":"AA==","subType":"00"}}"#)
    let value = try Value(json: literals)
    #expect(value.json == literals)
    #expect(try value.checkedForStore() == value)
    let dates = nested("[", "]", 64, inside: #"{"$date":"2026-01-01T00:00:00Z"}"#)
    #expect(try Value(json: dates).json == dates)
  }

  @Test func `the 65th container is where the text is wrong`() {
    Refusal(nested("[", "]", 65), 64, "nested more than 64 deep").expect(.tooLarge)
    Refusal("[1, " + nested("[", "]", 64) + "]", 67, "nested more than 64 deep").expect(.tooLarge)
    Refusal(nested(#"{"a":"#, "}", 65, inside: "1"), 320, "nested more than 64 deep").expect(.tooLarge)
    Refusal(nested(#"{"$literal":{"$a":"#, "}}", 65, inside: "1"), 64 * 18 + 12, "nested more").expect(.tooLarge)
  }

  @Test func `a million brackets are refused before anything is built`() {
    Refusal(String(repeating: "[", count: 1_000_000), 130, "nested more than 64 deep").expect(.tooLarge)
    Refusal(String(repeating: #"{"a":"#, count: 1_000_000), 650, "nested more than 64 deep").expect(.tooLarge)
  }

  @Test func `text of 16 MiB is fine, however it is written, and a byte more is not`() throws {
    let limit = Limits.valueBytes
    #expect(try Value(json: "\"" + String(repeating: "x", count: limit) + "\"").asString?.utf8.count == limit)
    let escaped = try Value(json: "\"" + String(repeating: #"\u0001"#, count: limit) + "\"")
    #expect(escaped.asString?.utf8.count == limit)
    Refusal("\"" + String(repeating: "x", count: limit + 1) + "\"", 0, "16777217 bytes").expect(.tooLarge)
  }

  @Test func `bytes of 16 MiB are fine and one more is not`() throws {
    let limit = Limits.valueBytes
    let bytes = [UInt8](repeating: 7, count: limit)
    #expect(try Value(json: Value.bytes(bytes).json) == .bytes(bytes))
    Refusal(Value.bytes(bytes + [7]).json, 0, "16777217 bytes").expect(.tooLarge)
  }

  @Test func `an array counts by its canonical JSON`() throws {
    let spaced = "[" + String(repeating: " ", count: Limits.valueBytes) + "1]"
    #expect(try Value(json: spaced) == [1])
    let full = Value.array([.string(String(repeating: "x", count: Limits.valueBytes - 4))])
    #expect(try Value(json: full.json) == full)
    Refusal(Value.array([.string(String(repeating: "x", count: Limits.valueBytes - 3))]).json, 0, "as JSON")
      .expect(.tooLarge)
  }

  @Test func `a longer text than any value needs is not looked at`() {
    let text = String(repeating: " ", count: Limits.jsonTextBytes) + "1"
    Refusal(text, Limits.jsonTextBytes, "at most \(Limits.jsonTextBytes) are read").expect(.tooLarge)
  }
}
