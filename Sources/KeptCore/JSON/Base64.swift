// Bytes as text, by RFC 4648 §4: the standard alphabet, padded, one text for each sequence of bytes.

enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let padding = UInt8(ascii: "=")

  static func encode(_ bytes: [UInt8], to sink: inout some JSONSink) {
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var bits: UInt32 = 0
      for byte in group { bits = bits << 8 | UInt32(byte) }
      bits <<= 8 * (3 - UInt32(group.count))
      for place in 0..<4 {
        // n bytes fill n + 1 characters.
        sink.append(place <= group.count ? alphabet[Int(bits >> (18 - 6 * place) & 0x3F)] : padding)
      }
    }
  }

  /// The bytes of a text; nil if it is not exactly what ``encode(_:to:)`` would write.
  static func decode(_ text: String) -> [UInt8]? {
    let characters = Array(text.utf8)
    guard characters.count % 4 == 0 else { return nil }
    let padded = characters.reversed().prefix(2).prefix { $0 == padding }.count
    var bytes: [UInt8] = []
    bytes.reserveCapacity(characters.count / 4 * 3)
    var bits: UInt32 = 0
    for (index, character) in characters.dropLast(padded).enumerated() {
      guard let digit = digit(character) else { return nil }
      bits = bits << 6 | digit
      // The first character of a group gives no whole byte; each of the others completes one.
      let spare = UInt32(6 - 2 * (index % 4))
      if index % 4 > 0 { bytes.append(UInt8(truncatingIfNeeded: bits >> spare)) }
    }
    // The bits behind the last byte must be zero, else two texts would stand for the same bytes.
    let unused: UInt32 = padded == 0 ? 0 : padded == 1 ? 0b11 : 0b1111
    return bits & unused == 0 ? bytes : nil
  }

  private static func digit(_ character: UInt8) -> UInt32? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
