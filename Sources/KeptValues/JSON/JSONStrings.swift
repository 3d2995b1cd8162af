// The strings that a JSON text may contain: valid UTF-8, control characters only as escapes, surrogates only in pairs,
// and no NUL in a key, where C would end it.

extension JSONScanner {
  /// Skips a string from quote to quote.
  ///
  /// Its contents are left in `text` for a key, or if `isKept`.
  package mutating func scanString(isKey: Bool, isKept: Bool = false) throws(StoreError) {
    let isKept = isKey || isKept
    position += 1
    if isKept { text.removeAll(keepingCapacity: true) }
    while true {
      let plain = try scanPlainBytes()
      if isKept { text.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[plain])) }
      switch next {
      case "\"":
        position += 1
        return
      case "\\":
        let start = position
        let scalar = try scanEscape()
        guard isKept else { continue }
        if isKey, scalar == "\0" { try pass(nulInKey(at: start)) }
        text.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
      case "\0" where isKey: throw nulInKey(at: position)
      case nil: throw invalid("the JSON text ends inside a string; close it with a double quote")
      default: throw invalid("a string contains a control character; write it as an escape such as \\n or \\u0001")
      }
    }
  }

  /// The contents of a string.
  package mutating func string() throws(StoreError) -> String {
    let start = position
    guard skip("\"") else { throw StoreError.changedText(at: start) }
    let plain = try scanPlainBytes()
    // Nearly all strings have no escapes.
    if skip("\"") { return String(decoding: UnsafeBufferPointer(rebasing: bytes[plain]), as: UTF8.self) }
    position = start
    try scanString(isKey: false, isKept: true)
    return String(decoding: text, as: UTF8.self)
  }

  /// Skips literal characters, up to a quote, an escape, a control character or the end.
  private mutating func scanPlainBytes() throws(StoreError) -> Range<Int> {
    let (quote, backslash) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
    let start = position
    while position < bytes.count {
      let byte = bytes[position]
      if byte < 0x20 || byte == quote || byte == backslash { break }
      if byte < 0x80 { position += 1 } else { try scanMultibyteCharacter() }
    }
    return start..<position
  }

  private func nulInKey(at offset: Int) -> StoreError {
    invalid(at: offset, "a key contains a NUL, which would end it in C; remove it")
  }
}

// MARK: - UTF-8

extension JSONScanner {
  /// Skips one character of two to four bytes, as allowed by RFC 3629.
  private mutating func scanMultibyteCharacter() throws(StoreError) {
    // The second byte distinguishes overlong forms, surrogates and numbers above U+10FFFF.
    let (count, second): (Int, ClosedRange<UInt8>) =
      switch bytes[position] {
      case 0xC2...0xDF: (2, 0x80...0xBF)
      case 0xE0: (3, 0xA0...0xBF)
      case 0xED: (3, 0x80...0x9F)
      case 0xE1...0xEF: (3, 0x80...0xBF)
      case 0xF0: (4, 0x90...0xBF)
      case 0xF1...0xF3: (4, 0x80...0xBF)
      case 0xF4: (4, 0x80...0x8F)
      default: throw invalidUTF8()
      }
    guard bytes.count - position >= count, second ~= bytes[position + 1] else { throw invalidUTF8() }
    for index in position + 2..<position + count where bytes[index] & 0xC0 != 0x80 { throw invalidUTF8() }
    position += count
  }

  private func invalidUTF8() -> StoreError { invalid("the text is not valid UTF-8; encode it as UTF-8") }
}

// MARK: - Escapes

extension JSONScanner {
  /// Skips an escape, or the two escapes of a surrogate pair, and returns the character.
  private mutating func scanEscape() throws(StoreError) -> Unicode.Scalar {
    let start = position
    position += 1
    let escaped = next
    position += 1
    switch escaped {
    case "\"", "\\", "/": return escaped ?? "\\"
    case "b": return "\u{8}"
    case "f": return "\u{c}"
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case "u": return try scanCodePoint(start: start)
    default:
      throw invalid(at: start, #"invalid escape; JSON allows \" \\ \/ \b \f \n \r \t, or \u with 4 digits"#)
    }
  }

  /// Skips the digits of `\uXXXX`, and the second half of a surrogate pair.
  private mutating func scanCodePoint(start: Int) throws(StoreError) -> Unicode.Scalar {
    let unit = try scanHexadecimals(start: start)
    if let scalar = Unicode.Scalar(unit) { return scalar }
    let end = position
    if UTF16.isLeadSurrogate(unit), skip("\\"), skip("u") {
      let trail = try scanHexadecimals(start: start)
      let pair = 0x10000 + (UInt32(unit) & 0x3FF) << 10 + UInt32(trail) & 0x3FF
      if UTF16.isTrailSurrogate(trail), let scalar = Unicode.Scalar(pair) { return scalar }
    }
    position = end
    try pass(
      invalid(at: start, "an escape is half of a surrogate pair; write both halves, or the character itself"))
    return "\u{FFFD}"
  }

  private mutating func scanHexadecimals(start: Int) throws(StoreError) -> UInt16 {
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let digit = position < bytes.count ? Self.hexadecimalDigit(bytes[position]) : nil else {
        throw invalid(at: start, "\\u must be followed by 4 hexadecimal digits")
      }
      unit = unit << 4 | digit
      position += 1
    }
    return unit
  }

  private static func hexadecimalDigit(_ byte: UInt8) -> UInt16? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt16(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt16(byte - UInt8(ascii: "A") + 10)
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt16(byte - UInt8(ascii: "a") + 10)
    default: nil
    }
  }
}
