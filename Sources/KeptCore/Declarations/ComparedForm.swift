// When two values are equal to JSON Schema: numbers by what they are worth, all else byte by byte.

extension Value {
  /// The value in the form that all values share that JSON Schema calls equal: 1 for 1.0, and 0 for -0.0, also inside.
  ///
  /// Values with equal forms have equal hashes, so that many are compared in linear time.
  var comparedForm: Value {
    switch self {
    case .uint(let number): Int64(exactly: number).map { .int($0) } ?? self
    case .double(let number):
      if let integer = Int64(exactly: number) {
        .int(integer)
      } else if let integer = UInt64(exactly: number) {
        .uint(integer)
      } else {
        // NaN is no number of JSON; all of its bit patterns are one.
        number.isNaN ? .double(.nan) : self
      }
    case .array(let elements): .array(elements.map(\.comparedForm))
    case .dictionary(let members): .dictionary(members.mapValues(\.comparedForm))
    default: self
    }
  }
}
