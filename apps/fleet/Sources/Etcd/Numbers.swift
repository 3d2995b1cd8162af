// Arithmetic on numbers from other programs, which saturates on overflow.

extension Int64 {
  /// The revision after this one.
  package var next: Int64 { addingClamped(1) }

  package func addingClamped(_ other: Int64) -> Int64 {
    let (sum, isTooLarge) = addingReportingOverflow(other)
    return isTooLarge ? (other > 0 ? .max : .min) : sum
  }

  package func subtractingClamped(_ other: Int64) -> Int64 {
    let (difference, isTooLarge) = subtractingReportingOverflow(other)
    return isTooLarge ? (other < 0 ? .max : .min) : difference
  }
}
