// Rewrites a binary property list so that FoundationEssentials' PropertyListDecoder reads it without loss.
//
// The decoder has a dictionary's keys in a Swift dictionary, so keys that are equal, or that differ only in their
// normalization, would become one without a word. Of an integer of 16 bytes it takes the last eight. So
//
// - each key becomes a string of its own with its number in front, as in XMLGuard: `3:volume`; a key that is not
//   Unicode is repaired, with the mark `3!:`;
// - an integer of 16 bytes that is negative gets 8 bytes, and one that needs more than 64 bits becomes an empty set,
//   which property lists do not have;
// - references get 4 bytes; an object that is damaged becomes one that the decoder does not know.
//
// Everything else is copied.

import Formats
import Kept

struct BinaryGuard {
  private let bytes: [UInt8]
  private let offsetSize: Int
  private let referenceSize: Int
  /// Where the table of offsets begins, which is behind all objects.
  private let table: Int
  private let count: Int
  private let root: Int

  private var safe = Array("bplist00".utf8)
  private var offsets: [Int] = []
  private var keys: [String] = []
  /// The objects of a sound list do not overlap.
  private var room: Int
  /// Dictionaries may share their keys.
  private var keyRoom: Int

  private static let unknown: UInt8 = 0x70

  static func safe(_ bytes: [UInt8]) throws(StoreError) -> [UInt8] {
    guard var list = BinaryGuard(bytes) else {
      throw StoreError(.invalid, "the binary property list is truncated or damaged")
    }
    for object in 0..<list.count {
      list.offsets.append(list.safe.count)
      if let place = list.place(of: object), try list.copy(place) { continue }
      list.safe.append(unknown)
    }
    for key in list.keys {
      list.offsets.append(list.safe.count)
      list.append(string: key)
    }
    list.appendTable()
    return list.safe
  }

  /// Reads the trailer.
  private init?(_ bytes: [UInt8]) {
    let trailer = bytes.count - 32
    guard trailer >= 8 else { return nil }
    let (offsetSize, referenceSize) = (Int(bytes[trailer + 6]), Int(bytes[trailer + 7]))
    guard 1...8 ~= offsetSize, 1...8 ~= referenceSize, let count = Self.number(bytes, at: trailer + 8, 8),
      let root = Self.number(bytes, at: trailer + 16, 8), let table = Self.number(bytes, at: trailer + 24, 8),
      table <= trailer, count <= (trailer - table) / offsetSize, count < 1 << 31
    else { return nil }
    (self.bytes, self.offsetSize, self.referenceSize) = (bytes, offsetSize, referenceSize)
    (self.table, self.count, self.root) = (table, count, root)
    (room, keyRoom) = (bytes.count, 16 * bytes.count + 1 << 16)
  }

  /// Copies an object; false if it is damaged.
  private mutating func copy(_ place: Int) throws(StoreError) -> Bool {
    switch bytes[place] >> 4 {
    case 0x0: return try copy(place, through: place + 1)
    case 0x1 where bytes[place] == 0x14: return try copyLongInteger(place)
    case 0x1, 0x2: return try copy(place, through: place + 1 + 1 << min(Int(bytes[place] & 0xF), 5))
    case 0x3: return try copy(place, through: place + 9)
    case 0x8: return try copy(place, through: place + 2 + Int(bytes[place] & 0xF))
    case 0x4, 0x5:
      guard let (count, start) = head(place) else { return false }
      return try copy(place, through: start + count)
    case 0x6:
      guard let (count, start) = head(place) else { return false }
      return try copy(place, through: start + 2 * count)
    case 0xA, 0xC: return try copyReferences(place, each: 1)
    case 0xD: return try copyReferences(place, each: 2)
    default: return false
    }
  }

  private mutating func copy(_ place: Int, through end: Int) throws(StoreError) -> Bool {
    guard end <= table else { return false }
    try take(end - place)
    safe += bytes[place..<end]
    return true
  }

  private mutating func copyLongInteger(_ place: Int) throws(StoreError) -> Bool {
    guard place + 17 <= table else { return false }
    let (high, low) = (bytes[(place + 1)..<(place + 9)], bytes[(place + 9)..<(place + 17)])
    if high.allSatisfy({ $0 == 0 }) { return try copy(place, through: place + 17) }
    try take(17)
    let isNegative = high.allSatisfy { $0 == 0xFF } && bytes[place + 9] >= 0x80
    safe += isNegative ? [0x13] + low : [0xC0]
    return true
  }

