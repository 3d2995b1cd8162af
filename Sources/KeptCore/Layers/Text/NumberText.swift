// Plain text as numbers. More forms are accepted than in JSON, because people type them.

package import KeptValues

package enum NumberText {
  /// The integer that a text represents: decimal digits with an optional sign, in the range of Int64 or UInt64.
  ///
  /// A fraction of zeros is ignored: 3.0 is 3.
  package static func integer(_ text: String) -> Value? {
    var digits = text
    if let point = text.utf8.firstIndex(of: UInt8(ascii: ".")) {
      guard text.utf8[point...].dropFirst().allSatisfy({ $0 == UInt8(ascii: "0") }) else { return nil }
      digits = String(text[..<point])
    }
    return Int64(digits).map { .int($0) } ?? UInt64(digits).map { .uint($0) }
  }

  /// The double nearest to a decimal number, or one of `nan`, `inf` and `infinity` in any case.
  ///
  /// Returns nil for a number that would round to infinity or zero.
  package static func double(_ text: String) -> Double? {
    guard isDecimal(text) else { return special(text) }
    let significant = text.utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }
    let isZero = !significant.contains { UInt8(ascii: "1")...UInt8(ascii: "9") ~= $0 }
    // Swift's conversion rounds correctly and uses a decimal point in every locale.
    guard let value = Double(text), value.isFinite, value != 0 || isZero else { return nil }
    return value
  }

  private static func special(_ text: String) -> Double? {
    switch ExactString(text.lowerCasedWord) {
    case "nan", "+nan", "-nan": .nan
    case "inf", "infinity", "+inf", "+infinity": .infinity
    case "-inf", "-infinity": -.infinity
    default: nil
    }
  }

  /// Whether a text has the form of a decimal number: a sign, digits with a point among them, an exponent.
  static func isDecimal(_ text: String) -> Bool {
    var rest = text.utf8[...]
    skip("+", or: "-", in: &rest)
    var digits = skipDigits(in: &rest)
    if skip(".", or: ".", in: &rest) { digits += skipDigits(in: &rest) }
    guard digits > 0 else { return false }
    if skip("e", or: "E", in: &rest) {
      skip("+", or: "-", in: &rest)
      guard skipDigits(in: &rest) > 0 else { return false }
    }
    return rest.isEmpty
  }

  private static func skipDigits(in rest: inout Substring.UTF8View) -> Int {
    let count = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }.count
    rest = rest.dropFirst(count)
    return count
  }

  @discardableResult
  private static func skip(_ one: Unicode.Scalar, or other: Unicode.Scalar, in rest: inout Substring.UTF8View) -> Bool {
    guard let byte = rest.first, Unicode.Scalar(byte) == one || Unicode.Scalar(byte) == other else { return false }
    rest.removeFirst()
    return true
  }
}
