// TOML, by TOMLKit. Tables are parts of keys, as sections are; arrays of tables are values.
//
// TOMLKit ends strings at a NUL, and refuses a text for one number of 65 bits, or one date that the calendar does not
// have. So the escapes of NUL, and such a number or date, are exchanged for a character that the text does not have,
// and are recognised by it in what is read.

import Formats
import Kept
import TOMLKit

enum TOMLFile {
  static func read(_ text: PlainText, whole: Set<ExactString>) throws -> FoundSettings {
    var found = FoundSettings(size: text.bytes.count)
    let mark = try TOMLMark(notIn: text)
    let root = TOMLNode(node: try table(of: mark.hidingNulls(in: text), mark, text).tomlValue, mark: mark)
    var losses = Losses()
    try found.add(root.members(&losses) ?? [], splitting: whole)
    return found
  }

  /// The parsed text, with a mark in the place of each number and date that cannot be read.
  private static func table(of text: String, _ mark: TOMLMark, _ original: PlainText) throws -> TOMLTable {
    var bytes = Array(text.utf8)
    // Each needs another reading of the text.
    for _ in 0..<64 {
      do { return try TOMLTable(string: String(decoding: bytes, as: UTF8.self)) } catch let error as TOMLParseError {
        let place = error.source.begin
        let offset = PlainText(checked: bytes).offset(line: place.line, column: place.column)
        guard isOfOneValue(error), let word = word(at: offset, in: bytes) else { throw unreadable(error, original) }
        bytes.replaceSubrange(word, with: "\"\(mark.value)\"".utf8)
      }
    }
    throw StoreError(.invalid, "the TOML has many numbers or dates that cannot be read; correct them first")
  }

  /// Whether an error is about a number or a date that is written as one, and cannot be represented.
  private static func isOfOneValue(_ error: TOMLParseError) -> Bool {
    let sentence = error.description
    return sentence.contains("not representable in 64 bits") || sentence.contains("could not be interpreted as a value")
      || ["date", "time", "date-time"].contains {
        sentence.utf8.starts(with: "Error while parsing \($0): expected ".utf8)
      }
  }

