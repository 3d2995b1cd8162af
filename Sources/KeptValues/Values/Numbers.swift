// Conversions between numbers: only exact ones. A bool is never a number, and text is never parsed.

extension Value {
  /// The value as a signed integer: an integer in range, or a double such as `3.0`.
  ///
  /// `-0.0` has no integer value, because it would lose its sign.
  // Inlined into the reading path.
  @inline(__always)
  public var asInt64: Int64? {
    switch self {
    case .int(let value): value
    case .uint(let value): Int64(exactly: value)
    case .double(let value): value.isNegativeZero ? nil : Int64(exactly: value)
    default: nil
    }
  }

  /// The value as an unsigned integer: an integer in range, or a double such as `3.0`.
  public var asUInt64: UInt64? {
    switch self {
    case .int(let value): UInt64(exactly: value)
    case .uint(let value): value
    case .double(let value): value.isNegativeZero ? nil : UInt64(exactly: value)
    default: nil
    }
  }

  /// The value as a double: a double, or an integer that a double holds exactly.
  // Inlined into the reading path.
  @inline(__always)
  public var asDouble: Double? {
    switch self {
    case .int(let value): Double(exactly: value)
    case .uint(let value): Double(exactly: value)
    case .double(let value): value
    default: nil
    }
  }
}

extension Double {
  fileprivate var isNegativeZero: Bool { self == 0 && sign == .minus }
}
