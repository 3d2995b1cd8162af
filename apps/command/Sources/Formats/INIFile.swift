// INI files, read as Python's configparser reads them, since dialects differ:
//
// - # and ; begin a comment only at the beginning of a line. = or : ends a name.
// - A line that is indented deeper than the name above it continues that name's value, also after blank lines and
//   comments.
// - A section ends at the first ] that only a comment follows.
//
// Other than there, names keep their case, [DEFAULT] is an ordinary section, names above the first section are read,
// quotes around a whole value are not part of it, and a line that is wrong is reported and skipped. In double quotes,
// \" \\ \n \r \t are escapes; otherwise a backslash is literal: C:\new is a path.

import Kept

struct INIFile {
  private var found: FoundSettings
  private var section: String?
  /// Whether the settings belong to a section whose name cannot be read.
  private var isSkipping = false
  private var name: (text: String, place: String, indent: Int)?
  /// The lines of the value of `name`.
  private var value: [ArraySlice<UInt8>] = []

  static func read(_ text: PlainText) throws(StoreError) -> FoundSettings {
    var file = INIFile(found: FoundSettings(size: text.bytes.count))
    for line in TextLine.all(of: text) { try file.take(line) }
    try file.endValue()
    try file.found.checkFormat(.ini)
    return file.found
  }

  private init(found: FoundSettings) { self.found = found }

  private mutating func take(_ line: TextLine) throws(StoreError) {
    guard let first = line.content.first else {
      if name != nil { value.append([]) }
      return
    }
    if first.isCommentSign { return }
    if let name, line.indent > name.indent { return value.append(line.content) }
    try endValue()
    if first == UInt8(ascii: "[") { return try takeSection(line) }
    if isSkipping { return }
    guard let end = line.content.firstIndex(where: { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ":") }),
      case let name = line.content[..<end].trimmed, !name.isEmpty
    else {
      return try found.leaveOut(line.place, "is skipped: expected [section], a comment or name = value")
    }
    self.name = (FoundSettings.join(section, name.text), line.place, line.indent)
    value = [line.content[(end + 1)...].trimmed]
  }

  private mutating func takeSection(_ line: TextLine) throws(StoreError) {
    let end = line.content.indices.first { index in
      guard line.content[index] == UInt8(ascii: "]") else { return false }
      return line.content[(index + 1)...].trimmed.first?.isCommentSign != false
    }
    let between = line.content[(line.content.startIndex + 1)..<(end ?? line.content.startIndex + 1)]
    let name = between.trimmed
    (section, isSkipping) = (name.text, end == nil || name.isEmpty)
    if isSkipping {
      try found.leaveOut(line.place, "is skipped with the settings below it: a section header must be [name]")
    } else if name.count < between.count {
      try found.note(line.place, "has white space around the section name; the keys do not contain it")
    }
  }

  /// Adds the setting whose value has been read.
  private mutating func endValue() throws(StoreError) {
    guard let name else { return }
    self.name = nil
    while value.count > 1, value.last?.isEmpty == true { value.removeLast() }
    let text = value.map(\.text).joined(separator: "\n")
    let bytes = Array(text.utf8)
    try found.add(name.text, .text(Self.unquoted(bytes)?.text ?? text), at: name.place)
    if Self.isOfQt(bytes) { try found.note(name.place, "is in a form that only Qt reads, and is imported as text") }
    if value.dropFirst().contains(where: { $0.contains(UInt8(ascii: "=")) }) {
      try found.note(name.place, "continues over lines with =, because they are indented deeper than its name")
    }
    if zip(bytes, bytes.dropFirst()).contains(where: { $0.isSpace && $1.isCommentSign }) {
      try found.note(name.place, "has # or ; in its value: a comment begins only at the beginning of a line")
    }
  }

  /// The text between the quotes that a whole value is in; nil if it is in none.
  private static func unquoted(_ bytes: [UInt8]) -> ArraySlice<UInt8>? {
    guard bytes.count >= 2, let quote = bytes.first, quote == bytes.last,
      quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'")
    else { return nil }
    var text: ArraySlice<UInt8> = []
    var rest = bytes[1..<(bytes.count - 1)]
    while let byte = rest.popFirst() {
      if byte == quote { return nil }
      guard byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") else {
        text.append(byte)
        continue
      }
      // A backslash before the last quote escapes that.
      guard let escaped = rest.popFirst() else { return nil }
      switch Unicode.Scalar(escaped) {
      case "n": text.append(0x0A)
      case "r": text.append(0x0D)
      case "t": text.append(0x09)
      case "\"", "\\": text.append(escaped)
      default: text += [byte, escaped]
      }
    }
    return text
  }

  /// Whether a text is `@Word(…)`.
  private static func isOfQt(_ bytes: [UInt8]) -> Bool {
    guard bytes.first == UInt8(ascii: "@"), bytes.last == UInt8(ascii: ")") else { return false }
    let rest = bytes.dropFirst().drop { UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 }
    return rest.startIndex > 1 && rest.first == UInt8(ascii: "(")
  }
}
