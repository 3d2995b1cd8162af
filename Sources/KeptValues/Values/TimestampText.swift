// Timestamps as text, in the RFC 3339 format in UTC: `2026-11-20T23:44:01.25Z`, with as many fractional digits as
// needed.

extension Timestamp {
  /// Parses RFC 3339 text in UTC.
  ///
  /// Throws `invalid` for anything but `YYYY-MM-DDThh:mm:ss`, an optional point with one to nine digits, and `Z`; for
  /// days that are not in the calendar, leap seconds, and signs before the year.
  public init(text: String) throws(StoreError) {
    var reader = DateReader(text)
    guard let fields = reader.readAll() else {
      throw StoreError(.invalid, "the date must have the form 2026-11-20T23:44:01.25Z, in UTC with T and Z")
    }
    guard 1...12 ~= fields.month,
      1...CalendarDay.daysInMonth(fields.month, of: fields.year) ~= fields.day
    else {
      throw StoreError(.invalid, "the month or day of the date does not exist")
    }
    guard fields.hour < 24, fields.minute < 60, fields.second < 60 else {
      throw StoreError(.invalid, "the time of the date is outside 00:00:00 to 23:59:59; leap seconds are not supported")
    }
    let days = CalendarDay(year: fields.year, month: fields.month, day: fields.day).daysSince1970
    let seconds = ((days * 24 + fields.hour) * 60 + fields.minute) * 60 + fields.second
    try self.init(seconds: Int64(seconds), nanoseconds: Int32(fields.nanoseconds))
  }
}

extension Timestamp: CustomStringConvertible {
  /// RFC 3339 text in UTC, with as many fractional digits as needed: none to nine.
  public var description: String {
    let (days, time) = Int(seconds).quotientAndRemainder(dividingBy: 86_400)
    // Before 1970 the division rounds towards 1970, and the remainder is negative.
    let day = CalendarDay(daysSince1970: time < 0 ? days - 1 : days)
    let second = time < 0 ? time + 86_400 : time
    var text = "\(padded(day.year, 4))-\(padded(day.month, 2))-\(padded(day.day, 2))T"
    text += "\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))"
    if nanoseconds > 0 {
      var fraction = Substring(padded(Int(nanoseconds), 9))
      while fraction.last == "0" { fraction.removeLast() }
      text += ".\(fraction)"
    }
    return text + "Z"
  }

  private func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}

/// Splits a date into its numbers, without checking their ranges.
private struct DateReader {
  struct Fields {
    let year, month, day, hour, minute, second, nanoseconds: Int
  }

  private var rest: Substring.UTF8View
  private let digits = UInt8(ascii: "0")...UInt8(ascii: "9")

  init(_ text: String) { rest = text.utf8[...] }

  mutating func readAll() -> Fields? {
    guard let year = readNumber(4), skip("-"), let month = readNumber(2), skip("-"), let day = readNumber(2),
      skip("T"), let hour = readNumber(2), skip(":"), let minute = readNumber(2), skip(":"),
      let second = readNumber(2), let nanoseconds = readFraction(), skip("Z"), rest.isEmpty
    else { return nil }
    return Fields(
      year: year, month: month, day: day, hour: hour, minute: minute, second: second, nanoseconds: nanoseconds)
  }

  private mutating func readFraction() -> Int? {
    guard skip(".") else { return 0 }
    let count = rest.prefix { digits ~= $0 }.count
    guard 1...9 ~= count, var nanoseconds = readNumber(count) else { return nil }
    for _ in count..<9 { nanoseconds *= 10 }
    return nanoseconds
  }

  private mutating func readNumber(_ count: Int) -> Int? {
    var number = 0
    for _ in 0..<count {
      guard let byte = rest.first, digits ~= byte else { return nil }
      number = number * 10 + Int(byte - UInt8(ascii: "0"))
      rest.removeFirst()
    }
    return number
  }

  private mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard let byte = rest.first, Unicode.Scalar(byte) == character else { return false }
    rest.removeFirst()
    return true
  }
}
