// Any value that a store can hold survives the round trip through JSON, and has exactly one canonical text.

@testable import KeptValues
import Testing

@Suite struct JSONRoundTripTests {
  @Test(arguments: 1...40)
  func `any value reads back from its JSON as the same value`(seed: UInt64) throws {
    try expectRoundTrips(seed: seed)
  }

  @Test func `values of a random seed read back too`() throws {
    try expectRoundTrips(seed: .random(in: 0...UInt64.max))
  }

  private func expectRoundTrips(seed: UInt64) throws {
    var generator = ValueGenerator(seed: seed)
    for number in 0..<250 {
      let value = try generator.storedValue()
      let text = value.json
      let read = try Value(json: text)
      #expect(read == value, "value \(number) of seed \(seed)")
      #expect(read.json == text, "value \(number) of seed \(seed)")
      #expect(read.hashValue == value.hashValue, "value \(number) of seed \(seed)")
    }
  }

  @Test(arguments: [
    0.0, -0.0, 1000.0, 0.1, .leastNonzeroMagnitude, .leastNormalMagnitude, .greatestFiniteMagnitude, 9007199254740992.0,
    1e16,
    -1e23, 123456789012345680.0, .pi, .infinity, -.infinity, .nan,
  ])
  func `a double keeps every bit`(double: Double) throws {
    #expect(try Value(json: Value.double(double).json).asDouble?.bitPattern == double.bitPattern)
  }

  @Test(arguments: [Double.signalingNaN, -.nan, Double(nan: 1, signaling: false)])
  func `every NaN becomes the one quiet NaN`(double: Double) throws {
    #expect(Value.double(double).json == #"{"$numberDouble":"NaN"}"#)
    #expect(try Value(json: Value.double(double).json).asDouble?.bitPattern == Double.nan.bitPattern)
  }

  @Test func `an NFC key and its NFD form stay two keys`() throws {
    let value: Value = ["\u{e9}": 1, "e\u{301}": 2]
    let read = try Value(json: value.json)
    #expect(read.asDictionary?.count == 2)
    #expect(read.asDictionary?["\u{e9}"] == 1)
    #expect(read.asDictionary?["e\u{301}"] == 2)
    #expect(read == value)
  }

  @Test(arguments: ["", "x", "é", "𝄞", "\0", "\"", "\u{1}"])
  func `text of a megabyte keeps every byte`(unit: String) throws {
    let text = String(repeating: unit, count: unit.isEmpty ? 0 : (1 << 20) / unit.utf8.count)
    let read = try Value(json: Value.string(text).json)
    #expect(read == .string(text))
  }

  @Test func `a megabyte of bytes keeps every byte`() throws {
    var random = SeededRandom(1)
    for count in [1 << 20, (1 << 20) + 1, (1 << 20) + 2] {
      let bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      #expect(try Value(json: Value.bytes(bytes).json) == .bytes(bytes))
    }
  }

  @Test func `a thousand members keep their values`() throws {
    let pairs = (0..<1000).map { (ExactString("key \($0 * 7919 % 1000)"), Value.int(Int64($0))) }
    let value = Value.dictionary(ValueDictionary(pairs))
    #expect(try Value(json: value.json) == value)
  }
}
