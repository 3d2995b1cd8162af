// TOML, by TOMLKit. Tables are parts of keys, as sections are; arrays of tables are values.
//
// TOMLKit ends strings at a NUL. So the escapes of NUL are exchanged for a character that the text does not have, and
// are recognised by it in the result. TOMLGuard does the same with dates, and with numbers that TOMLKit refuses.

import Formats
import Kept
import TOMLKit

enum TOMLFile {
  static func read(_ text: PlainText, whole: Set<ExactString>) throws -> FoundSettings {
    var found = FoundSettings(size: text.bytes.count)
    var mark = try TOMLMark(notIn: text)
    let safe = TOMLGuard.safe(mark.hidingNulls(in: text), &mark)
    let root: TOMLNode
    do {
      root = TOMLNode(node: try TOMLTable(string: String(decoding: safe, as: UTF8.self)).tomlValue, mark: mark)
    } catch let error as TOMLParseError {
      throw unreadable(error, text)
    }
    var losses = Losses()
    try found.add(root.members(&losses) ?? [], splitting: whole)
    return found
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
        // Signs and escapes are not secret.
        guard let end = rest.dropFirst().prefix(3).lastIndex(of: byte) else { break }
        count = rest.distance(from: rest.startIndex, to: end) + 1
      }
      sentence += rest.prefix(count)
      rest = rest.dropFirst(count)
    }
    let place = error.source.begin
    if sentence.text.contains("cannot redefine existing") {
      return StoreError(
        .invalid, "line \(place.line) is not valid TOML: its key or table is already defined; remove one definition")
    }
    return StoreError(
      .invalid, offset: text.offset(line: place.line, column: place.column),
      "line \(place.line) is not valid TOML: \(sentence.trimmed.text)")
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
struct TOMLMark {
  /// What a value that cannot be read is exchanged for begins with this; its number among them follows.
  private let value: Unicode.Scalar
  /// What NUL is exchanged for, and the escapes of that.
  private let null, short, long: [UInt8]
  private static let (shortNull, longNull) = (Array(#"\u0000"#.utf8), Array(#"\U00000000"#.utf8))
  private var words: [String] = []

  init(notIn text: PlainText) throws(StoreError) {
    // The private characters of Unicode; no text of settings has all of them.
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
      throw StoreError(
        .invalid, "the text leaves fewer than two of the characters U+E000 to U+F8FF unused; reading TOML needs two")
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
      if let word = mark.word(of: text) { return try TOMLWord(word).value(&losses) }
      return .string(mark.restoringNulls(in: text))
    // TOMLGuard has exchanged all dates.
    case .date, .time, .dateTime: throw TOMLWord.noDate
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
}
