// Rewrites TOML so that TOMLKit reads it without loss.
//
// TOMLKit refuses a text for one number of 65 bits or of more than 128 digits, and for one date that the calendar does
// not have. It takes 1e-400 for 0, and cuts off fractions of a second. So dates, and numbers that are not exactly what
// it reads, become strings of a mark and a number, and are read here. All else stays, right or wrong.

import Formats
import Kept

struct TOMLGuard {
  private let bytes: [UInt8]
  private var position = 0
  private var safe: [UInt8] = []
  /// The end of what has been copied.
  private var copied = 0
  /// The open brackets of values.
  private var open: [UInt8] = []
  /// Whether a value comes next, and not a name.
  private var isValue = false

  static func safe(_ bytes: [UInt8], _ mark: inout TOMLMark) -> [UInt8] {
    var guarded = TOMLGuard(bytes)
    while let byte = guarded.next { guarded.read(byte, &mark) }
    return guarded.safe + bytes[guarded.copied...]
  }

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func read(_ byte: UInt8, _ mark: inout TOMLMark) {
    switch Unicode.Scalar(byte) {
    case "\"", "'":
      skipString(byte)
      isValue = false
      return
    case "#":
      position = bytes[position...].firstIndex(of: 0x0A) ?? bytes.count
      return
    case "[" where isValue: open.append(byte)
    case "{" where isValue:
      open.append(byte)
      isValue = false
    case "]", "}":
      _ = open.popLast()
      isValue = false
    case "=": isValue = true
    case ",": isValue = open.last == UInt8(ascii: "[")
    case "\n": isValue = isValue && !open.isEmpty
    case _ where isValue && Self.isPart(byte):
      readWord(&mark)
      isValue = false
      return
    default: break
    }
    position += 1
  }

  /// Skips a string, which has more than one line if it begins with three quotes.
  private mutating func skipString(_ quote: UInt8) {
    let isLong = isValue && bytes[position...].prefix(3).elementsEqual([quote, quote, quote])
    position += isLong ? 3 : 1
    while let byte = next {
      if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
        position = min(position + 2, bytes.count)
        continue
      }
      if byte == 0x0A, !isLong { return }
      position += 1
      guard byte == quote else { continue }
      if !isLong { return }
      guard bytes[position...].prefix(2).elementsEqual([quote, quote]) else { continue }
      // Two more quotes may be part of the string.
      position += 2
      position += bytes[position...].prefix(2).prefix { $0 == quote }.count
      return
    }
  }

  private mutating func readWord(_ mark: inout TOMLMark) {
    let start = position
    skipParts()
    // White space may be between a date and a time.
    if position == start + 10, next == 0x20, position + 3 < bytes.count, bytes[position + 3] == UInt8(ascii: ":"),
      bytes[start + 4] == UInt8(ascii: "-")
    {
      position += 1
      skipParts()
    }
    let word = TOMLWord(bytes[start..<position].text)
    guard word.isExchanged else { return }
    safe += bytes[copied..<start] + Array("\"\(mark.standIn(for: word.text))\"".utf8)
    copied = position
  }

  private mutating func skipParts() { while let byte = next, Self.isPart(byte) { position += 1 } }

  private static func isPart(_ byte: UInt8) -> Bool {
    switch Unicode.Scalar(byte) {
    case "0"..."9", "a"..."z", "A"..."Z", "_", "+", "-", ".", ":": true
    default: false
    }
  }
}

/// A number or a date of TOML.
struct TOMLWord {
  let text: String
  private let bytes: [UInt8]

  static let noDate = Obstacle("is not a valid date or time in the years 0 to 9999")
  /// Far fewer than the parser reads.
  private static let mostDigits = 100

  init(_ text: String) { (self.text, bytes) = (text, Array(text.utf8)) }

  /// Whether TOMLKit would refuse it, or read something else.
  var isExchanged: Bool {
    if isDate || isTime { return true }
    guard let number else { return false }
    if bytes.count > Self.mostDigits { return true }
    return number.isInteger
      ? Int64(number.digits, radix: number.radix) == nil : (try? ForeignText.double(number.digits)) == nil
  }

  func value(_ losses: inout Losses) throws(Obstacle) -> Value {
    guard let number else { return try time(&losses) }
    guard number.isInteger else { return .double(try ForeignText.double(number.digits)) }
    if let integer = Int64(number.digits, radix: number.radix) { return .int(integer) }
    // Kept has integers of 64 bits without a sign.
    guard let integer = UInt64(number.digits, radix: number.radix) else { throw .tooLarge }
    return .uint(integer)
  }

  // MARK: Numbers

