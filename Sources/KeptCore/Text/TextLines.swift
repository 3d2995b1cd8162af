// What a line of a text is: what stands up to a line feed, without the carriage return that Windows writes before it.

/// The lines of a text, one after another.
struct TextLines: TextCursor {
  let bytes: UnsafeBufferPointer<UInt8>
  var position: Int
  /// The number of the line that was read last, from 1.
  private(set) var number = 0

  init(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) {
    self.bytes = bytes
    position = start
  }

  struct Line {
    /// Where it begins and ends in the text, without white space at either end.
    let content: Range<Int>
    /// How many characters of white space stand in front.
    let indent: Int
    let number: Int

    /// The line in a report.
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

  /// A part of the text without white space at its ends.
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

  /// The first byte of a line, as a scalar so that it compares with a literal; nil for an empty one.
  func first(of line: Line) -> Unicode.Scalar? {
    line.content.isEmpty ? nil : Unicode.Scalar(bytes[line.content.lowerBound])
  }

  /// The first place in a part of the text at which one of two bytes stands.
  func place(of one: UInt8, or other: UInt8, in part: Range<Int>) -> Int? {
    part.first { bytes[$0] == one || bytes[$0] == other }
  }

  func invalid(_ line: Line, _ message: String) -> StoreError {
    StoreError(.invalid, offset: line.content.lowerBound, "\(line.place) \(message)")
  }
}
