// OpenStep property lists: {key = value;}, (element, element), <68656c6c 6f> for bytes, and strings, which also
// represent numbers.

package import KeptValues

extension PropertyListReader {
  /// The value of the complete text.
  package mutating func oldStyleText() -> Value? {
    guard let value = oldStyleValue() else { return nil }
    skipSpaceAndComments()
    return isAtEnd ? value : nil
  }

  private mutating func oldStyleValue() -> Value? {
    skipSpaceAndComments()
    switch next {
    case "{": return nested { $0.oldStyleDictionary() }
    case "(": return nested { $0.oldStyleArray() }
    case "<": return hexadecimalBytes()
    default: return oldStyleString().map { .string($0) }
    }
  }

  private mutating func oldStyleDictionary() -> Value? {
    position += 1
    var members: [ValueDictionary.Member] = []
    while true {
      skipSpaceAndComments()
      if skip("}") { return dictionary(members) }
      guard let key = oldStyleString(), skipMark("="), let value = oldStyleValue(), skipMark(";"),
        hasRoom(in: &members)
      else { return nil }
      members.append(ValueDictionary.Member(key: ExactString(key), value: value))
    }
  }

  /// An array; a comma may follow the last element.
  private mutating func oldStyleArray() -> Value? {
    position += 1
    var elements: [Value] = []
    repeat {
      skipSpaceAndComments()
      if next == ")" { break }
      guard let element = oldStyleValue(), hasRoom(in: &elements) else { return nil }
      elements.append(element)
    } while skipMark(",")
    return skipMark(")") ? .array(elements) : nil
  }

  /// Bytes; white space may occur between them, but not inside one.
  private mutating func hexadecimalBytes() -> Value? {
    position += 1
    var result: [UInt8] = []
    while true {
      skipSpace()
      if skip(">") { return .bytes(result) }
      guard let high = hexadecimalDigit(), let low = hexadecimalDigit() else { return nil }
      result.append(high << 4 | low)
    }
  }

  private mutating func skipMark(_ mark: Unicode.Scalar) -> Bool {
    skipSpaceAndComments()
    return skip(mark)
  }

  private mutating func skipSpaceAndComments() {
    repeat { skipSpace() } while skipComment()
  }

  private mutating func skipComment() -> Bool {
    if skip(text: "/*") { return skip(past: "*/") }
    guard skip(text: "//") else { return false }
    while let next, next != "\n" { position += 1 }
    return true
  }
}

// MARK: - Strings

extension PropertyListReader {
  private mutating func oldStyleString() -> String? {
    switch next {
    case let quote? where quote == "\"" || quote == "'":
      position += 1
      return quotedString(until: quote)
    default:
      let start = position
      while let next, Self.needsNoQuotes(next) { position += 1 }
      return position > start ? text(from: start) : nil
    }
  }

  private static func needsNoQuotes(_ character: Unicode.Scalar) -> Bool {
    switch character {
    case "a"..."z", "A"..."Z", "0"..."9", "_", "$", "/", ":", ".", "-": true
    default: false
    }
  }

  private mutating func quotedString(until quote: Unicode.Scalar) -> String? {
    var result: [UInt8] = []
    while let byte = next {
      if skip(quote) { return String(decoding: result, as: UTF8.self) }
      if byte == "\\" {
        position += 1
        guard appendEscape(to: &result) else { return nil }
      } else {
        result.append(bytes[position])
        position += 1
      }
    }
    return nil
  }

  /// Appends the character of an escape, after its backslash.
  private mutating func appendEscape(to result: inout [UInt8]) -> Bool {
    guard let character = next else { return false }
    if "0"..."7" ~= character { return appendOctal(to: &result) }
    let byte = bytes[position]
    position += 1
    switch character {
    case "a": result.append(0x07)
    case "b": result.append(0x08)
    case "t": result.append(0x09)
    case "n": result.append(0x0A)
    case "v": result.append(0x0B)
    case "f": result.append(0x0C)
    case "r": result.append(0x0D)
    case "U": return appendCodePoint(to: &result)
    // Any other character is taken literally; of a longer character this is the first byte, and the others follow.
    default: result.append(byte)
    }
    return true
  }

  /// One to three octal digits.
  ///
  /// Values beyond ASCII would be in NeXTSTEP's own character set, which is not supported.
  private mutating func appendOctal(to result: inout [UInt8]) -> Bool {
    var code: UInt16 = 0
    for _ in 0..<3 {
      guard let next, "0"..."7" ~= next else { break }
      code = code << 3 | UInt16(bytes[position] & 7)
      position += 1
    }
    guard code < 0x80 else { return false }
    result.append(UInt8(code))
    return true
  }

  /// The four digits of `\UXXXX`, and the second half of a surrogate pair.
  private mutating func appendCodePoint(to result: inout [UInt8]) -> Bool {
    guard let unit = fourDigits() else { return false }
    var scalar = Unicode.Scalar(unit)
    if UTF16.isLeadSurrogate(unit), skip(text: "\\U"), let trail = fourDigits(), UTF16.isTrailSurrogate(trail) {
      scalar = Unicode.Scalar(0x10000 + (UInt32(unit) & 0x3FF) << 10 + UInt32(trail) & 0x3FF)
    }
    guard let scalar, let encoded = UTF8.encode(scalar) else { return false }
    result.append(contentsOf: encoded)
    return true
  }

  private mutating func fourDigits() -> UInt16? {
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let digit = hexadecimalDigit() else { return nil }
      unit = unit << 4 | UInt16(digit)
    }
    return unit
  }
}
