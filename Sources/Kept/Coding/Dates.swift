// Dates are stored with nanosecond resolution. Foundation's Date counts seconds since 2001 in a Double; counting them
// since 1970 instead would alter nearly half of today's dates.

public import FoundationEssentials
import KeptSchema
import KeptValues

/// 1970-01-01 to 2001-01-01, in seconds.
private let secondsFrom1970To2001: Int64 = 978_307_200

/// A point in time as the store holds it.
///
/// `Date` has a lower resolution: about 119 ns for present dates.
extension Timestamp: Storable {
  public init(stored value: Value) throws(StoreError) {
    guard case .date(let date) = value else { throw .mismatch(value, asked: .date) }
    self = date
  }

  public func stored() -> Value { .date(self) }

  public static var schema: Schema? { .date }
}

extension Date: Storable, CodedAsStored {
  /// Reads a date; the result is the nearest `Date`.
  public init(stored value: Value) throws(StoreError) { self.init(try Timestamp(stored: value)) }

  /// The date, rounded to 1 ns.
  ///
  /// Throws `invalid` outside the years 0 to 9999.
  public func stored() throws(StoreError) -> Value { .date(try Timestamp(self)) }

  public static var schema: Schema? { .date }

  /// The `Date` nearest to a point in time.
  public init(_ timestamp: Timestamp) {
    let seconds = timestamp.seconds - secondsFrom1970To2001
    self.init(timeIntervalSinceReferenceDate: Double(seconds) + Double(timestamp.nanoseconds) / 1e9)
  }
}

extension Timestamp {
  /// A date, rounded to 1 ns.
  ///
  /// Throws `invalid` outside the years 0 to 9999, and for a date that is NaN.
  public init(_ date: Date) throws(StoreError) {
    let interval = date.timeIntervalSinceReferenceDate
    let whole = interval.rounded(.down)
    // Exact: both parts of a Double have no more digits than the whole. Only the last step rounds.
    let nanoseconds = ((interval - whole) * 1e9).rounded()
    guard abs(interval) < 1e12, let seconds = Int64(exactly: whole), let rest = Int32(exactly: nanoseconds) else {
      throw StoreError(.invalid, "the date is NaN or outside the years 0 to 9999")
    }
    let carry = rest == 1_000_000_000
    try self.init(
      seconds: seconds + secondsFrom1970To2001 + (carry ? 1 : 0), nanoseconds: carry ? 0 : rest)
  }
}
