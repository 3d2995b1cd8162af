// The form that a store keeps, and what it refuses.

@testable import KeptValues
import Testing

@Suite struct ValueStoredFormTests {
  private func expectRefused(
    _ value: Value, _ code: StoreError.Code, _ fragment: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation) { try value.checkedForStore() }
    #expect(error?.code == code, sourceLocation: sourceLocation)
    #expect(error?.message.contains(fragment) == true, sourceLocation: sourceLocation)
  }

  private func nested(_ levels: Int, inside: Value = 1) -> Value {
    (0..<levels).reduce(inside) { value, level in level % 2 == 0 ? [value] : ["a": value] }
  }

  @Test func `a canonical value stays as it is`() throws {
    let date = try Timestamp(seconds: -1, nanoseconds: 5)
    for value: Value in [
      true, 0, .uint(.max), -0.0, .double(.infinity), "a\0b", .bytes([0]), .date(date), [.null, [1.5]],
      ["$a": ["": .null]],
    ] {
      #expect(try value.checkedForStore() == value)
    }
  }

  @Test func `every NaN becomes the quiet one, and a small uint an int, at every depth`() throws {
    let odd: [Value] = [.double(.signalingNaN), .double(-.nan), .uint(7), .uint(.max), .double(.nan), .null]
    let even: [Value] = [.double(.nan), .double(.nan), 7, .uint(.max), .double(.nan), .null]
    for (odd, even) in zip(odd, even).dropLast() { #expect(try odd.checkedForStore() == even) }
    #expect(try Value.array(odd).checkedForStore() == .array(even))
    #expect(try nested(60, inside: .array(odd)).checkedForStore() == nested(60, inside: .array(even)))
    #expect(try Value.uint(UInt64(Int64.max)).checkedForStore() == .int(.max))
  }

  @Test func `null by itself is refused`() {
    expectRefused(.null, .invalid, "null cannot be stored by itself")
  }

  @Test func `a NUL is refused in a dictionary's key and accepted in text`() throws {
    expectRefused(["a\0": 1], .invalid, "key contains a NUL")
    expectRefused([["b": ["\0": 1]]], .invalid, "key contains a NUL")
    #expect(try Value.array(["\0"]).checkedForStore() == ["\0"])
  }

  @Test func `64 nested containers are accepted and 65 are refused`() throws {
    #expect(try nested(64).checkedForStore() == nested(64))
    #expect(try nested(63, inside: []).checkedForStore() == nested(63, inside: []))
    expectRefused(nested(65), .tooLarge, "nested more than 64 levels deep")
    expectRefused(nested(64, inside: []), .tooLarge, "nested more than 64 levels deep")
    expectRefused(nested(2000), .tooLarge, "nested more than 64 levels deep")
  }

  @Test func `16 MiB are accepted and a byte more is refused`() throws {
    let limit = Limits.valueBytes
    let text = String(repeating: "x", count: limit)
    #expect(try Value.string(text).checkedForStore().kind == .string)
    expectRefused(.string(text + "x"), .tooLarge, "16777217 bytes long; at most 16777216")
    #expect(try Value.bytes(Array(text.utf8)).checkedForStore().kind == .bytes)
    expectRefused(.bytes(Array(text.utf8) + [1]), .tooLarge, "16777217 bytes")
    #expect(try Value.array([.string(String(text.dropLast(4)))]).checkedForStore().kind == .array)
    expectRefused([.string(String(text.dropLast(3)))], .tooLarge, "the JSON of the value is 16777217 bytes long")
    expectRefused(["a": .string(String(repeating: "\u{1}", count: limit / 6))], .tooLarge, "the JSON of the value")
  }

  @Test(arguments: 1...10)
  func `the stored form of the stored form is itself, and so is what its JSON reads as`(seed: UInt64) throws {
    var generator = ValueGenerator(seed: seed)
    for _ in 0..<200 {
      let value = try generator.storedValue()
      #expect(try value.checkedForStore() == value, "seed \(seed)")
      #expect(try Value(json: value.json).checkedForStore() == value, "seed \(seed)")
    }
  }
}
