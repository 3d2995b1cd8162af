// Each native type has its own stored form, is read back from it, and declares its type.

import FoundationEssentials
import Kept
import Testing

/// Declares, writes and reads a key of the type, and expects that another kind is refused.
private func expectKept<Native: Storable & Equatable>(
  _ native: Native, as stored: Value, notFrom other: Value, sourceLocation: SourceLocation = #_sourceLocation
) throws {
  #expect(try native.stored().checkedForStore() == stored, sourceLocation: sourceLocation)
  #expect(try Native(stored: stored) == native, sourceLocation: sourceLocation)
  _ = failure(.wrongType, sourceLocation: sourceLocation) { _ = try Native(stored: other) }
  let settings = TestStore().store
  let key = Key<Native?>("native")
  try settings.declare(key)
  try settings.set(native, for: key)
  #expect(try settings.value(for: key) == native, sourceLocation: sourceLocation)
  // The declaration prevents other languages from writing it.
  #expect(throws: StoreError.self, sourceLocation: sourceLocation) { try settings.set(other, forKey: "native") }
  #expect(try settings.value(for: key) == native, sourceLocation: sourceLocation)
}

@Suite struct NativeValueTests {
  @Test func `scalars are kept as what they are, and nothing is parsed`() throws {
    try expectKept(true, as: true, notFrom: 1)
    try expectKept(Int8.min, as: -128, notFrom: true)
    try expectKept(UInt64.max, as: .uint(.max), notFrom: "1")
    try expectKept(Float(0.5), as: 0.5, notFrom: "0.5")
    try expectKept("text", as: "text", notFrom: 1)
    try expectKept("a text"[...].dropFirst(2), as: "text", notFrom: 1)
    try expectKept(Data([1, 2]), as: .bytes([1, 2]), notFrom: "AQI=")
    try expectKept(Date(timeIntervalSince1970: 0), as: .date(Timestamp(seconds: 0)), notFrom: 0)
    let url = try #require(URL(string: "mailto:ada@example.com"))
    try expectKept(url, as: "mailto:ada@example.com", notFrom: 1)
    let uuid = UUID()
    try expectKept(uuid, as: .string(uuid.uuidString), notFrom: 1)
  }

  @Test func `containers nest in each other, and in optionals`() throws {
    try expectKept([[1], []], as: [[1], []], notFrom: [1])
    try expectKept(["a": [1, nil]], as: ["a": [1, .null]], notFrom: ["a": 1])
    try expectKept(["a": ["b": Decimal(1)]], as: ["a": ["b": "1"]], notFrom: ["a": "b"])
    try expectKept([1...2, 3...3], as: [["lower": 1, "upper": 2], ["lower": 3, "upper": 3]], notFrom: [1])
    try expectKept(["on": Set([[2], [1]])], as: ["on": [[1], [2]]], notFrom: ["on": 1])
    let settings = TestStore().store
    let key = Key<[Substring?]?>("words")
    try settings.set(["a", nil], for: key)
    #expect(settings[key] == ["a", nil])
    try settings.set(nil, for: key)
    #expect(try settings.value(forKey: "words") == nil)
  }

  @Test func `every type inside a Codable one is stored as it is outside`() throws {
    struct Order: Codable, Storable, Equatable {
      var price: Decimal
      var tags: Set<String>
      var pages: Range<Int>
      var share: ClosedRange<Double>
    }
    let order = Order(price: 9.5, tags: ["b", "a"], pages: 1..<4, share: 0...1)
    let stored: Value = [
      "price": "9.5", "tags": ["a", "b"], "pages": ["lower": 1, "upper": 4], "share": ["lower": 0.0, "upper": 1.0],
    ]
    #expect(try order.stored() == stored)
    #expect(try Order(stored: stored) == order)
  }
}

@Suite struct SetTests {
  @Test func `a set is an array whose order the elements alone decide`() throws {
    let words = Set((0..<100).map { "word \($0)" })
    var others = Set(words.shuffled())
    others.reserveCapacity(1000)
    #expect(try words.stored() == others.stored())
    try expectKept(Set(["b", "a", "é"]), as: ["a", "b", "é"], notFrom: "a")
    #expect(try Set<String>(stored: ["b", "a", "b"]) == ["a", "b"])
    #expect(try Set<Int>([]).stored() == [])
  }

