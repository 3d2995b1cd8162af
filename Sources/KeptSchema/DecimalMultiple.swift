// Implements `multipleOf`: whether one number is a multiple of another, with both in decimal notation.
//
// 19.99 is a multiple of 0.01, though no double is 19.99 exactly: a double represents the shortest decimal number that
// reads as it, as a person would write it. The division is exact and cannot overflow.

import KeptValues

/// A decimal number without its sign: some digits, and the number of zeros to append.
struct DecimalNumber {
  // Without trailing zeros, unless it is 0.
  private var digits: UInt64 = 0
  private var exponent = 0

  /// Returns nil if the value is not a finite number.
  package init?(_ value: Value) {
    switch value {
    case .int(let number): digits = number.magnitude
    case .uint(let number): digits = number
    case .double(let number) where number.isFinite: read(number.magnitude.description)
    default: return nil
    }
    while digits > 0, digits % 10 == 0 {
      digits /= 10
      exponent += 1
    }
  }

  /// Reads the shortest text of a double, such as `0.25`, `1000.0` or `5e-324`; it has at most 17 significant digits.
  private mutating func read(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "e"), maxSplits: 1)
    var isFraction = false
    for byte in parts.first ?? text.utf8[...] {
      guard byte != UInt8(ascii: ".") else {
        isFraction = true
        continue
      }
      digits = digits &* 10 &+ UInt64(byte &- UInt8(ascii: "0"))
      if isFraction { exponent -= 1 }
    }
    if parts.count > 1 { exponent += Int(String(Substring(parts[1]))) ?? 0 }
  }

  /// Whether this number is an integer multiple of the other, which is not 0.
  func isMultiple(of other: DecimalNumber) -> Bool {
    guard digits > 0 else { return true }
    guard other.digits > 0 else { return false }
    if exponent >= other.exponent {
      let power = Self.power(ofTen: exponent - other.exponent, modulo: other.digits)
      return Self.product(digits % other.digits, power, modulo: other.digits) == 0
    }
    var divisor = other.digits
    for _ in 0..<(other.exponent - exponent) {
      let (larger, overflow) = divisor.multipliedReportingOverflow(by: 10)
      guard !overflow, larger <= digits else { return false }
      divisor = larger
    }
    return digits % divisor == 0
  }

  private static func power(ofTen exponent: Int, modulo divisor: UInt64) -> UInt64 {
    var (result, square) = (1 % divisor, 10 % divisor)
    var rest = exponent
    while rest > 0 {
      if rest % 2 == 1 { result = product(result, square, modulo: divisor) }
      square = product(square, square, modulo: divisor)
      rest /= 2
    }
    return result
  }

  /// Both factors are below the divisor, so the quotient fits in 64 bits.
  private static func product(_ a: UInt64, _ b: UInt64, modulo divisor: UInt64) -> UInt64 {
    divisor.dividingFullWidth(a.multipliedFullWidth(by: b)).remainder
  }
}
