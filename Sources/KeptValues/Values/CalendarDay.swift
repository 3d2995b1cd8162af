// The Gregorian calendar, extended to the year 0, and its day numbers.

/// A day of the years 0 to 9999.
struct CalendarDay: Hashable {
  var year: Int
  var month: Int
  var day: Int

  static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

  static func daysInMonth(_ month: Int, of year: Int) -> Int {
    switch month {
    case 2: isLeap(year) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}

extension CalendarDay {
  /// The day number of 1970-01-01, counted from 0000-01-01.
  private static let epoch = 719_528

  var daysSince1970: Int {
    let monthsBefore = (1..<month).reduce(0) { $0 + Self.daysInMonth($1, of: year) }
    return Self.daysBefore(year) + monthsBefore + day - 1 - Self.epoch
  }

  package init(daysSince1970: Int) {
    let days = daysSince1970 + Self.epoch
    // Years have 365.2425 days on average, so the estimate is off by at most one.
    year = days * 400 / 146_097
    if Self.daysBefore(year) > days { year -= 1 }
    if Self.daysBefore(year + 1) <= days { year += 1 }
    day = days - Self.daysBefore(year) + 1
    month = 1
    while day > Self.daysInMonth(month, of: year) {
      day -= Self.daysInMonth(month, of: year)
      month += 1
    }
  }

  /// The days from 0000-01-01, which is in a leap year, to the first day of a year.
  private static func daysBefore(_ year: Int) -> Int {
    year * 365 + (year + 3) / 4 - (year + 99) / 100 + (year + 399) / 400
  }
}
