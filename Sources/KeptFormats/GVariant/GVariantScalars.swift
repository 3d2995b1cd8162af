// Strings, bytes, numbers and keywords of a GVariant.

import KeptCore

extension GVariantReader {
  mutating func string(_ type: GVariantType) throws(StoreError) -> Typed {
    try expect(type, among: "sog")
    let text = String(decoding: try quoted(isText: true), as: UTF8.self)
    return Typed(value: .string(text), type: .basic(type.first == "*" ? "s" : type.first))
  }

  /// A byte string, `b'…'`; its last byte, a NUL, is not written.
  mutating func byteString(_ type: GVariantType) throws(StoreError) -> Typed {
    try expect(type, among: "a")
    try expect(type.content, among: "y")
    position += 1
    return Typed(value: .bytes(try quoted(isText: false)), type: .array(of: .basic("y")))
  }

  private mutating func quoted(isText: Bool) throws(StoreError) -> [UInt8] {
    let start = position
    let quote = next
    var result: [UInt8] = []
    position += 1
    while let byte = next {
      position += 1
      if byte == quote { return result }
      if byte == "\\" {
        try appendEscape(to: &result, isText: isText)
      } else {
        result.append(bytes[position - 1])
      }
    }
    throw invalid(at: start, "the quotes that begin here are not closed")
  }

  private mutating func appendEscape(to result: inout [UInt8], isText: Bool) throws(StoreError) {
    guard let escaped = next else { return }
    if !isText, "0"..."7" ~= escaped { return result.append(octal()) }
    position += 1
    switch escaped {
    case "a": result.append(0x07)
    case "b": result.append(0x08)
    case "f": result.append(0x0C)
    case "n": result.append(0x0A)
    case "r": result.append(0x0D)
    case "t": result.append(0x09)
    case "v": result.append(0x0B)
    case "u" where isText: try appendCharacter(digits: 4, to: &result)
    case "U" where isText: try appendCharacter(digits: 8, to: &result)
    // A line continuation.
    case "\n": break
    default: result.append(bytes[position - 1])
    }
  }

  /// One to three octal digits; of a number above 255 only the low bits are used, as in C.
  private mutating func octal() -> UInt8 {
    var code: UInt8 = 0
    for _ in 0..<3 {
      guard let next, "0"..."7" ~= next else { break }
      code = code << 3 | bytes[position] & 7
      position += 1
    }
    return code
  }

  private mutating func appendCharacter(digits: Int, to result: inout [UInt8]) throws(StoreError) {
    let start = position - 2
    var code: UInt32 = 0
    for _ in 0..<digits {
      guard let digit = hexadecimalDigit() else {
        throw invalid(at: start, "the escape needs \(digits) hexadecimal digits")
      }
      code = code << 4 | UInt32(digit)
    }
    guard code > 0, let scalar = Unicode.Scalar(code), let encoded = UTF8.encode(scalar) else {
      throw invalid(at: start, "the escape stands for no character")
    }
    result.append(contentsOf: encoded)
  }
}

// MARK: - Keywords

extension GVariantReader {
  /// A number, `true`, `nothing`, or a type keyword followed by a value: `uint32 5`.
  mutating func word(_ type: GVariantType) throws(StoreError) -> Typed {
    let start = position
    let word = scanWord()
    switch word {
    case "true", "false":
      try expect(type, among: "b")
      return Typed(value: .bool(word == "true"), type: .basic("b"))
    case "nothing":
      try expect(type, among: "m")
      return Typed(value: .null, type: type.first == "m" ? type : .maybe(.unknown))
    case "just":
      try expect(type, among: "m")
      let content = try value(as: type.content)
      return Typed(value: content.value, type: .maybe(content.type))
    default:
      guard let code = Self.code(ofTypeNamed: word) else { return try number(word, type, at: start) }
      // A number of unknown type may have this type.
      if type.first != code, type.first != "#" || !Self.isNumeric(code) { try expect(type, among: "") }
      return try value(as: .basic(code))
    }
  }

  private mutating func scanWord() -> String {
    let start = position
    while let next {
      switch next {
      case "a"..."z", "A"..."Z", "0"..."9", "+", "-", ".": position += 1
      default: return text(from: start)
      }
    }
    return text(from: start)
  }

