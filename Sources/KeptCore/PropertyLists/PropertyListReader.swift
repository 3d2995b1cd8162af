// What both kinds of property lists are read with: a place in the text that moves on, and how deep it is.

/// A place in the text of a property list.
///
/// Each reading begins where the one before ended. What cannot be read is nil; the place is then of no use.
struct PropertyListReader {
  let bytes: UnsafeBufferPointer<UInt8>
  var position = 0
  private var depth = 0

  init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  var isAtEnd: Bool { position == bytes.count }

  /// The byte at the position, as a scalar so that it compares with a literal; nil at the end.
  var next: Unicode.Scalar? { position < bytes.count ? Unicode.Scalar(bytes[position]) : nil }

  /// The text from a place up to the position; both must lie between characters.
  func text(from start: Int) -> String {
    String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<position]), as: UTF8.self)
  }

  /// Passes over a byte if it is the one that comes next.
  mutating func skip(_ expected: Unicode.Scalar) -> Bool {
    guard next == expected else { return false }
    position += 1
    return true
  }

  /// Passes over some ASCII text if it is what comes next.
  mutating func skip(text: StaticString) -> Bool {
    let length = text.utf8CodeUnitCount
    guard bytes.count - position >= length else { return false }
    for index in 0..<length where bytes[position + index] != text.utf8Start[index] { return false }
    position += length
    return true
  }

  /// Passes over everything up to and with some ASCII text; false if it does not come.
  mutating func skip(past end: StaticString) -> Bool {
    while position < bytes.count {
      if skip(text: end) { return true }
      position += 1
    }
    return false
  }

  mutating func skipSpace() {
    while let next, next == " " || "\t"..."\r" ~= next { position += 1 }
  }

  mutating func hexadecimalDigit() -> UInt8? {
    guard position < bytes.count, let digit = bytes[position].hexadecimalDigit else { return nil }
    position += 1
    return digit
  }

  /// Reads the inside of a container, if it is not one too many.
  mutating func nested(_ read: (inout PropertyListReader) -> Value?) -> Value? {
    guard depth < Limits.nesting else { return nil }
    depth += 1
    defer { depth -= 1 }
    return read(&self)
  }
}
