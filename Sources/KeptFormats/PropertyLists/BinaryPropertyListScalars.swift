// Numbers, dates, bytes and text of a binary property list.

import KeptCore

extension BinaryPropertyList {
  func word(_ word: Int, at place: Int) throws(StoreError) -> Object {
    switch word {
    case 0x0: return Object(.null)
    case 0x8: return Object(.bool(false))
    case 0x9: return Object(.bool(true))
    default: throw StoreError(.invalid, offset: place, "no object of a property list has the marker \(word)")
    }
  }

  /// Up to 4 bytes are unsigned, and 8 are signed; 16 are written for integers above Int64.max.
  mutating func integer(size: Int, at start: Int) throws(StoreError) -> Object {
    guard size <= 16 else { throw StoreError(.invalid, offset: start - 1, "an integer has more than 16 bytes") }
    let content = try take(size, at: start)
    let low = content.suffix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    guard size == 16 else { return Object(.int(Int64(bitPattern: low))) }
    let high = content.prefix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    switch high {
    case 0: return Object(low > Int64.max ? .uint(low) : .int(Int64(low)))
    case .max where low > Int64.max: return Object(.int(Int64(bitPattern: low)))
    default: return Object(.null, obstacle: "an integer has more than 64 bits")
    }
  }

  mutating func double(size: Int, at start: Int) throws(StoreError) -> Double {
    let bits = try take(size, at: start).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    switch size {
    case 4: return Double(Float(bitPattern: UInt32(bits)))
    case 8: return Double(bitPattern: bits)
    default: throw StoreError(.invalid, offset: start - 1, "a real number must have 4 or 8 bytes")
    }
  }

  /// Seconds since 2001-01-01T00:00:00Z.
  static func date(_ seconds: Double) -> Object {
    let whole = seconds.rounded(.down)
    // False for NaN, too; the range of years is checked by the timestamp.
    if abs(whole) < 1e12 {
      let nanoseconds = Int32(min(((seconds - whole) * 1e9).rounded(), 999_999_999))
      if let date = try? Timestamp(seconds: Int64(whole) + 978_307_200, nanoseconds: nanoseconds) {
        return Object(.date(date))
      }
    }
    return Object(.null, obstacle: "a date lies outside the years 0 to 9999")
  }

  mutating func ascii(_ count: Int, at start: Int) throws(StoreError) -> Object {
    let content = try take(count, at: start)
    guard content.allSatisfy({ $0 < 0x80 }) else {
      throw StoreError(.invalid, offset: start, "an ASCII string has bytes that are not ASCII")
    }
    return Object(.string(String(decoding: content, as: UTF8.self)), weight: count + 1)
  }

  mutating func utf16(_ count: Int, at start: Int) throws(StoreError) -> Object {
    let content = try take(2 * count, at: start)
    var units: [UInt16] = []
    units.reserveCapacity(count)
    for index in 0..<count {
      units.append(UInt16(content[start + 2 * index]) << 8 | UInt16(content[start + 2 * index + 1]))
    }
    let text = String(decoding: units, as: UTF16.self)
    guard text.utf16.elementsEqual(units) else {
      return Object(.null, obstacle: "a string has half of a surrogate pair, which is no character")
    }
    return Object(.string(text), weight: count + 1)
  }
}
