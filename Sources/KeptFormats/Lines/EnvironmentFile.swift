// How a .env file is read, since programs differ:
//
// - NAME=value, with or without `export` and white space. A name alone has no value.
// - A value without quotes ends at the end of the line, or at a # after white space. White space around it is dropped.
// - Single quotes hold literal text. In double quotes \n \r \t \" \\ \$ and \` are escapes; other backslashes are kept.
//   Quoted text may span several lines.
// - Nothing is expanded: $NAME and `command` are kept as they are, and are reported, except in single quotes.

import KeptCore

extension ForeignText {
  mutating func readEnvironmentFile(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) throws(StoreError) {
    if let prefix = naming.environmentPrefix { try EnvironmentLayer.check(prefix) }
    try JSONScanner.checkUTF8(bytes, from: start)
    var file = EnvironmentFile(bytes, from: start)
    while let variable = try file.nextVariable() {
      try checkAccepted()
      let place = "line \(variable.line)"
      guard let name = settingName(variable.name, at: place) else { continue }
      guard let text = variable.text else {
        leaveOut(place, "\(Self.shortened(variable.name)) has no value; write = behind it for empty text")
        continue
      }
      carry(name, text: text, at: place)
      if variable.hasReference {
        leaveOut(place, "a reference to a variable or a command is carried as the text that it is, not expanded")
      }
    }
  }

  /// Returns the key's name for a variable; nil if the variable has another prefix, or is reported.
  private mutating func settingName(_ name: String, at place: String) -> String? {
    guard let prefix = naming.environmentPrefix else { return name }
    guard ExactString(name).hasPrefix(ExactString(prefix)) else { return nil }
    if let key = EnvironmentName.key(of: name, prefix: prefix) { return key.text }
    let canonical = EnvironmentName.intendedKey(of: name, prefix: prefix).map { key in
      "; for the key \(Self.shortened(key.text)) write \(Self.shortened(EnvironmentName.name(of: key, prefix: prefix)))"
    }
    leaveOut(place, "the name \(Self.shortened(name)) stands for no key\(canonical ?? "")")
    return nil
  }
}

/// The variables of a `.env` file, one after another.
struct EnvironmentFile: TextCursor {
  let bytes: UnsafeBufferPointer<UInt8>
  var position: Int
  private var line = 1
  // The memory of texts: each is copied after it has been read.
  private var allowance = Allowance(each: 0)

  init(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) {
    self.bytes = bytes
    position = start
  }

  struct Variable {
    let name: String
    /// nil if there is no equals sign.
    var text: String?
    /// Whether a shell would expand a variable or a command in it.
    var hasReference = false
    let line: Int
  }

  mutating func nextVariable() throws(StoreError) -> Variable? {
    skipEmptyLines()
    guard !isAtEnd else { return nil }
    var variable = Variable(name: try name(), line: line)
    skipBlanks()
    if skip("=") {
      skipBlanks()
      let text: String
      switch next {
      case "'", "\"": text = try quoted(&variable)
      default: text = try bare(&variable)
      }
      variable.text = text
    }
    try expectEndOfLine()
    return variable
  }

  private mutating func name() throws(StoreError) -> String {
    var start = position
    if skip(text: "export"), isAtBlank { skipBlanks() } else { position = start }
    start = position
    while let next, Self.isInName(next) { position += 1 }
    guard position > start else {
      throw invalid("must be NAME=value or begin with #: a name has letters, digits and _ . -")
    }
    return text(from: start)
  }

  private static func isInName(_ character: Unicode.Scalar) -> Bool {
    switch character {
    case "a"..."z", "A"..."Z", "0"..."9", "_", ".", "-": true
    default: character.value >= 0x80
    }
  }

  /// Reads up to the end of the line, or to a comment.
  private mutating func bare(_ variable: inout Variable) throws(StoreError) -> String {
    let start = position
    var end = start
    while let next, next != "\n" {
      if next == "#", position > 0, bytes[position - 1] == 0x20 || bytes[position - 1] == 0x09 { break }
      if next == "$" || next == "`" { variable.hasReference = true }
      position += 1
      if !isSpace(next) { end = position }
    }
    try allowance.take(2 * (end - start), to: "import the settings")
    return String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<end]), as: UTF8.self)
  }

  private mutating func quoted(_ variable: inout Variable) throws(StoreError) -> String {
    let quote = next
    let isDouble = quote == "\""
    var result: [UInt8] = []
    position += 1
    while let byte = next, byte != quote {
      if byte == "\n" { line += 1 }
      if result.count == result.capacity { try allowance.take(6 * result.count, to: "import the settings") }
      if isDouble && (byte == "$" || byte == "`") { variable.hasReference = true }
      position += 1
      if isDouble && byte == "\\" { appendEscape(to: &result) } else { result.append(bytes[position - 1]) }
    }
    guard position < bytes.count else {
      throw StoreError(.invalid, offset: position, "the quotes that begin at line \(variable.line) are not closed")
    }
    position += 1
    return String(decoding: result, as: UTF8.self)
  }

  private mutating func appendEscape(to result: inout [UInt8]) {
    let escaped = next
    switch escaped {
    case "n": result.append(0x0A)
    case "r": result.append(0x0D)
    case "t": result.append(0x09)
    case "\"", "\\", "$", "`": result.append(bytes[position])
    // The backslash is kept, and the next character is read as if there were none.
    default: return result.append(UInt8(ascii: "\\"))
    }
    position += 1
  }
}

// MARK: - White space

extension EnvironmentFile {
  private func isSpace(_ character: Unicode.Scalar) -> Bool { character == " " || "\t"..."\r" ~= character }

  private var isAtBlank: Bool { next == " " || next == "\t" }

  private mutating func skipBlanks() {
    while isAtBlank { position += 1 }
  }

  private mutating func skipEmptyLines() {
    while let next {
      if next == "#" {
        skipLine()
      } else if isSpace(next) {
        if next == "\n" { line += 1 }
        position += 1
      } else {
        return
      }
    }
  }

  private mutating func skipLine() {
    while let next, next != "\n" { position += 1 }
  }

  /// Requires that only a comment follows a value on its line.
  private mutating func expectEndOfLine() throws(StoreError) {
    while let next, next != "\n", isSpace(next) { position += 1 }
    if next == "#" { skipLine() }
    guard next == nil || next == "\n" else { throw invalid("goes on behind its value; put the value into quotes") }
  }

  private func invalid(_ message: String) -> StoreError {
    StoreError(.invalid, offset: position, "line \(line) \(message)")
  }
}
