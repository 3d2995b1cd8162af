// How an INI file is read, since its many dialects differ:
//
// - # and ; begin a comment at the beginning of a line only: a value may contain either. = or : ends a name.
// - Names keep their case. [General], [DEFAULT] and the like are ordinary sections.
// - A line that is indented deeper than the name above it continues that name's value, as in Python's configparser;
//   a backslash at the end of a line has no meaning.
// - A value in double quotes is the text between them, with the escapes \" \\ \n \r \t; so is one in single quotes,
//   without escapes. Otherwise a backslash is literal: C:\new is a path.
// - Qt's own notation, such as @ByteArray(…), is kept as it is, and is reported.

import KeptCore

extension ForeignText {
  mutating func readINI(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) throws(StoreError) {
    try JSONScanner.checkUTF8(bytes, from: start)
    var file = INIFile(bytes, from: start)
    while let setting = try file.nextSetting() {
      try checkAccepted()
      let name = naming.join(setting.section, setting.name)
      carry(name, text: INIFile.unquoted(setting.text), at: setting.place)
      if INIFile.isOfQt(setting.text) {
        leaveOut(setting.place, "a form that only Qt reads is carried as the text that it is")
      }
    }
  }
}

/// The settings of an INI file, one after another.
struct INIFile {
  private var lines: TextLines
  private var section: String?
  /// The line after the last setting, which was read to check whether it continues the setting.
  private var pending: TextLines.Line?
  // The memory of texts: each is copied more than once.
  private var allowance = Allowance(each: 0)

  init(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) { lines = TextLines(bytes, from: start) }

  struct Setting {
    /// nil above the first section.
    let section: String?
    let name: String
    let text: String
    let place: String
  }

  mutating func nextSetting() throws(StoreError) -> Setting? {
    while let line = nextLine() {
      switch lines.first(of: line) {
      case nil, "#", ";": continue
      case "[": section = try sectionName(line)
      default:
        try allowance.take(8 * line.content.count, to: "import the settings")
        return try setting(line)
      }
    }
    return nil
  }

  private mutating func nextLine() -> TextLines.Line? {
    defer { pending = nil }
    return pending ?? lines.next()
  }

  private func sectionName(_ line: TextLines.Line) throws(StoreError) -> String {
    // The last bracket, because a name may contain brackets.
    guard let end = line.content.last(where: { lines.bytes[$0] == UInt8(ascii: "]") }), isComment(end + 1, in: line)
    else {
      throw lines.invalid(line, "begins with [ and must be a section: [name]")
    }
    let name = lines.trimmed(line.content.lowerBound + 1..<end)
    guard !name.isEmpty else { throw lines.invalid(line, "has a section without a name; write [name]") }
    return lines.text(name)
  }

  /// Whether a section is followed by nothing or by a comment.
  private func isComment(_ start: Int, in line: TextLines.Line) -> Bool {
    let rest = lines.trimmed(start..<line.content.upperBound)
    guard let first = rest.first else { return true }
    return lines.bytes[first] == UInt8(ascii: "#") || lines.bytes[first] == UInt8(ascii: ";")
  }

  private mutating func setting(_ line: TextLines.Line) throws(StoreError) -> Setting {
    guard let end = lines.place(of: UInt8(ascii: "="), or: UInt8(ascii: ":"), in: line.content) else {
      throw lines.invalid(
        line,
        "is no [section], no comment and no name = value; begin it with # if it is none, or indent it deeper than"
          + " the name whose value it goes on with")
    }
    let name = lines.trimmed(line.content.lowerBound..<end)
    guard !name.isEmpty else { throw lines.invalid(line, "has no name in front of its value") }
    let text = lines.text(lines.trimmed(end + 1..<line.content.upperBound)) + (try continuation(of: line))
    return Setting(section: section, name: lines.text(name), text: text, place: line.place)
  }

  /// Reads the following lines that are indented deeper; an empty line ends them, and comments among them are skipped.
  private mutating func continuation(of line: TextLines.Line) throws(StoreError) -> String {
    var text = ""
    while let below = lines.next() {
      let first = lines.first(of: below)
      guard first != nil, below.indent > line.indent else {
        pending = below
        break
      }
      try allowance.take(8 * (text.utf8.count + below.content.count), to: "import the settings")
      if first != "#" && first != ";" { text += "\n" + lines.text(below.content) }
    }
    return text
  }
}

// MARK: - Values

extension INIFile {
  /// Returns the text between quotes; other text is returned as it is.
  static func unquoted(_ text: String) -> String {
    let bytes = Array(text.utf8)
    guard bytes.count >= 2, bytes[0] == bytes[bytes.count - 1] else { return text }
    let isDouble = bytes[0] == UInt8(ascii: "\"")
    guard isDouble || bytes[0] == UInt8(ascii: "'"), let inside = inside(bytes, hasEscapes: isDouble) else {
      return text
    }
    return String(decoding: inside, as: UTF8.self)
  }

  /// Returns the text between the first and the last byte; nil if the same quote occurs between them, so they are no
  /// pair.
  private static func inside(_ bytes: [UInt8], hasEscapes: Bool) -> [UInt8]? {
    var result: [UInt8] = []
    var place = 1
    while place < bytes.count - 1 {
      let byte = bytes[place]
      if byte == bytes[0] { return nil }
      place += 1
      guard hasEscapes, byte == UInt8(ascii: "\\") else {
        result.append(byte)
        continue
      }
      guard place < bytes.count - 1 else { return nil }
      switch Unicode.Scalar(bytes[place]) {
      case "n": result.append(0x0A)
      case "r": result.append(0x0D)
      case "t": result.append(0x09)
      case "\"", "\\": result.append(bytes[place])
      // Any other sequence is kept with its backslash: "C:\Users".
      default:
        result.append(byte)
        result.append(bytes[place])
      }
      place += 1
    }
    return result
  }

  /// Whether a text is `@Word(…)`.
  static func isOfQt(_ text: String) -> Bool {
    guard text.utf8.first == UInt8(ascii: "@") else { return false }
    let bytes = Array(text.utf8)
    var place = 1
    while place < bytes.count, UInt8(ascii: "a")...UInt8(ascii: "z") ~= bytes[place] | 0x20 { place += 1 }
    return place > 1 && place < bytes.count && bytes[place] == UInt8(ascii: "(")
      && bytes[bytes.count - 1] == UInt8(ascii: ")")
  }
}
