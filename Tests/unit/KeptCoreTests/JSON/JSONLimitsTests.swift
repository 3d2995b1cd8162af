// The limits on the depth and the size of a value in JSON: a value at the limit is accepted, one beyond it is refused.

import KeptCore
@testable import KeptValues
import Testing

@Suite struct JSONLimitsTests {
  private func nested(_ open: String, _ close: String, _ count: Int, inside: String = "") -> String {
    String(repeating: open, count: count) + inside + String(repeating: close, count: count)
  }

  @Test(arguments: [("[", "]", ""), ("[", "]", "1"), (#"{"a":"#, "}", "1.5"), (#"{"$literal":{"$a":"#, "}}", "null")])
  func `64 nested containers are accepted and 65 are refused`(open: String, close: String, inside: String) throws {
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
    Refusal(nested("[", "]", 65), 64, "nested more than 64 levels deep").expect(.tooLarge)
    Refusal("[1, " + nested("[", "]", 64) + "]", 67, "nested more than 64 levels deep").expect(.tooLarge)
    Refusal(nested(#"{"a":"#, "}", 65, inside: "1"), 320, "nested more than 64 levels deep").expect(.tooLarge)
    Refusal(nested(#"{"$literal":{"$a":"#, "}}", 65, inside: "1"), 64 * 18 + 12, "nested more").expect(.tooLarge)
  }

  @Test func `a million brackets are refused before anything is built`() {
    Refusal(String(repeating: "[", count: 1_000_000), 130, "nested more than 64 levels deep").expect(.tooLarge)
    Refusal(String(repeating: #"{"a":"#, count: 1_000_000), 650, "nested more than 64 levels deep").expect(.tooLarge)
  }

  @Test func `text of 16 MiB is accepted, however it is written, and a byte more is refused`() throws {
    let limit = Limits.valueBytes
    let plain = String(repeating: "x", count: limit - 1000)
    let text = try Value(json: "\"" + String(repeating: #"\u0001"#, count: 1000) + plain + "\"").asString
    #expect(text?.utf8.count == limit)
    #expect(text?.utf8.prefix(1000).allSatisfy { $0 == 1 } == true)
    Refusal("\"" + String(repeating: "x", count: limit + 1) + "\"", 0, "16777217 bytes").expect(.tooLarge)
  }

  @Test func `16 MiB of bytes are accepted and one more is refused`() throws {
    // 16 MiB are one byte more than a multiple of three.
    let threes = String(repeating: "BwcH", count: Limits.valueBytes / 3)
    func binary(_ rest: String) -> String { #"{"$binary":{"base64":"\#(threes)\#(rest)","subType":"00"}}"# }
    #expect(try Value(json: binary("Bw==")) == .bytes([UInt8](repeating: 7, count: Limits.valueBytes)))
    Refusal(binary("Bwc="), 0, "16777217 bytes").expect(.tooLarge)
  }

  @Test func `an array counts by its canonical JSON`() throws {
    let spaced = "[" + String(repeating: " ", count: Limits.valueBytes) + "1]"
    #expect(try Value(json: spaced) == [1])
    let full = Value.array([.string(String(repeating: "x", count: Limits.valueBytes - 4))])
    #expect(try Value(json: full.json) == full)
    let longer = Value.array([.string(String(repeating: "x", count: Limits.valueBytes - 3))])
    Refusal(longer.json, 0, "the JSON of the value is 16777217 bytes long").expect(.tooLarge)
  }

  @Test func `an array that is sure to be too large is refused before anything is built`() {
    // Three canonical bytes for each element, two for the brackets around them.
    let text = "[" + String(repeating: "{},[],", count: Limits.valueBytes / 6 + 1)
    Refusal(text, Limits.valueBytes, "longer than 16777216 bytes").expect(.tooLarge)
  }

  @Test func `a text longer than any value needs is not parsed`() {
    let text = [UInt8](repeating: UInt8(ascii: " "), count: Limits.jsonTextBytes + 1)
    Refusal(text, Limits.jsonTextBytes, "at most \(Limits.jsonTextBytes) are allowed").expect(.tooLarge)
  }
}