  private static func code(ofTypeNamed name: String) -> Unicode.Scalar? {
    switch name {
    case "boolean": "b"
    case "byte": "y"
    case "int16": "n"
    case "uint16": "q"
    case "int32": "i"
    case "uint32": "u"
    case "int64": "x"
    case "uint64": "t"
    case "handle": "h"
    case "double": "d"
    case "string": "s"
    case "objectpath": "o"
    case "signature": "g"
    default: nil
    }
  }

  private static func isNumeric(_ code: Unicode.Scalar) -> Bool {
    switch code {
    case "b", "s", "o", "g": false
    default: true
    }
  }
}

// MARK: - Numbers

extension GVariantReader {
  private mutating func number(_ word: String, _ type: GVariantType, at start: Int) throws(StoreError) -> Typed {
    let digits = Array(word.utf8)
    if type.first == "d" || Self.isDouble(digits) {
      guard let value = NumberText.double(word) ?? Self.integer(digits)?.asDouble else { throw noNumber(at: start) }
      try expect(type, among: "d#")
      return Typed(value: .double(value), type: .basic("d"))
    }
    guard let number = Self.integer(digits) else { throw noNumber(at: start) }
    try expect(type, among: "ynqiuxth#")
    guard Self.fits(number, type.first) else {
      throw invalid(at: start, "an integer is out of the range of its type \(type.text)")
    }
    if type.first == "h" { found.obstacle = found.obstacle ?? "a handle means nothing outside of a message" }
    return Typed(value: number, type: type.first == "*" ? .number : type)
  }

  private func noNumber(at start: Int) -> StoreError {
    invalid(
      at: start,
      "a value of GVariant must stand here: a number of 64 bits, a word such as true, text in quotes, or a container")
  }

  /// Of the words, inf, nan and infinity; others are not numbers anyway.
  private static func isDouble(_ word: [UInt8]) -> Bool {
    if isHexadecimal(word) { return false }
    for byte in word
    where byte == UInt8(ascii: ".") || byte | 0x20 == UInt8(ascii: "e") || byte | 0x20 == UInt8(ascii: "n") {
      return true
    }
    return false
  }

  private static func hasSign(_ word: [UInt8]) -> Bool {
    word.first == UInt8(ascii: "-") || word.first == UInt8(ascii: "+")
  }

  private static func isHexadecimal(_ word: [UInt8]) -> Bool {
    let start = hasSign(word) ? 1 : 0
    return word.count > start + 1 && word[start] == UInt8(ascii: "0") && word[start + 1] | 0x20 == UInt8(ascii: "x")
  }

  /// Decimal, hexadecimal after 0x, octal after 0.
  private static func integer(_ word: [UInt8]) -> Value? {
    let isNegative = word.first == UInt8(ascii: "-")
    var place = hasSign(word) ? 1 : 0
    var base: UInt64 = 10
    if isHexadecimal(word) {
      base = 16
      place += 2
    } else if place + 1 < word.count, word[place] == UInt8(ascii: "0") {
      base = 8
    }
    guard place < word.count else { return nil }
    var magnitude: UInt64 = 0
    while place < word.count {
      guard let digit = word[place].hexadecimalDigit, digit < base else { return nil }
      let (high, overflow) = magnitude.multipliedReportingOverflow(by: base)
      let (sum, carry) = high.addingReportingOverflow(UInt64(digit))
      if overflow || carry { return nil }
      magnitude = sum
      place += 1
    }
    if !isNegative { return magnitude > Int64.max ? .uint(magnitude) : .int(Int64(magnitude)) }
    return magnitude <= Int64.min.magnitude ? .int(Int64(truncatingIfNeeded: 0 &- magnitude)) : nil
  }

  private static func fits(_ number: Value, _ code: Unicode.Scalar) -> Bool {
    let range: ClosedRange<Int64>
    switch code {
    case "y": range = 0...0xFF
    case "n": range = -0x8000...0x7FFF
    case "q": range = 0...0xFFFF
    case "i", "h": range = -0x8000_0000...0x7FFF_FFFF
    case "u": range = 0...0xFFFF_FFFF
    case "x": range = Int64.min...Int64.max
    case "t": return number.asUInt64 != nil
    default: return true
    }
    guard let number = number.asInt64 else { return false }
    return range.contains(number)
  }
}
