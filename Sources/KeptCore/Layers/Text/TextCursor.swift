// Primitive operations for readers of plain text.

/// A reading position in a text.
package protocol TextCursor {
  var bytes: UnsafeBufferPointer<UInt8> { get }
  var position: Int { get set }
}

extension TextCursor {
  @inlinable
  package var isAtEnd: Bool { position == bytes.count }

  /// The byte at the position, as a scalar so that it compares with a literal; nil at the end.
  @inlinable
  package var next: Unicode.Scalar? { position < bytes.count ? Unicode.Scalar(bytes[position]) : nil }

  /// The text from an offset up to the position; both must be between characters.
  @inlinable
  package func text(from start: Int) -> String {
    String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<position]), as: UTF8.self)
  }

  /// Skips a byte if it is the next one.
  @inlinable
  package mutating func skip(_ expected: Unicode.Scalar) -> Bool {
    guard next == expected else { return false }
    position += 1
    return true
  }

  /// Skips some ASCII text if it comes next.
  @inlinable
  package mutating func skip(text: StaticString) -> Bool {
    guard isAt(text) else { return false }
    position += text.utf8CodeUnitCount
    return true
  }

  /// Whether some ASCII text comes next.
  @inlinable
  package func isAt(_ text: StaticString) -> Bool {
    let length = text.utf8CodeUnitCount
    guard bytes.count - position >= length else { return false }
    for index in 0..<length where bytes[position + index] != text.utf8Start[index] { return false }
    return true
  }

  /// Skips everything up to and including some ASCII text; returns false if the text does not occur.
  @inlinable
  package mutating func skip(past end: StaticString) -> Bool {
    while position < bytes.count {
      if skip(text: end) { return true }
      position += 1
    }
    return false
  }

  @inlinable
  package mutating func skipSpace() {
    while let next, next == " " || "\t"..."\r" ~= next { position += 1 }
  }

  @inlinable
  package mutating func hexadecimalDigit() -> UInt8? {
    guard position < bytes.count, let digit = bytes[position].hexadecimalDigit else { return nil }
    position += 1
    return digit
  }
}
