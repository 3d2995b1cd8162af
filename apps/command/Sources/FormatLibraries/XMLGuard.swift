// Rewrites the XML of a property list so that FoundationEssentials' PropertyListDecoder reads it without harm or loss.
//
// By itself the decoder overflows the stack on deep nesting, merges keys that are equal or differ only in their Unicode
// normalization, takes `$null` for nothing and `$nullable` for an error, computes another date from the 99th of a month
// or one before 1582, reads a number that is too large as infinity and wrong base64 as no bytes, and reads no encoding
// but UTF-8. So
//
// - each key gets its number, and each string a mark, in front: `<key>3:volume</key>`, `<string>=text</string>`;
// - a date, a real number and data become strings with the marks @, ~ and #, which Kept reads itself;
// - an element that is nested too deeply, or that no property list has there, becomes a string of the mark ! and the
//   reason;
// - comments, processing instructions and the document type are left out; the lines keep their numbers.
//
// Everything else stays, right or wrong: whether the elements fit together, entities, CDATA and integers are the
// decoder's.

import Formats
import Kept

struct XMLGuard {
  private let bytes: [UInt8]
  private var position = 0
  private var safe: [UInt8] = []
  private var keys = 0
  /// The open containers: whether each is a dictionary.
  private var containers: [Bool] = []
  /// The open elements that are left out.
  private var skipped = 0
  /// Whether the next text is a number; white space after it would be an error.
  private var isNumber = false

  /// The containers that a value may have, and the dictionary of the settings.
  private static let mostContainers = Limits.nesting + 1

  static func safe(_ text: PlainText) throws(StoreError) -> [UInt8] {
    var guarded = XMLGuard(text.bytes)
    guarded.safe.reserveCapacity(text.bytes.count + text.bytes.count / 4)
    while try guarded.next() {}
    return guarded.safe
  }

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Copies text up to the next tag, and then the tag; false at the end.
  private mutating func next() throws(StoreError) -> Bool {
    let start = bytes[position...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
    if isNumber { safe += bytes[position..<start].trimmed } else { copy(position..<start) }
    isNumber = false
    position = start
    guard start < bytes.count else { return false }
    if has("<!--") {
      try leaveOut(through: "-->")
    } else if has("<![CDATA[") {
      copy(start..<(try end(of: "]]>")))
    } else if has("<?") {
      try leaveOut(through: "?>")
    } else if has("<!") {
      try leaveOut(through: ">")
      if bytes[start..<position].contains(UInt8(ascii: "[")) {
        throw StoreError(
          .invalid, offset: start,
          "the document type has a part in [ ], which property lists do not allow; remove that part")
      }
    } else {
      try copyTag(start..<(try endOfTag()))
    }
    return true
  }

  private mutating func copyTag(_ tag: Range<Int>) throws(StoreError) {
    let isEnd = bytes[tag.lowerBound + 1] == UInt8(ascii: "/")
    let isEmpty = bytes[tag.upperBound - 2] == UInt8(ascii: "/") && tag.count > 3
    let rest = bytes[(tag.lowerBound + (isEnd ? 2 : 1))...]
    let name = rest.prefix { !$0.isSpace && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ">") }.text
    if skipped > 0 {
      skipped += isEnd ? -1 : isEmpty ? 0 : 1
      if skipped == 0 { put("</string>") }
      return
    }
    if isEnd { return close(name) }
    switch name {
    case "array", "dict":
      guard containers.count < Self.mostContainers else { return replace(isEmpty, Obstacle.tooDeep.reason) }
      if !isEmpty { containers.append(name == "dict") }
      put(isEmpty ? "<\(name)/>" : "<\(name)>")
    case "key" where containers.last == true:
      keys += 1
      put(isEmpty ? "<key>\(keys):</key>" : "<key>\(keys):")
    case "string": put(isEmpty ? "<string>=</string>" : "<string>=")
    case "date": put(isEmpty ? "<string>@</string>" : "<string>@")
    case "real": put(isEmpty ? "<string>~</string>" : "<string>~")
    case "data": put(isEmpty ? "<string>#</string>" : "<string>#")
    // Without content, the decoder refuses the whole list.
    case "integer":
      put(isEmpty ? "<integer></integer>" : "<integer>")
      isNumber = !isEmpty
    case "plist", "true", "false": put(isEmpty ? "<\(name)/>" : "<\(name)>")
    default: replace(isEmpty, "is an element that property lists do not allow in this place")
    }
  }

  private mutating func close(_ name: String) {
    if name == "array" || name == "dict" { _ = containers.popLast() }
    put(["date", "real", "data"].contains(name) ? "</string>" : "</\(name)>")
  }

  /// Puts the reason why it is left out in the place of an element.
  private mutating func replace(_ isEmpty: Bool, _ reason: String) {
    put(isEmpty ? "<string>!\(reason)</string>" : "<string>!\(reason)")
    if !isEmpty { skipped = 1 }
  }

  private mutating func put(_ text: String) { safe += Array(text.utf8) }

  private mutating func copy(_ range: Range<Int>) {
    if skipped == 0 { safe += bytes[range] } else { putLines(range) }
  }

  private mutating func putLines(_ range: Range<Int>) {
    // In a string they would be part of the reason; elsewhere an error names the line.
    if skipped == 0 { safe += bytes[range].filter { $0 == 0x0A } }
  }

  private mutating func leaveOut(through end: String) throws(StoreError) {
    let start = position
    putLines(start..<(try self.end(of: end)))
  }

  private func has(_ text: String) -> Bool { bytes[position...].starts(with: text.utf8) }

  /// Moves behind the tag that begins here, whose attributes may have a >.
  private mutating func endOfTag() throws(StoreError) -> Int {
    var quote: UInt8?
    for place in position..<bytes.count {
      let byte = bytes[place]
      if quote == nil, byte == UInt8(ascii: ">") {
        position = place + 1
        return position
      }
      if quote == byte {
        quote = nil
      } else if quote == nil, byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
        quote = byte
      }
    }
    throw StoreError(.invalid, offset: position, "the tag that begins here is not closed: > is missing")
  }

  /// Moves behind the next place that has a text.
  private mutating func end(of text: String) throws(StoreError) -> Int {
    let wanted = Array(text.utf8)
    var place = position + 1
    while place + wanted.count <= bytes.count {
      if bytes[place] == wanted[0], bytes[place...].starts(with: wanted) {
        position = place + wanted.count
        return position
      }
      place += 1
    }
    throw StoreError(.invalid, offset: position, "the markup that begins here is not closed: \(text) is missing")
  }
}