  /// The number or date around a place: it has digits.
  private static func word(at place: Int, in bytes: [UInt8]) -> Range<Int>? {
    func isPart(_ index: Int) -> Bool {
      switch Unicode.Scalar(bytes[index]) {
      case "0"..."9", "a"..."z", "A"..."Z", "_", "+", "-", ".", ":": true
      default: false
      }
    }
    var (start, end) = (min(place, bytes.count), min(place, bytes.count))
    while start > 0, isPart(start - 1) { start -= 1 }
    while end < bytes.count, isPart(end) { end += 1 }
    let hasDigits = bytes[start..<end].contains { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    // It must be a value: one that is part of a key is after no equals sign, bracket or comma. The lines of an array
    // begin with values.
    let before = bytes[..<start].last { $0 != 0x20 && $0 != 0x09 } ?? 0x0A
    return hasDigits && "=[,\n".utf8.contains(before) ? start..<end : nil
  }

  /// The parser's sentence up to where it quotes the text, which may be a secret.
  private static func unreadable(_ error: TOMLParseError, _ text: PlainText) -> StoreError {
    let sentence = error.description.utf8.prefix { $0 != UInt8(ascii: "'") && $0 != UInt8(ascii: "\"") && $0 != 0x0A }
    let place = error.source.begin
    return StoreError(
      .invalid, offset: text.offset(line: place.line, column: place.column),
      "line \(place.line) is not TOML: \(String(Substring(sentence)))")
  }
}

extension PlainText {
  /// The offset of a line and a column, which count from 1, the column in characters of Unicode.
  func offset(line: Int, column: Int) -> Int {
    var start = 0
    for _ in 1..<max(1, line) {
      guard let end = bytes[start...].firstIndex(of: 0x0A) else { break }
      start = end + 1
    }
    var columns = column
    return bytes[start...].firstIndex { byte in
      if byte & 0xC0 != 0x80 { columns -= 1 }
      return columns <= 0 || byte == 0x0A
    } ?? bytes.count
  }
}

/// Characters that a text does not have, as such or by their numbers.
private struct TOMLMark {
  /// What a value that cannot be read is exchanged for.
  let value: Unicode.Scalar
  /// What NUL is exchanged for.
  private let null: Unicode.Scalar
  private let short, long: String
  private static let (shortNull, longNull) = (#"\u0000"#, #"\U00000000"#)

  init(notIn text: PlainText) throws(StoreError) {
    let string = text.string
    let present = Set(string.unicodeScalars)
    // The private characters of Unicode, of which no text of settings has all.
    var free: [(character: Unicode.Scalar, digits: String)] = []
    for value in 0xE000...0xF8FF as ClosedRange<UInt32> where free.count < 2 {
      let digits = String(value, radix: 16, uppercase: true)
      guard let character = Unicode.Scalar(value), !present.contains(character), !string.contains(digits) else {
        continue
      }
      free.append((character, digits))
    }
    guard free.count == 2 else {
      throw StoreError(.invalid, "the text has all private characters of Unicode, of which two are needed to read it")
    }
    (value, null) = (free[0].character, free[1].character)
    (short, long) = (#"\u\#(free[1].digits)"#, #"\U0000\#(free[1].digits)"#)
  }

  func hidingNulls(in text: PlainText) -> String {
    text.string.replacing(Self.shortNull, with: short).replacing(Self.longNull, with: long)
  }

  /// Whether a string stands for a value that cannot be read.
  func isAlone(_ text: String) -> Bool { ExactString(text) == ExactString(String(value)) }

  func restoringNulls(in text: String) -> String {
    guard text.utf8.contains(where: { $0 == UInt8(ascii: "\\") || $0 >= 0x80 }) else { return text }
    let back = text.replacing(short, with: Self.shortNull).replacing(long, with: Self.longNull)
    return String(String.UnicodeScalarView(back.unicodeScalars.map { $0 == null ? "\0" : $0 }))
  }
}

/// A value of TOML.
private struct TOMLNode: Foreign {
  let node: TOMLValue
  let mark: TOMLMark

  func members(_: inout Losses) -> [(name: String, value: TOMLNode)]? {
    guard let table = node.table else { return nil }
    return table.keys.compactMap { name in
      table[name].map { (mark.restoringNulls(in: name), TOMLNode(node: $0.tomlValue, mark: mark)) }
    }
  }

  var isSection: Bool { node.table?.inline == false }

  func value(_ losses: inout Losses, depth: Int) throws -> Value {
    switch node.type {
    case .bool: return .bool(node.bool == true)
    case .int: return .int(Int64(node.int ?? 0))
    case .double: return .double(node.double ?? 0)
    case .string:
      let text = node.string ?? ""
      if mark.isAlone(text) { throw Obstacle("is not an integer of 64 bits, or not a date of the calendar") }
      return .string(mark.restoringNulls(in: text))
    case .date, .time, .dateTime: return try time(&losses)
    case .array:
      let inside = try deeper(depth)
      return .array(
        try (node.array ?? []).map { try TOMLNode(node: $0.tomlValue, mark: mark).value(&losses, depth: inside) })
    case .table:
      let inside = try deeper(depth)
      var values: [(ExactString, Value)] = []
      for (name, value) in members(&losses) ?? [] {
        values.append((ExactString(name), try value.value(&losses, depth: inside)))
      }
      return losses.dictionary(values)
    }
  }

  /// A date in UTC; a date or time without a zone is not a moment, and is text.
  private func time(_ losses: inout Losses) throws(Obstacle) -> Value {
    var (date, time) = (node.date, node.time)
    // Without its type, `date` would be the one of a value that is a date alone.
    if let both = node.dateTime { (date, time) = (both.date as TOMLDate, both.time as TOMLTime) }
    var parts: [String] = []
    if let date {
      parts.append("\(Self.padded(date.year, 4))-\(Self.padded(date.month, 2))-\(Self.padded(date.day, 2))")
    }
    if let time {
      let fraction = time.nanoSecond == 0 ? "" : ".\(Self.padded(time.nanoSecond, 9))"
      parts.append(
        "\(Self.padded(time.hour, 2)):\(Self.padded(time.minute, 2)):\(Self.padded(time.second, 2))\(fraction)")
    }
    guard let offset = node.dateTime?.offset?.offset else {
      losses.add("a date or time without a time zone is imported as text")
      return .string(parts.joined(separator: "T"))
    }
    guard let local = try? Timestamp(text: parts.joined(separator: "T") + "Z"),
      let moment = try? Timestamp(seconds: local.seconds - Int64(offset) * 60, nanoseconds: local.nanoseconds)
    else { throw Obstacle("is a date outside the years 0 to 9999, or a leap second") }
    return .date(moment)
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}
