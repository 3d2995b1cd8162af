// Writes a double for a property list like C's `%.17g`, whose result in C depends on the program's locale.

extension Double {
  /// The result of `%.17g` with a decimal point; the caller handles zero, infinity and NaN.
  var seventeenDigits: String {
    let number = ExactDigits(magnitude).rounded(to: 17)
    return (self < 0 ? "-" : "") + (-4..<17 ~= number.exponent ? number.plain : number.scientific)
  }
}

/// The decimal digits of a number, and the power of ten of the first digit.
private struct ExactDigits {
  private var digits: [UInt8]
  private(set) var exponent: Int

  /// All digits of a positive number: at most 767.
  init(_ number: Double) {
    // The number is whole × 2^power. Halving is multiplying by five, and moving the decimal point.
    let power = Int(number.exponent) - Double.significandBitCount
    var whole = LargeInteger(UInt64(number.significand * 0x1p52))
    for _ in 0..<power.magnitude { whole.multiply(by: power < 0 ? 5 : 2) }
    digits = whole.digits
    exponent = digits.count - 1 + min(0, power)
  }

  /// Rounded to a number of digits, half to even, without trailing zeros.
  func rounded(to count: Int) -> ExactDigits {
    var number = self
    number.digits = Array(digits.prefix(count))
    let rest = digits.dropFirst(count)
    let isTie = rest.first == 5 && rest.dropFirst().allSatisfy { $0 == 0 }
    if isTie ? digits[count - 1] % 2 == 1 : (rest.first ?? 0) >= 5 { number.increment() }
    while number.digits.count > 1, number.digits.last == 0 { number.digits.removeLast() }
    return number
  }

  private mutating func increment() {
    while digits.last == 9 { digits.removeLast() }
    if digits.isEmpty {
      digits = [1]
      exponent += 1
    } else {
      digits[digits.count - 1] += 1
    }
  }

  var plain: String {
    if exponent < 0 { return "0." + zeros(-exponent - 1) + text(digits[...]) }
    let whole = text(digits.prefix(exponent + 1)) + zeros(exponent + 1 - digits.count)
    let fraction = digits.dropFirst(exponent + 1)
    return fraction.isEmpty ? whole : whole + "." + text(fraction)
  }

  /// With an exponent of two digits or more.
  var scientific: String {
    let fraction = digits.count > 1 ? "." + text(digits.dropFirst()) : ""
    let power = (exponent < 0 ? "-" : "+") + (abs(exponent) < 10 ? "0" : "") + String(abs(exponent))
    return text(digits.prefix(1)) + fraction + "e" + power
  }

  private func text(_ digits: ArraySlice<UInt8>) -> String { digits.map(String.init).joined() }
  private func zeros(_ count: Int) -> String { String(repeating: "0", count: max(0, count)) }
}

/// An integer of any size, in limbs of nine decimal digits, the lowest first.
private struct LargeInteger {
  private static let base: UInt64 = 1_000_000_000
  private var limbs: [UInt64] = []

  init(_ number: UInt64) {
    var rest = number
    while rest > 0 {
      limbs.append(rest % Self.base)
      rest /= Self.base
    }
  }

  mutating func multiply(by factor: UInt64) {
    var carry: UInt64 = 0
    for index in limbs.indices {
      let product = limbs[index] * factor + carry
      limbs[index] = product % Self.base
      carry = product / Self.base
    }
    if carry > 0 { limbs.append(carry) }
  }

  /// The digits from the highest, without leading zeros.
  var digits: [UInt8] {
    var digits: [UInt8] = []
    for limb in limbs {
      var rest = limb
      for _ in 0..<9 {
        digits.append(UInt8(rest % 10))
        rest /= 10
      }
    }
    while digits.last == 0 { digits.removeLast() }
    return digits.reversed()
  }
}
