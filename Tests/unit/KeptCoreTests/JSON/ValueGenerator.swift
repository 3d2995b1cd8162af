// Random values of every kind, with many edge cases. The same seed gives the same values.

@testable import KeptValues

struct ValueGenerator {
  private var random: SeededRandom
  init(seed: UInt64) { random = SeededRandom(seed) }

  /// A value of any kind but null, in the form that a store keeps.
  mutating func storedValue() throws -> Value {
    while true {
      let value = try value(levels: 5)
      if value != .null { return try value.checkedForStore() }
    }
  }

  mutating func value(levels: Int) throws -> Value {
    switch Int.random(in: 0..<(levels > 0 ? 14 : 9), using: &random) {
    case 0: return .null
    case 1: return .bool(Bool.random(using: &random))
    case 2: return .int(integer())
    case 3: return .uint(UInt64.random(in: 0...UInt64.max, using: &random) | 1 << 63)
    case 4: return .double(pick(Self.doubles))
    case 5: return .double(Double(bitPattern: random.next()))
    case 6: return .string(text())
    case 7: return .bytes((0..<count()).map { _ in UInt8.random(in: 0...255, using: &random) })
    case 8: return .date(try date())
    case 9, 10: return .array(try (0..<count()).map { _ in try value(levels: levels - 1) })
    default: return .dictionary(ValueDictionary(try (0..<count()).map { _ in try member(levels: levels - 1) }))
    }
  }

  private mutating func member(levels: Int) throws -> (ExactString, Value) {
    let key = String(text().unicodeScalars.filter { $0 != "\0" }.map { Character($0) })
    return (ExactString(Int.random(in: 0..<6, using: &random) == 0 ? "$" + key : key), try value(levels: levels))
  }

  private mutating func integer() -> Int64 {
    let edges: [Int64] = [.min, .min + 1, -1, 0, 1, 1 << 53, 1 << 53 + 1, .max - 1, .max]
    return Bool.random(using: &random) ? pick(edges) : Int64(bitPattern: random.next()) >> pick([0, 16, 32, 48, 60])
  }

  private mutating func date() throws -> Timestamp {
    let range = Timestamp.validSeconds
    let seconds = pick([range.lowerBound, range.upperBound, -1, 0, 1, Int64.random(in: range, using: &random)])
    let nanoseconds = pick([0, 1, 250_000_000, 999_999_999, Int32.random(in: 0...999_999_999, using: &random)])
    return try Timestamp(seconds: seconds, nanoseconds: nanoseconds)
  }

  private mutating func text() -> String {
    (0..<count()).map { _ in pick(Self.texts) }.joined()
  }

  private mutating func count() -> Int { pick([0, 1, 2, 3, 5, 9]) }

  private mutating func pick<T>(_ choices: [T]) -> T { random.any(of: choices) }

  private static let doubles: [Double] = [
    0.0, -0.0, 1.0, -1.5, 0.1, 1.0 / 3.0, 1e15, 1e16, 1e-5, 1e23, 9_007_199_254_740_993.0,
    .leastNonzeroMagnitude, -.leastNonzeroMagnitude,
    .leastNormalMagnitude, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .infinity, -.infinity, .nan,
    .signalingNaN, -.nan, Double(nan: 42, signaling: false), .pi,
  ]

  private static let texts = [
    "", "a", "Z", " ", "\0", "\u{1}", "\u{8}", "\t", "\n", "\u{b}", "\u{c}", "\r", "\u{1f}", "\"", "\\", "/", "\u{7f}",
    "\u{80}", "é", "e\u{301}", "ß", "\u{2028}", "\u{d7ff}", "\u{e000}", "\u{fffd}", "\u{ffff}", "\u{10000}", "𝄞",
    "👩‍👩‍👧", "\u{10ffff}", "$", "$date", "{}", "\r\n", "Å", "\u{212b}",
  ]
}
