// Splits a text into lines: each ends at a line feed, without the carriage return that Windows writes before it.

import KeptCore

/// Iterates over the lines of a text.
struct TextLines: TextCursor {
  let bytes: UnsafeBufferPointer<UInt8>
  var position: Int
  /// The number of the last line that was read, from 1.
  private(set) var number = 0

  init(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) {
    self.bytes = bytes
    position = start
  }

  struct Line {
    /// The range of the line in the text, without white space at either end.
    let content: Range<Int>
    /// The number of white-space characters before the content.
    let indent: Int
    let number: Int

    /// The name of the line in a report.
    var place: String { "line \(number)" }
  }

  mutating func next() -> Line? {
    guard !isAtEnd else { return nil }
    let start = position
    skip(through: "\n")
    number += 1
    let content = trimmed(start..<position)
    return Line(content: content, indent: content.lowerBound - start, number: number)
  }

  private mutating func skip(through end: Unicode.Scalar) {
    while position < bytes.count {
      position += 1
      if Unicode.Scalar(bytes[position - 1]) == end { return }
    }
  }

  /// A range of the text without white space at its ends.
  func trimmed(_ part: Range<Int>) -> Range<Int> {
    var (start, end) = (part.lowerBound, part.upperBound)
    while start < end, Self.isSpace(bytes[start]) { start += 1 }
    while start < end, Self.isSpace(bytes[end - 1]) { end -= 1 }
    return start..<end
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || 0x09...0x0D ~= byte }

  func text(_ part: Range<Int>) -> String {
    String(decoding: UnsafeBufferPointer(rebasing: bytes[part]), as: UTF8.self)
  }

  /// The first byte of a line, as a scalar so that it compares with a literal; nil for an empty line.
  func first(of line: Line) -> Unicode.Scalar? {
    line.content.isEmpty ? nil : Unicode.Scalar(bytes[line.content.lowerBound])
  }

  /// The first index of one of two bytes in a range of the text.
  func place(of one: UInt8, or other: UInt8, in part: Range<Int>) -> Int? {
    part.first { bytes[$0] == one || bytes[$0] == other }
  }

  func invalid(_ line: Line, _ message: String) -> StoreError {
    StoreError(.invalid, offset: line.content.lowerBound, "\(line.place) \(message)")
  }
}
