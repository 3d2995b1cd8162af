// Errors are messages with a code.

@testable import KeptValues
import Testing

@Suite struct `A store error` {
  @Test func `is a sentence with the key and the place`() {
    let error = StoreError(.invalid, key: "a.b", offset: 7, "a comma is missing")
    #expect(error.description == "\"a.b\": a comma is missing (at byte 7)")
    #expect(StoreError(.busy, "try again").description == "try again")
  }

  @Test func `shortens a key that would leave no room for the sentence`() {
    let error = StoreError(.invalid, key: String(repeating: "\u{1F3B5}", count: 300), "is too long")
    #expect(error.description.hasSuffix("\u{2026}\": is too long"))
    #expect(error.description.utf8.count < 400)
  }

  @Test func `has codes of later versions, too`() {
    #expect(StoreError.Code(rawValue: -99).description == "unknown status")
    #expect(StoreError.Code.wrongType.description == "wrong type")
  }
}