  @Test func `writing an equal set again changes nothing`() throws {
    let settings = TestStore().store
    let key = Key<Set<Int>>("numbers", default: [])
    settings[key] = Set(0..<50)
    let revision = try settings.revision(of: key)
    settings[key] = Set((0..<50).reversed())
    #expect(try settings.revision(of: key) == revision)
  }

  @Test func `elements that only the store distinguishes are refused rather than one of them lost`() {
    let twins: Value = ["\u{E9}", "e\u{301}"]
    #expect(failure(.wrongType) { _ = try Set<String>(stored: twins) }.hasPrefix("at [1]: holds two elements that"))
    _ = failure(.wrongType) { _ = try Set<Int>(stored: [1, 1.0]) }
    #expect(failure(.wrongType) { _ = try Set<Int>(stored: [1, "x"]) } == "at [1]: holds a string, not an int")
  }
}

@Suite struct RangeTests {
  @Test func `a range is its bounds`() throws {
    try expectKept(1..<5, as: ["lower": 1, "upper": 5], notFrom: [1, 5])
    try expectKept(0.5...1.5, as: ["lower": 0.5, "upper": 1.5], notFrom: ["lower": "0", "upper": 1])
    try expectKept("a"..<"b", as: ["lower": "a", "upper": "b"], notFrom: ["lower": 1, "upper": 2])
    try expectKept(3..<3, as: ["lower": 3, "upper": 3], notFrom: ["lower": 3])
  }

  @Test func `bounds that make no range are refused, not trapped upon`() {
    #expect(failure(.wrongType) { _ = try Range<Int>(stored: ["lower": 2, "upper": 1]) }.contains("not in order"))
    _ = failure(.wrongType) { _ = try ClosedRange<Double>(stored: ["lower": .double(.nan), "upper": 1.0]) }
    #expect(failure(.wrongType) { _ = try ClosedRange<Int>(stored: ["lower": 1]) } == "has no member \"upper\"")
    #expect(
      failure(.wrongType) { _ = try Range<Int>(stored: ["lower": 1, "upper": "2"]) }
        == "at .upper: holds a string, not an int")
    #expect(failure(.invalid) { _ = try (0...UInt128.max).stored() }.hasPrefix("at .upper: the integer has"))
  }
}

@Suite struct DecimalTests {
  @Test(arguments: [
    "0", "0.1", "-12.50", "1e3", "9.99E-7", "340282366920938463463374607431768211455", "1e-128", "+5", ".5", "NaN",
  ])
  func `a decimal is its exact text, however it is written`(_ text: String) throws {
    let decimal = try Decimal(stored: .string(text))
    #expect(decimal == (text == "NaN" ? .nan : Decimal(string: text)))
    #expect(try Decimal(stored: decimal.stored()) == decimal)
    #expect(decimal.stored() == .string(decimal.description))
  }

  @Test func `a decimal reads a number whose every digit it can hold`() throws {
    #expect(try Decimal(stored: 5) == 5)
    #expect(try Decimal(stored: .uint(.max)) == Decimal(UInt64.max))
    #expect(try Decimal(stored: -0.375) == Decimal(string: "-0.375"))
    #expect(try Decimal(stored: 0x1p100) == Decimal(string: "1267650600228229401496703205376"))
    #expect(try Decimal(stored: 0.0) == 0)
    #expect(try Decimal(stored: .double(.nan)).isNaN)
    for number in [0.1, -0.0, .infinity, 1e300, .leastNonzeroMagnitude] {
      #expect(failure(.wrongType) { _ = try Decimal(stored: .double(number)) }.contains("cannot hold exactly"))
    }
  }

  @Test(arguments: [
    "", "x", "1x", "1,5", " 1", "1e", "1e99999999999999999999", "-", ".", "1e200", "-0", "Infinity",
    "1e-9223372036854775808", "1e9223372036854775807",
  ])
  func `a value that is not a decimal, or would be altered, is refused`(_ text: String) {
    _ = failure(.wrongType) { _ = try Decimal(stored: .string(text)) }
  }

  @Test func `a digit more than a decimal has is refused, not cut off`() {
    let digits = "1" + String(repeating: "0", count: 40) + "1"
    _ = failure(.wrongType) { _ = try Decimal(stored: .string(digits)) }
    #expect(failure(.wrongType) { _ = try Decimal(stored: true) } == "holds a bool, not a string")
  }
}
