// A point in time with nanosecond resolution. It is never converted to a Double since 1970, which would alter nearly
// half of today's dates.

import CPlatform

/// A point in time in UTC, in the years 0 to 9999.
public struct Timestamp: Hashable, Comparable, Sendable {
  /// Seconds since 1970-01-01T00:00:00Z; negative before.
  public let seconds: Int64
  /// 0 to 999,999,999, added to the seconds, also before 1970.
  public let nanoseconds: Int32

  /// The range of RFC 3339, 0000-01-01T00:00:00Z to 9999-12-31T23:59:59Z, in seconds since 1970.
  public static let validSeconds: ClosedRange<Int64> = -62_167_219_200...253_402_300_799

  /// Throws `invalid` outside the years 0 to 9999, and for nanoseconds outside 0 to 999,999,999.
  public init(seconds: Int64, nanoseconds: Int32 = 0) throws(StoreError) {
    guard Self.validSeconds.contains(seconds) else {
      throw StoreError(.invalid, "\(seconds) seconds since 1970 is outside the years 0 to 9999")
    }
    guard 0...999_999_999 ~= nanoseconds else {
      throw StoreError(.invalid, "the nanoseconds of a date must be 0 to 999,999,999, not \(nanoseconds)")
    }
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }

  public static func < (a: Timestamp, b: Timestamp) -> Bool {
    (a.seconds, a.nanoseconds) < (b.seconds, b.nanoseconds)
  }
}

extension Timestamp {
  /// Nanoseconds since 1970; every 64-bit number of them is a valid date.
  package init(nanosecondsSince1970 count: Int64) {
    let (seconds, rest) = count.quotientAndRemainder(dividingBy: 1_000_000_000)
    self.seconds = rest < 0 ? seconds - 1 : seconds
    nanoseconds = Int32(truncatingIfNeeded: rest < 0 ? rest + 1_000_000_000 : rest)
  }

  /// Nanoseconds since 1970, clamped to the years 1677 to 2262.
  package var nanosecondsSince1970: Int64 { kept_nanoseconds(seconds, Int64(nanoseconds)) }
}
