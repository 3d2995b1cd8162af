// Equality of values in JSON Schema: numbers by their numeric value, everything else byte by byte.

import KeptValues

extension Value {
  /// The form shared by all values that JSON Schema considers equal: 1 for 1.0, and 0 for -0.0, also inside containers.
  ///
  /// Values with equal forms have equal hashes, so many values are compared in linear time.
  var comparedForm: Value {
    switch self {
    case .uint(let number): Int64(exactly: number).map { .int($0) } ?? self
    case .double(let number):
      if let integer = Int64(exactly: number) {
        .int(integer)
      } else if let integer = UInt64(exactly: number) {
        .uint(integer)
      } else {
        // NaN is not a JSON number; all of its bit patterns count as one.
        number.isNaN ? .double(.nan) : self
      }
    case .array(let elements): .array(elements.map(\.comparedForm))
    case .dictionary(let members): .dictionary(members.mapValues(\.comparedForm))
    default: self
    }
  }
}
