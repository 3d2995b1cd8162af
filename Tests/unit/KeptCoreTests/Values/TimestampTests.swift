@testable import KeptValues
import Testing

@Suite struct TimestampTests {
  @Test(arguments: [
    ("1970-01-01T00:00:00Z", 0, 0), ("1969-12-31T23:59:59.5Z", -1, 500_000_000),
    ("0000-01-01T00:00:00Z", -62_167_219_200, 0), ("0000-12-31T00:00:00Z", -62_135_683_200, 0),
    ("0001-01-01T00:00:00Z", -62_135_596_800, 0), ("9999-12-31T23:59:59.999999999Z", 253_402_300_799, 999_999_999),
    ("2026-11-20T23:44:01.25Z", 1_795_218_241, 250_000_000), ("2000-02-29T12:00:00Z", 951_825_600, 0),
    ("1900-02-28T23:59:59Z", -2_203_891_201, 0), ("1900-03-01T00:00:00Z", -2_203_891_200, 0),
    ("2038-01-19T03:14:08Z", 2_147_483_648, 0), ("1970-01-01T00:00:00.000000001Z", 0, 1),
    ("2001-09-09T01:46:40.1Z", 1_000_000_000, 100_000_000), ("0004-02-29T00:00:00Z", -62_035_891_200, 0),
  ])
  func `text and seconds are the same time`(text: String, seconds: Int64, nanoseconds: Int32) throws {
    let date = try Timestamp(text: text)
    #expect(date.seconds == seconds)
    #expect(date.nanoseconds == nanoseconds)
    #expect(date.description == text)
  }

  @Test(arguments: [("0.0", ""), ("1.500", ".5"), ("1.000000000", ""), ("1.123456789", ".123456789")])
  func `zeros at the end of a fraction are taken and not written`(fraction: String, written: String) throws {
    let text = "2026-01-01T00:00:00." + fraction.drop { $0 != "." }.dropFirst() + "Z"
    #expect(try Timestamp(text: text).description == "2026-01-01T00:00:00\(written)Z")
  }

  @Test func `every day of four centuries and of the calendar's ends reads back`() throws {
    let day: Int64 = 86_400
    let spans = [-719_528..<(-718_000), -1000..<146_097, 2_931_000..<2_932_897].map { Array($0) }.joined()
    var last = ""
    for number in spans {
      let date = try Timestamp(seconds: Int64(number) * day + 86_399, nanoseconds: 7)
      let text = date.description
      #expect(try Timestamp(text: text) == date)
      #expect(text > last)
      last = text
    }
    #expect(last == "9999-12-31T23:59:59.000000007Z")
  }

  @Test(arguments: [
    "", "2026-01-01", "2026-01-01T00:00:00", "2026-01-01t00:00:00Z", "2026-01-01T00:00:00z", "2026-01-01 00:00:00Z",
    "2026-01-01T00:00:00+00:00", "2026-01-01T00:00:00-01:00", "2026-01-01T00:00Z", "2026-01-01T00:00:00.Z",
    "2026-01-01T00:00:00.1234567890Z", "2026-01-01T00:00:00,5Z", "26-01-01T00:00:00Z", "02026-01-01T00:00:00Z",
    "-2026-01-01T00:00:00Z", "+2026-01-01T00:00:00Z", "2026-1-01T00:00:00Z", "2026-01-01T0:00:00Z",
    "2026-01-01T00:00:00Z ", " 2026-01-01T00:00:00Z", "2026-01-01T00:00:00ZZ", "２026-01-01T00:00:00Z",
    "2026-W01-1T00:00:00Z", "20260101T000000Z", "2026-01-01T00:00:00Z\0",
  ])
  func `text in another form is refused`(text: String) {
    let error = #expect(throws: StoreError.self) { try Timestamp(text: text) }
    #expect(error?.code == .invalid)
    #expect(error?.message.contains("must have the form") == true)
  }

  @Test(arguments: [
    "0000-02-30T00:00:00Z", "2026-00-01T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-00T00:00:00Z",
    "2026-01-32T00:00:00Z", "2026-04-31T00:00:00Z", "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z",
  ])
  func `a day that the calendar does not have is refused`(text: String) {
    let error = #expect(throws: StoreError.self) { try Timestamp(text: text) }
    #expect(error?.message.contains("the month or day of the date does not exist") == true)
  }

  @Test(arguments: ["2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2016-12-31T23:59:60Z"])
  func `a time that the day does not have is refused, a leap second too`(text: String) {
    let error = #expect(throws: StoreError.self) { try Timestamp(text: text) }
    #expect(error?.message.contains("leap seconds are not supported") == true)
  }

  @Test func `seconds and nanoseconds outside the limits are refused`() throws {
    for seconds in [Timestamp.validSeconds.lowerBound - 1, Timestamp.validSeconds.upperBound + 1, .min, .max] {
      #expect(throws: StoreError.self) { try Timestamp(seconds: seconds) }
    }
    for nanoseconds in [-1, 1_000_000_000, Int32.min, Int32.max] {
      #expect(throws: StoreError.self) { try Timestamp(seconds: 0, nanoseconds: nanoseconds) }
    }
  }

  @Test func `timestamps are in the order of time, also before 1970`() throws {
    let texts = [
      "0000-02-29T00:00:00Z", "0001-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.000000001Z",
      "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000000001Z", "9999-12-31T23:59:59Z",
    ]
    let dates = try texts.map { try Timestamp(text: $0) }
    #expect(dates.reversed().sorted() == dates)
  }
}