  /// Copies an array, a set or a dictionary; the keys of a dictionary are before its values.
  private mutating func copyReferences(_ place: Int, each: Int) throws(StoreError) -> Bool {
    guard let (count, start) = head(place), start + each * count * referenceSize <= table else { return false }
    try take(start - place + each * count * referenceSize)
    appendHead(bytes[place] & 0xF0, count)
    for index in 0..<(each * count) {
      let object = Self.number(bytes, at: start + index * referenceSize, referenceSize) ?? self.count
      let isKey = each == 2 && index < count
      if isKey, let text = text(of: object) {
        keyRoom -= text.utf8.count
        guard keyRoom >= 0 else { throw PropertyListFile.tooManyReferences }
        append(self.count + keys.count, size: 4)
        keys.append("\(keys.count)\(text)")
      } else {
        append(object < self.count ? object : Int(UInt32.max), size: 4)
      }
    }
    return true
  }

  private mutating func take(_ size: Int) throws(StoreError) {
    room -= size
    guard room >= 0 else { throw StoreError(.invalid, "the objects of the property list overlap, so it is damaged") }
  }

  private mutating func append(string: String) {
    if string.utf8.allSatisfy({ $0 < 0x80 }) {
      appendHead(0x50, string.utf8.count)
      safe += Array(string.utf8)
    } else {
      appendHead(0x60, string.utf16.count)
      for unit in string.utf16 { append(Int(unit), size: 2) }
    }
  }

  private mutating func appendHead(_ kind: UInt8, _ count: Int) {
    safe.append(kind | UInt8(min(count, 0xF)))
    if count >= 0xF {
      safe.append(0x12)
      append(count, size: 4)
    }
  }

  private mutating func appendTable() {
    let start = safe.count
    for offset in offsets { append(offset, size: 8) }
    safe += [0, 0, 0, 0, 0, 0, 8, 4]
    for number in [offsets.count, root, start] { append(number, size: 8) }
  }

  private mutating func append(_ number: Int, size: Int) {
    for index in (0..<size).reversed() { safe.append(UInt8(truncatingIfNeeded: number >> (8 * index))) }
  }

  private func place(of object: Int) -> Int? {
    guard 0..<count ~= object, let place = Self.number(bytes, at: table + object * offsetSize, offsetSize),
      place < table
    else { return nil }
    return place
  }

  /// The count of an object, and where its content begins.
  private func head(_ place: Int) -> (count: Int, start: Int)? {
    let small = Int(bytes[place] & 0xF)
    guard small == 0xF else { return (small, place + 1) }
    guard place + 1 < table, case let size = bytes[place + 1], 0x10...0x13 ~= size,
      let count = Self.number(bytes, at: place + 2, 1 << Int(size & 0x3)), count <= bytes.count
    else { return nil }
    return (count, place + 2 + 1 << Int(size & 0x3))
  }

  /// The text of a string, behind a colon; nil if the object is not one.
  private func text(of object: Int) -> String? {
    guard let place = place(of: object), 0x5...0x6 ~= bytes[place] >> 4, let (count, start) = head(place) else {
      return nil
    }
    let isWide = bytes[place] >> 4 == 0x6
    guard start + (isWide ? 2 : 1) * count <= table else { return nil }
    let units = (0..<count).map { index in
      isWide
        ? UInt16(bytes[start + 2 * index]) << 8 | UInt16(bytes[start + 2 * index + 1]) : UInt16(bytes[start + index])
    }
    let text = isWide || units.allSatisfy { $0 < 0x80 } ? String(validating: units, as: UTF16.self) : nil
    return text.map { ":\($0)" } ?? "!:\(String(decoding: units, as: UTF16.self))"
  }

  /// A number; nil if it is outside the list, or too large.
  private static func number(_ bytes: [UInt8], at place: Int, _ size: Int) -> Int? {
    guard place >= 0, place <= bytes.count - size else { return nil }
    return Int(exactly: bytes[place..<(place + size)].reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
  }
}
