enum BusyTimeout {
  /// The time-out for a number that a caller passed: within the range that can be added to a clock and that C can
  /// express.
  static func effective(milliseconds: Int) -> Int { min(max(0, milliseconds), Int(UInt32.max)) }
}
