package enum BusyTimeout {
  /// The timeout for a number that a caller passed: within the range that can be added to a clock and that C can
  /// express.
  package static func effective(milliseconds: Int) -> Int { min(max(0, milliseconds), Int(UInt32.max)) }
}
