// Decimals are stored as their exact text. No kind of number in a store can represent 0.1.

public import FoundationEssentials
import KeptSchema
import KeptValues

/// A string such as `"9.99"`; NaN is `"NaN"`.
///
/// C and Python read the text: `decimal.Decimal(settings["price"])`.
extension Decimal: Storable, CodedAsStored {
  /// Reads the text of a decimal number, or a number that a Decimal can represent exactly: 5 and 0.5, but not the
  /// double 0.1, which is only near to it.
  ///
  /// Throws `wrongType` for text that is not a number, or has more digits than a Decimal.
  public init(stored value: Value) throws(StoreError) {
    switch value {
    case .int(let number): self.init(number)
    case .uint(let number): self.init(number)
    case .double(let number):
      guard let decimal = Self.holding(number) else { throw .mismatch(value, number: Decimal.self, asked: .string) }
      self = decimal
    default:
      let text = try String(stored: value)
      guard let decimal = Self.holding(text) else {
        throw StoreError(
          .wrongType, "holds a string that cannot be converted exactly to a Decimal")
      }
      self = decimal
    }
  }

  public func stored() -> Value { .string(description) }

  public static var schema: Schema? { .string }

  private static func holding(_ text: String) -> Decimal? {
    if text == "NaN" { return .nan }
    // Foundation parses only a prefix of some texts, and only the digits that it has room for.
    guard let asked = DecimalText(text), let decimal = Decimal(string: text) else { return nil }
    return DecimalText(decimal.description) == asked ? decimal : nil
  }

  private static func holding(_ number: Double) -> Decimal? {
    number.isNaN ? .nan : number.exactDecimalText.flatMap { holding($0) }
  }
}

/// The number in a text, independent of its notation: 1.50 and 15e-1 are equal.
private struct DecimalText: Equatable {
  private var isNegative = false
  /// Without zeros at either end.
  private var digits: [UInt8] = []
  /// The power of ten of the last digit.
  private var exponent = 0

  /// Returns nil unless it is a decimal number: a sign, digits with an optional point, an exponent.
  init?(_ text: String) {
    var rest = text.utf8[...]
    isNegative = rest.first == UInt8(ascii: "-")
    if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
    digits = Self.takeDigits(from: &rest)
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      let fraction = Self.takeDigits(from: &rest)
      digits += fraction
      exponent = -fraction.count
    }
    guard !digits.isEmpty else { return nil }
    if let letter = rest.first, letter | 0x20 == UInt8(ascii: "e") {
      // No Decimal has an exponent of more than three digits.
      guard let power = Int(Substring(rest.dropFirst())), -9_999...9_999 ~= power else { return nil }
      exponent += power
      rest = rest.suffix(0)
    }
    guard rest.isEmpty else { return nil }
    strip()
  }

  private mutating func strip() {
    digits.removeFirst(digits.prefix { $0 == UInt8(ascii: "0") }.count)
    while digits.last == UInt8(ascii: "0") {
      digits.removeLast()
      exponent += 1
    }
    if digits.isEmpty { exponent = 0 }
  }

  private static func takeDigits(from rest: inout Substring.UTF8View) -> [UInt8] {
    let digits = rest.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    rest = rest.dropFirst(digits.count)
    return Array(digits)
  }
}

extension Double {
  /// Every digit of the number, such as `5e-1`; nil if that needs more than 128 bits, and for infinity.
  fileprivate var exactDecimalText: String? {
    guard isFinite else { return nil }
    guard self != 0 else { return sign == .minus ? "-0" : "0" }
    // The number is whole × 2^power, and `whole` is odd.
    let power = Int(exponent) - significandWidth
    var whole = UInt128((significand * Double(sign: .plus, exponent: significandWidth, significand: 1)).magnitude)
    if power >= 0 {
      guard power + significandWidth < 128 else { return nil }
      whole <<= UInt128(power)
    }
    // Halving is multiplying by five, and moving the decimal point.
    for _ in 0..<max(0, -power) {
      let (product, isTooLarge) = whole.multipliedReportingOverflow(by: 5)
      if isTooLarge { return nil }
      whole = product
    }
    return "\(sign == .minus ? "-" : "")\(whole)e\(min(0, power))"
  }
}
