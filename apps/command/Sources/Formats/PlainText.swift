// The one door through which every text comes: it decodes bytes, so that readers see UTF-8 with line feeds alone.

import Kept

/// The text of a file: UTF-8 without a byte order mark and without NUL, where each line ends with a line feed.
public struct PlainText: Sendable {
  public let bytes: [UInt8]

  /// Decodes UTF-8, UTF-16 and UTF-32: by the byte order mark, or by the zeros that ASCII has in UTF-16.
  ///
  /// Throws `invalid`, with the offset of the byte, for any other encoding and for a NUL.
  public init(_ bytes: [UInt8]) throws(StoreError) {
    let encoding = Encoding(of: bytes)
    let content = bytes.dropFirst(encoding.mark)
    let text: [UInt8]
    switch encoding.unit {
    case 1: text = Array(content)
    case 2: text = try Self.decoded(content, as: UTF16.self, encoding)
    default: text = try Self.decoded(content, as: UTF32.self, encoding)
    }
    if let wrong = Self.firstInvalid(text) {
      throw StoreError(
        .invalid, offset: encoding.mark + wrong, "byte \(encoding.mark + wrong) is not UTF-8; save the file as UTF-8")
    }
    if let zero = text.firstIndex(of: 0) {
      throw StoreError(.invalid, offset: zero, "the text contains a NUL, so it is binary or damaged")
    }
    // A file that was converted twice has two marks.
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    var start = 0
    while text[start...].starts(with: mark) { start += mark.count }
    self.bytes = Self.withLineFeeds(start == 0 ? text : Array(text[start...]))
  }

  /// Text that has been decoded already.
  package init(checked bytes: [UInt8]) { self.bytes = bytes }

  public var string: String { String(decoding: bytes, as: UTF8.self) }

  private struct Encoding {
    /// The bytes of the byte order mark, and of one code unit.
    var mark = 0
    var unit = 1
    var isBigEndian = false

    init(of bytes: [UInt8]) {
      let first = bytes.prefix(4) + [1, 1, 1, 1].prefix(4 - min(4, bytes.count))
      switch (first[0], first[1], first[2], first[3]) {
      case (0xEF, 0xBB, 0xBF, _): mark = 3
      case (0xFF, 0xFE, 0, 0): (mark, unit) = (4, 4)
      case (0, 0, 0xFE, 0xFF): (mark, unit, isBigEndian) = (4, 4, true)
      case (0xFF, 0xFE, _, _): (mark, unit) = (2, 2)
      case (0xFE, 0xFF, _, _): (mark, unit, isBigEndian) = (2, 2, true)
      case (1..., 0, 1..., 0) where bytes.count >= 4 && bytes.count.isMultiple(of: 2): unit = 2
      case (0, 1..., 0, 1...) where bytes.count >= 4 && bytes.count.isMultiple(of: 2): (unit, isBigEndian) = (2, true)
      default:
        guard let isBigEndian = Self.order(of: bytes) else { break }
        (unit, self.isBigEndian) = (2, isBigEndian)
      }
    }

    /// Whether bytes without a mark are UTF-16 with the high bytes first; nil if they are not UTF-16.
    ///
    /// The white space and the signs between settings are ASCII, whose high bytes are zeros.
    private static func order(of bytes: [UInt8]) -> Bool? {
      guard bytes.count.isMultiple(of: 2), bytes.contains(0) else { return nil }
      var zeros = (even: 0, odd: 0)
      for index in bytes.indices where bytes[index] == 0 {
        if index.isMultiple(of: 2) { zeros.even += 1 } else { zeros.odd += 1 }
      }
      let (most, least) = (max(zeros.even, zeros.odd), min(zeros.even, zeros.odd))
      return most >= 2 && most >= bytes.count / 16 && most >= 4 * least ? zeros.even > zeros.odd : nil
    }
  }

  private static func decoded<Codec: Unicode.Encoding>(
    _ bytes: ArraySlice<UInt8>, as codec: Codec.Type, _ encoding: Encoding
  ) throws(StoreError) -> [UInt8] where Codec.CodeUnit: FixedWidthInteger {
    let name = "UTF-\(8 * encoding.unit)"
    guard bytes.count.isMultiple(of: encoding.unit) else {
      throw StoreError(.invalid, offset: bytes.endIndex, "the text ends in the middle of a \(name) character")
    }
    let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: encoding.unit).map { start in
      let unit = bytes[start..<start + encoding.unit]
      return (encoding.isBigEndian ? Array(unit) : unit.reversed()).reduce(0 as Codec.CodeUnit) {
        $0 << 8 | Codec.CodeUnit($1)
      }
    }
    guard let text = String(validating: units, as: codec) else {
      throw StoreError(
        .invalid, "the text looks like \(name), but is not valid \(name); save it as UTF-8")
    }
    return Array(text.utf8)
  }

  /// The first byte at which bytes are not UTF-8; nil if all are.
  private static func firstInvalid(_ bytes: [UInt8]) -> Int? {
    guard String(validating: bytes, as: UTF8.self) == nil else { return nil }
    var position = 0
    var decoder = UTF8.ForwardParser()
    var rest = bytes.makeIterator()
    while true {
      switch decoder.parseScalar(from: &rest) {
      case .valid(let scalar): position += scalar.count
      case .error, .emptyInput: return position
      }
    }
  }

  /// CRLF, and CR alone, end a line as LF does.
  private static func withLineFeeds(_ bytes: [UInt8]) -> [UInt8] {
    guard bytes.contains(0x0D) else { return bytes }
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count)
    var last: UInt8 = 0
    for byte in bytes {
      if byte == 0x0D { text.append(0x0A) } else if byte != 0x0A || last != 0x0D { text.append(byte) }
      last = byte
    }
    return text
  }
}