  /// The digits of a number without underscores; nil if it is not written as TOML has it.
  private var number: (digits: String, radix: Int, isInteger: Bool)? {
    var rest = bytes[...]
    let digits = String(decoding: bytes.filter { $0 != UInt8(ascii: "_") }, as: UTF8.self)
    if let radix = ["0x": 16, "0o": 8, "0b": 2][bytes.prefix(2).text] {
      rest = rest.dropFirst(2)
      guard Self.skipDigits(&rest, radix), rest.isEmpty else { return nil }
      return (String(Substring(digits.utf8.dropFirst(2))), radix, true)
    }
    Self.skipSign(&rest)
    let isZero = rest.first == UInt8(ascii: "0")
    let whole = rest
    guard Self.skipDigits(&rest), !isZero || rest.startIndex == whole.startIndex + 1 else { return nil }
    if rest.isEmpty { return (digits, 10, true) }
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      guard Self.skipDigits(&rest) else { return nil }
    }
    if let byte = rest.first, byte | 0x20 == UInt8(ascii: "e") {
      rest.removeFirst()
      Self.skipSign(&rest)
      guard Self.skipDigits(&rest) else { return nil }
    }
    return rest.isEmpty ? (digits, 10, false) : nil
  }

  private static func skipSign(_ rest: inout ArraySlice<UInt8>) {
    if let sign = rest.first, "+-".utf8.contains(sign) { rest.removeFirst() }
  }

  /// Skips digits with single underscores between them; false if there are none.
  private static func skipDigits(_ rest: inout ArraySlice<UInt8>, _ radix: Int = 10) -> Bool {
    func isDigit(_ byte: UInt8?) -> Bool {
      guard let byte else { return false }
      return areDigits([byte])
        ? byte < UInt8(ascii: "0") + UInt8(min(radix, 10))
        : radix == 16 && UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte | 0x20
    }
    guard isDigit(rest.first) else { return false }
    while isDigit(rest.first) || (rest.first == UInt8(ascii: "_") && isDigit(rest.dropFirst().first)) {
      rest.removeFirst()
    }
    return true
  }

  // MARK: Dates

  private var isDate: Bool { Self.areDigits(bytes.prefix(4)) && bytes.dropFirst(4).first == UInt8(ascii: "-") }
  private var isTime: Bool { Self.areDigits(bytes.prefix(2)) && bytes.dropFirst(2).first == UInt8(ascii: ":") }

  private static func areDigits(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
  }

  /// A date in UTC; a date or time without a zone is not a point in time, and is text.
  private func time(_ losses: inout Losses) throws(Obstacle) -> Value {
    let date = isDate ? bytes.prefix(10).text : "2000-01-01"
    var rest = isDate ? bytes.dropFirst(10) : bytes[...]
    if isDate, let separator = rest.popFirst(), separator != 0x20, separator | 0x20 != UInt8(ascii: "t") {
      throw Self.noDate
    }
    let time = rest.isEmpty ? "00:00:00" : rest.prefix(8).text
    var fraction = rest.dropFirst(8).prefix { $0 == UInt8(ascii: ".") || Self.areDigits([$0]) }
    let zone = rest.dropFirst(8 + fraction.count)
    if fraction.popFirst() != nil, fraction.isEmpty || !Self.areDigits(fraction) { throw Self.noDate }
    let isText = zone.isEmpty
    guard isDate || isText, let minutes = isText ? 0 : Self.minutes(of: zone),
      let point = ForeignText.time("\(date)T\(time)", fraction: fraction.text, minutesEast: minutes)
    else { throw Self.noDate }
    if fraction.count > 9, !isText { losses.add(Losses.fraction) }
    guard isText else { return .date(point) }
    losses.add("a date or time without a time zone is imported as text")
    return .string(isDate && !rest.isEmpty ? "\(date)T\(rest.text)" : text)
  }

  /// The minutes of a time zone, `Z` or `-07:30`; nil if it is neither.
  private static func minutes(of zone: ArraySlice<UInt8>) -> Int? {
    if zone.count == 1, let byte = zone.first, byte | 0x20 == UInt8(ascii: "z") { return 0 }
    let parts = zone.dropFirst().split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    guard let sign = zone.first, "+-".utf8.contains(sign), parts.count == 2,
      parts.allSatisfy({ $0.count == 2 && areDigits($0) }), let hours = Int(parts[0].text),
      let minutes = Int(parts[1].text), hours < 24, minutes < 60
    else { return nil }
    return (hours * 60 + minutes) * (sign == UInt8(ascii: "-") ? -1 : 1)
  }
}
