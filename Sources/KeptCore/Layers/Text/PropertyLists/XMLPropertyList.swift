// XML property lists: one element, such as <integer>5</integer>, alone or in a complete document. The document type is
// not read, so no entity can be declared.

package import KeptValues

extension PropertyListReader {
  /// The value of the complete text: one element, or a document with one.
  package mutating func xmlText() -> Value? {
    guard skipUnread() else { return nil }
    let isDocument = skip(text: "<plist")
    guard !isDocument || skip(past: ">"), skipUnread(), let value = element(), skipUnread() else { return nil }
    if isDocument {
      guard skip(text: "</plist>"), skipUnread() else { return nil }
    }
    return isAtEnd ? value : nil
  }

  private struct Tag {
    let name: ExactString
    /// Whether it is self-closing, as in `<true/>`.
    let isWhole: Bool
  }

  private mutating func element() -> Value? {
    guard let tag = openingTag() else { return nil }
    let value: Value? =
      switch tag.name {
      case "array": tag.isWhole ? .array([]) : nested { $0.arrayElements() }
      case "dict": tag.isWhole ? .dictionary([:]) : nested { $0.dictionaryMembers() }
      default: tag.isWhole ? Self.scalar(tag.name, "") : characters().flatMap { Self.scalar(tag.name, $0) }
      }
    guard let value, tag.isWhole || skipClosingTag(tag.name) else { return nil }
    return value
  }

  private mutating func arrayElements() -> Value? {
    var elements: [Value] = []
    while skipUnread(), !isAtClosingTag {
      guard let value = element(), hasRoom(in: &elements) else { return nil }
      elements.append(value)
    }
    return .array(elements)
  }

  private mutating func dictionaryMembers() -> Value? {
    var members: [ValueDictionary.Member] = []
    while skipUnread(), !isAtClosingTag {
      guard let key = key(), skipUnread(), let value = element(), hasRoom(in: &members) else { return nil }
      members.append(ValueDictionary.Member(key: ExactString(key), value: value))
    }
    return dictionary(members)
  }

  private mutating func key() -> String? {
    guard let tag = openingTag(), tag.name == "key" else { return nil }
    guard !tag.isWhole else { return "" }
    guard let text = characters(), skipClosingTag("key") else { return nil }
    return text
  }

  private static func scalar(_ name: ExactString, _ text: String) -> Value? {
    let trimmed = text.withoutOuterSpace
    switch name {
    case "string": return .string(text)
    case "true": return trimmed.isEmpty ? .bool(true) : nil
    case "false": return trimmed.isEmpty ? .bool(false) : nil
    case "integer": return NumberText.integer(trimmed)
    case "real": return NumberText.double(trimmed).map { .double($0) }
    case "date": return (try? Timestamp(text: trimmed)).map { .date($0) }
    case "data": return Base64.decode(text.withoutSpace).map { .bytes($0) }
    default: return nil
    }
  }
}

// MARK: - Tags

extension PropertyListReader {
  private mutating func openingTag() -> Tag? {
    guard skip("<") else { return nil }
    let start = position
    while let next, "a"..."z" ~= next { position += 1 }
    let name = ExactString(text(from: start))
    skipSpace()
    let isWhole = skip("/")
    return skip(">") ? Tag(name: name, isWhole: isWhole) : nil
  }

  private var isAtClosingTag: Bool {
    position + 1 < bytes.count && next == "<" && bytes[position + 1] == UInt8(ascii: "/")
  }

  private mutating func skipClosingTag(_ name: ExactString) -> Bool {
    guard skip(text: "</") else { return false }
    let start = position
    while let next, "a"..."z" ~= next { position += 1 }
    guard ExactString(text(from: start)) == name else { return false }
    skipSpace()
    return skip(">")
  }

  /// Skips white space, comments, and the declarations before a document; returns false if one does not end.
  private mutating func skipUnread() -> Bool {
    while true {
      skipSpace()
      if skip(text: "<!--") {
        guard skip(past: "-->") else { return false }
      } else if skip(text: "<?") || skip(text: "<!DOCTYPE") {
        guard skip(past: ">") else { return false }
      } else {
        return true
      }
    }
  }
}

// MARK: - Characters

extension PropertyListReader {
  /// The text up to the next tag; nil for an entity that is not predefined in XML.
  private mutating func characters() -> String? {
    var result: [UInt8] = []
    while let byte = next {
      let start = position
      if byte == "&" {
        position += 1
        guard let scalar = entity(), let encoded = UTF8.encode(scalar) else { return nil }
        result.append(contentsOf: encoded)
      } else if byte != "<" {
        position += 1
        result.append(bytes[start])
      } else if skip(text: "<![CDATA[") {
        guard skip(past: "]]>") else { return nil }
        result.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[start + 9..<position - 3]))
      } else {
        break
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// The character of an entity, after its ampersand.
  private mutating func entity() -> Unicode.Scalar? {
    if skip("#") { return characterReference() }
    if skip(text: "amp;") { return "&" }
    if skip(text: "lt;") { return "<" }
    if skip(text: "gt;") { return ">" }
    if skip(text: "quot;") { return "\"" }
    return skip(text: "apos;") ? "'" : nil
  }

  /// A numeric character reference: decimal digits, or x and hexadecimal digits.
  private mutating func characterReference() -> Unicode.Scalar? {
    let base: UInt32 = skip("x") ? 16 : 10
    var code: UInt32 = 0
    let start = position
    while let digit = hexadecimalDigit() {
      guard digit < base else { return nil }
      code = code * base + UInt32(digit)
      // XML allows no higher character, and the next digit must not overflow.
      guard code <= 0x10FFFF else { return nil }
    }
    // NUL is not an XML character either.
    return position > start && code > 0 && skip(";") ? Unicode.Scalar(code) : nil
  }
}
