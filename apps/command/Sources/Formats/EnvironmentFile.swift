// .env files, read as python-dotenv reads them, since programs differ:
//
// - NAME=value, with or without `export`, quotes around the name and white space. A name alone has no value.
// - A value without quotes ends at the end of its line, or at a # after white space.
// - In single quotes \' and \\ are escapes, in double quotes also \" \a \b \f \n \r \t \v, and \$ and \` as in a shell;
//   other backslashes stay. Quoted text may have several lines.
// - A line that is wrong is reported and skipped.
//
// Nothing is expanded: $NAME and `command` stay as they are, and are reported, except in single quotes.

import Kept

struct EnvironmentFile {
  private var rest: ArraySlice<UInt8>
  private var line = 1
  private var hasReference = false

  /// - Parameter prefix: only names with this prefix are read, as ``EnvironmentName`` maps them; nil if names are keys.
  static func read(_ text: PlainText, prefix: String?) throws(StoreError) -> FoundSettings {
    var file = EnvironmentFile(rest: text.bytes[...])
    var found = FoundSettings(size: text.bytes.count)
    while file.skipEmptyLines() {
      let (start, place) = (file, "line \(file.line)")
      file.hasReference = false
      let (name, value) = (file.name(), file.value())
      guard let name, value != .wrong, file.skipEndOfLine() else {
        // Quoted text that does not end is read line by line.
        file = start
        file.rest = start.rest.drop { $0 != 0x0A }
        try found.leaveOut(place, "is skipped: expected NAME=value or a comment, with every quote closed")
        continue
      }
      guard let key = try Self.key(of: name, prefix, place, &found) else { continue }
      guard case .text(let text) = value else {
        try found.leaveOut(place, "has a name without =, and no value; write = after it for empty text")
        continue
      }
      try found.add(key, .text(text), at: place)
      if file.hasReference {
        try found.note(place, "has a reference to a variable or a command, which is not expanded")
      }
    }
    try found.checkFormat(.env)
    return found
  }

  private init(rest: ArraySlice<UInt8>) { self.rest = rest }

  /// The key that a variable encodes; nil if it has another prefix, or is reported.
  private static func key(
    of name: String, _ prefix: String?, _ place: String, _ found: inout FoundSettings
  ) throws(StoreError) -> String? {
    guard let prefix else { return name }
    guard name.utf8.starts(with: prefix.utf8) else { return nil }
    if let key = EnvironmentName.key(of: name, prefix: prefix) { return key.text }
    try found.leaveOut(place, "has the name \(FoundSettings.shortened(name)), which does not encode a key")
    return nil
  }

  /// The name of the variable; nil if there is none.
  private mutating func name() -> String? {
    let export = Array("export".utf8)
    if rest.starts(with: export), let next = rest.dropFirst(export.count).first, next == 0x20 || next == 0x09 {
      rest = rest.dropFirst(export.count)
      skipBlanks()
    }
    if rest.first == UInt8(ascii: "'") {
      guard let end = rest.dropFirst().firstIndex(of: UInt8(ascii: "'")), end > rest.startIndex + 1,
        !rest[..<end].contains(0x0A)
      else { return nil }
      defer { rest = rest[(end + 1)...] }
      return rest[(rest.startIndex + 1)..<end].text
    }
    let name = rest.prefix { !$0.isSpace && $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: "#") }
    rest = rest[name.endIndex...]
    return name.isEmpty ? nil : name.text
  }

  private enum Reading: Equatable {
    case text(String)
    /// There is no equals sign.
    case none
    /// Its quotes do not end.
    case wrong
  }

  private mutating func value() -> Reading {
    skipBlanks()
    guard rest.first == UInt8(ascii: "=") else { return .none }
    var before = rest.removeFirst()
    if rest.first?.isSpace == true { before = 0x20 }
    skipBlanks()
    if let quote = rest.first, quote == UInt8(ascii: "'") || quote == UInt8(ascii: "\"") {
      return quoted(quote).map { .text($0) } ?? .wrong
    }
    let line = rest.prefix { $0 != 0x0A }
    rest = rest[line.endIndex...]
    let value = line.prefix { byte in
      defer { before = byte }
      return byte != UInt8(ascii: "#") || !before.isSpace
    }
    hasReference = value.contains { $0 == UInt8(ascii: "$") || $0 == UInt8(ascii: "`") }
    return .text(value.trimmed.text)
  }

  private mutating func quoted(_ quote: UInt8) -> String? {
    let isDouble = quote == UInt8(ascii: "\"")
    var text: [UInt8] = []
    rest = rest.dropFirst()
    while let byte = rest.popFirst() {
      if byte == quote { return String(decoding: text, as: UTF8.self) }
      if byte == 0x0A { line += 1 }
      if isDouble, byte == UInt8(ascii: "$") || byte == UInt8(ascii: "`") { hasReference = true }
      guard byte == UInt8(ascii: "\\"), let escaped = rest.first, let meant = Self.escape(escaped, isDouble: isDouble)
      else {
        text.append(byte)
        continue
      }
      text.append(meant)
      rest = rest.dropFirst()
    }
    return nil
  }

  /// The character that a backslash and a character encode; nil if the backslash is not part of an escape.
  private static func escape(_ byte: UInt8, isDouble: Bool) -> UInt8? {
    switch Unicode.Scalar(byte) {
    case "'", "\\": byte
    case _ where !isDouble: nil
    case "\"", "$", "`": byte
    case "a": 0x07
    case "b": 0x08
    case "f": 0x0C
    case "n": 0x0A
    case "r": 0x0D
    case "t": 0x09
    case "v": 0x0B
    default: nil
    }
  }

  private mutating func skipBlanks() { rest = rest.drop { $0 != 0x0A && $0.isSpace } }

  /// Skips to the next line that is not empty or a comment; false at the end.
  private mutating func skipEmptyLines() -> Bool {
    while let byte = rest.first {
      if byte == UInt8(ascii: "#") {
        rest = rest.drop { $0 != 0x0A }
      } else if byte.isSpace {
        if byte == 0x0A { line += 1 }
        rest = rest.dropFirst()
      } else {
        return true
      }
    }
    return false
  }

  /// Skips white space and a comment; false if something else is on the line.
  private mutating func skipEndOfLine() -> Bool {
    skipBlanks()
    if rest.first == UInt8(ascii: "#") { rest = rest.drop { $0 != 0x0A } }
    return rest.isEmpty || rest.first == 0x0A
  }
}
