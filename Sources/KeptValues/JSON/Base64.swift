// Bytes as text, by RFC 4648, section 4: the standard alphabet, padded, one text for each sequence of bytes.

package enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  /// The index of each byte in the alphabet; 255 for bytes outside of it.
  private static let digits: [UInt8] = {
    var digits = [UInt8](repeating: 255, count: 256)
    for (place, character) in alphabet.enumerated() { digits[Int(character)] = UInt8(place) }
    return digits
  }()
  private static let padding = UInt8(ascii: "=")

  package static func text(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    encode(bytes, to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  static func encode(_ bytes: [UInt8], to sink: inout some JSONSink) {
    let alphabet = alphabet
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let count = min(bytes.count - start, 3)
      let second = count > 1 ? bytes[start + 1] : 0
      let third = count > 2 ? bytes[start + 2] : 0
      let bits = Int(bytes[start]) << 16 | Int(second) << 8 | Int(third)
      sink.append(alphabet[bits >> 18])
      sink.append(alphabet[bits >> 12 & 0x3F])
      sink.append(count > 1 ? alphabet[bits >> 6 & 0x3F] : padding)
      sink.append(count > 2 ? alphabet[bits & 0x3F] : padding)
    }
  }

  /// The bytes of a text; nil unless it is exactly what ``encode(_:to:)`` would write.
  package static func decode(_ text: String) -> [UInt8]? {
    let (characters, digits) = (Array(text.utf8), digits)
    guard characters.count % 4 == 0 else { return nil }
    let padded = characters.reversed().prefix(2).prefix { $0 == padding }.count
    var bytes: [UInt8] = []
    bytes.reserveCapacity(characters.count / 4 * 3)
    var bits: UInt32 = 0
    for index in 0..<characters.count - padded {
      let digit = digits[Int(characters[index])]
      guard digit < 64 else { return nil }
      bits = bits << 6 | UInt32(digit)
      // The first of four characters completes no byte; each of the others completes one.
      let place = index % 4
      if place > 0 { bytes.append(UInt8(truncatingIfNeeded: bits >> (6 - 2 * place))) }
    }
    // The bits after the last byte must be zero, else two texts would encode the same bytes.
    let unused: UInt32 = padded == 0 ? 0 : padded == 1 ? 0b11 : 0b1111
    return bits & unused == 0 ? bytes : nil
  }
}
