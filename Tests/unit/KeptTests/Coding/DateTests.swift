// Dates as values: exact to the nanosecond, and unchanged by the round trip.

import FoundationEssentials
import Kept
import Testing

@Suite struct DateTests {
  /// 2020 to 2040, in seconds since 2001.
  private let presentDay = 600_000_000.0..<1_230_000_000.0

  @Test func `random dates of today read back bit for bit`() throws {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<10_000 {
      let date = Date(timeIntervalSinceReferenceDate: .random(in: presentDay, using: &random))
      #expect(try Date(stored: date.stored()) == date)
    }
  }

  @Test func `a date of today is stored to the nearest nanosecond`() throws {
    for step in 0..<10_000 {
      // Dates of today are multiples of 2^-23 s, so an integer number of ns can be computed exactly.
      let units = Int64(presentDay.lowerBound) << 23 + Int64(step) * 524_287
      let timestamp = try Timestamp(Date(timeIntervalSinceReferenceDate: Double(units) / 0x1p23))
      let fraction = Int64(units & (1 << 23 - 1)) * 1_000_000_000
      let nearest = fraction >> 23 + (fraction >> 22 & 1)
      // Halves are rounded away from zero or to even; both are 0.5 ns off.
      #expect(timestamp.seconds == units >> 23 + 978_307_200)
      #expect(Int64(timestamp.nanoseconds) == nearest)
    }
  }

  @Test func `known dates have their known seconds`() throws {
    #expect(try Timestamp(Date(timeIntervalSinceReferenceDate: 0)) == Timestamp(seconds: 978_307_200))
    #expect(try Timestamp(Date(timeIntervalSince1970: 0)) == Timestamp(seconds: 0))
    #expect(
      try Timestamp(Date(timeIntervalSinceReferenceDate: -0.25))
        == Timestamp(seconds: 978_307_199, nanoseconds: 750_000_000))
    // Less than a nanosecond before a second rounds to that second.
    #expect(try Timestamp(Date(timeIntervalSinceReferenceDate: -1e-12)) == Timestamp(seconds: 978_307_200))
  }

  @Test func `a Timestamp keeps nanoseconds that a Date cannot`() throws {
    let timestamp = try Timestamp(seconds: 1_795_218_241, nanoseconds: 123_456_789)
    #expect(try Timestamp(stored: timestamp.stored()) == timestamp)
    #expect(abs(Date(timestamp).timeIntervalSinceReferenceDate - 816_911_041.123456789) < 1e-6)
  }

  @Test func `the first and the last second of the years 0 to 9999 are kept`() throws {
    for seconds in [Timestamp.validSeconds.lowerBound, Timestamp.validSeconds.upperBound] {
      let date = Date(try Timestamp(seconds: seconds))
      #expect(try Timestamp(date).seconds == seconds)
    }
  }

  /// Foundation's "never" is the first day of year 1 of its own calendar, which is Julian there.
  @Test func `distantPast and distantFuture are kept`() throws {
    #expect(try Timestamp(Date.distantPast) == Timestamp(text: "0000-12-30T00:00:00Z"))
    for date in [Date.distantPast, .distantFuture] {
      #expect(try Date(stored: date.stored()) == date)
    }
    let store = TestStore().store
    try store.set(.distantPast, for: Key<Date?>("seen"))
    #expect(try store.value(for: Key<Date?>("seen")) == .distantPast)
    try store.set([.distantPast, .distantFuture], for: Key<[Date]?>("list"))
    #expect(try store.value(for: Key<[Date]?>("list")) == [.distantPast, .distantFuture])
    let key = Key("choice", default: Date.distantPast, .choices([.distantPast, .distantFuture]))
    try store.declare(key)
    #expect(store[key] == .distantPast)
    #expect(throws: StoreError.self) { try store.set(Date(timeIntervalSince1970: 0), for: key) }
  }

  @Test(arguments: [.nan, .infinity, -.infinity, 1e300, -1e12, 252_423_993_600, -63_145_526_401])
  func `a date outside the years 0 to 9999 is refused`(_ interval: Double) {
    _ = failure(.invalid) { _ = try Date(timeIntervalSinceReferenceDate: interval).stored() }
  }

  @Test func `other kinds are not dates`() {
    #expect(failure(.wrongType) { _ = try Date(stored: 0) } == "holds an int, not a date")
    #expect(failure(.wrongType) { _ = try Timestamp(stored: "2026-11-20") } == "holds a string, not a date")
  }
}
