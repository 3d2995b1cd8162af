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
    var mark = try TOMLMark(notIn: text)
    let root = TOMLNode(node: try table(of: text, &mark).tomlValue, mark: mark)
    var losses = Losses()
    try found.add(root.members(&losses) ?? [], splitting: whole)
    return found
  }

  /// The parsed text, with a mark in the place of each number and date that cannot be read.
  private static func table(of text: PlainText, _ mark: inout TOMLMark) throws -> TOMLTable {
    var bytes = mark.hidingNulls(in: text)
    // The parser reads 1e-400 as 0, but refuses 1e+400.
    var probe = withLargeExponents(bytes)
    // Each needs another reading of the text.
    for _ in 0..<64 {
      do {
        let table = try TOMLTable(string: String(decoding: probe, as: UTF8.self))
        return probe == bytes ? table : try TOMLTable(string: String(decoding: bytes, as: UTF8.self))
      } catch let error as TOMLParseError {
        let place = error.source.begin
        let offset = PlainText(checked: probe).offset(line: place.line, column: place.column)
        guard isOfOneValue(error), let word = word(at: offset, in: bytes) else {
          guard probe != bytes else { throw unreadable(error, text) }
          // An exponent was part of a name.
          probe = bytes
          continue
        }
        let standIn = Array("\"\(mark.standIn(for: bytes[word].text))\"".utf8)
        bytes.replaceSubrange(word, with: standIn)
        probe.replaceSubrange(word, with: standIn)
      }
    }
    throw StoreError(.invalid, "the TOML has many numbers or dates that cannot be read; correct them first")
  }

  /// A text in which exponents below -99 are above 99.
  private static func withLargeExponents(_ bytes: [UInt8]) -> [UInt8] {
    var probe = bytes
    for index in bytes.indices.dropLast(4) where bytes[index] | 0x20 == UInt8(ascii: "e") {
      guard bytes[index + 1] == UInt8(ascii: "-"),
        bytes[(index + 2)...(index + 4)].allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
      else { continue }
      probe[index + 1] = UInt8(ascii: "+")
    }
    return probe
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

  /// The parser's sentence up to where it quotes more of the text than a sign, which may be a secret.
  private static func unreadable(_ error: TOMLParseError, _ text: PlainText) -> StoreError {
    var rest = Array(error.description.utf8)[...]
    let (start, seen) = (Array("Error while parsing ".utf8), Array(", saw ".utf8))
    if rest.starts(with: start) { rest = rest.dropFirst(start.count) }
    var sentence: ArraySlice<UInt8> = []
    while let byte = rest.first, byte != 0x0A, byte != UInt8(ascii: "\""), !rest.starts(with: seen) {
      var count = 1
      if byte == UInt8(ascii: "'") {
        // Signs and escapes are no secrets.
        guard let end = rest.dropFirst().prefix(3).lastIndex(of: byte) else { break }
        count = rest.distance(from: rest.startIndex, to: end) + 1
      }
      sentence += rest.prefix(count)
      rest = rest.dropFirst(count)
    }
    let place = error.source.begin
    return StoreError(
      .invalid, offset: text.offset(line: place.line, column: place.column),
      "line \(place.line) is not TOML: \(sentence.trimmed.text)")
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
  /// What a value that cannot be read is exchanged for begins with this; its number among them follows.
  private let value: Unicode.Scalar
  /// What NUL is exchanged for, and the escapes of that.
  private let null, short, long: [UInt8]
  private static let (shortNull, longNull) = (Array(#"\u0000"#.utf8), Array(#"\U00000000"#.utf8))
  private var words: [String] = []

  init(notIn text: PlainText) throws(StoreError) {
    // The private characters of Unicode, of which no text of settings has all.
    var free = Set(0xE000...0xF8FF as ClosedRange<UInt32>)
    let bytes = text.bytes
    for index in bytes.indices {
      switch bytes[index] {
      case 0xEE...0xEF:
        let scalar = bytes[index...].prefix(3).reduce(0 as UInt32) { $0 << 6 | UInt32($1 & 0x3F) }
        free.remove(scalar & 0xFFFF)
      case UInt8(ascii: "\\"):
        let digits = bytes[(index + 1)...].dropFirst()
        for count in [4, 8] {
          if let number = UInt32(digits.prefix(count).text, radix: 16) { free.remove(number) }
        }
      default: break
      }
    }
    let chosen = free.sorted().prefix(2).compactMap(Unicode.Scalar.init)
    guard chosen.count == 2 else {
      throw StoreError(.invalid, "the text has all private characters of Unicode, of which two are needed to read it")
    }
    let digits = String(chosen[1].value, radix: 16, uppercase: true)
    (value, null) = (chosen[0], Array(String(chosen[1]).utf8))
    (short, long) = (Array(#"\u\#(digits)"#.utf8), Array(#"\U0000\#(digits)"#.utf8))
  }

  func hidingNulls(in text: PlainText) -> [UInt8] {
    Self.replacing([(Self.shortNull, short), (Self.longNull, long)], in: text.bytes)
  }

  func restoringNulls(in text: String) -> String {
    guard text.utf8.contains(where: { $0 == UInt8(ascii: "\\") || $0 == null[0] }) else { return text }
    let back = Self.replacing([(short, Self.shortNull), (long, Self.longNull), (null, [0])], in: Array(text.utf8))
    return String(decoding: back, as: UTF8.self)
  }

  private static func replacing(_ pairs: [(found: [UInt8], new: [UInt8])], in bytes: [UInt8]) -> [UInt8] {
    var (new, position): ([UInt8], Int) = ([], 0)
    new.reserveCapacity(bytes.count)
    while position < bytes.count {
      let byte = bytes[position]
      let pair =
        byte < 0x80 && byte != UInt8(ascii: "\\") ? nil : pairs.first { bytes[position...].starts(with: $0.found) }
      if let pair { new += pair.new } else { new.append(byte) }
      position += pair?.found.count ?? 1
    }
    return new
  }

  /// The text that a number or a date is exchanged for.
  mutating func standIn(for word: String) -> String {
    words.append(word)
    return "\(value)\(words.count - 1)"
  }

  /// The number or date that a text has been exchanged for; nil if it has not.
  func word(of text: String) -> String? {
    guard text.unicodeScalars.first == value, let index = Int(String(text.unicodeScalars.dropFirst())),
      words.indices.contains(index)
    else { return nil }
    return words[index]
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
      if let word = mark.word(of: text) { return try Self.value(of: word) }
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

  /// A number or a date that TOML does not have; Kept has integers of 64 bits without a sign.
  private static func value(of word: String) throws(Obstacle) -> Value {
    let bytes = Array(word.utf8)
    if bytes.contains(UInt8(ascii: ":")) || bytes.dropFirst(4).first == UInt8(ascii: "-") {
      throw Obstacle("is not a date or time of the calendar")
    }
    let prefix = String(decoding: bytes.prefix(2), as: UTF8.self)
    let radix = ["0x": 16, "0o": 8, "0b": 2][prefix] ?? 10
    let digits = bytes.dropFirst(radix == 10 ? 0 : 2).filter { $0 != UInt8(ascii: "_") }
    if let integer = UInt64(String(decoding: digits, as: UTF8.self), radix: radix) { return .uint(integer) }
    if radix != 10 || !digits.contains(where: { ".eE".utf8.contains($0) }) { throw Obstacle.tooLarge }
    return .double(try ForeignText.double(String(decoding: digits, as: UTF8.self)))
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
