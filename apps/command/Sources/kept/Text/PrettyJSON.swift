// JSON for people: a member a line.

enum PrettyJSON {
  /// Indents canonical JSON, which has no space outside of strings.
  static func text(_ json: String) -> String {
    var writer = Writer()
    for byte in json.utf8 { writer.take(byte) }
    return String(decoding: writer.text, as: UTF8.self)
  }

  private struct Writer {
    private(set) var text: [UInt8] = []
    private var depth = 0
    private var last: Unicode.Scalar = " "
    private var isInString = false

    mutating func take(_ byte: UInt8) {
      let next = Unicode.Scalar(byte)
      defer { last = isInString && last == "\\" ? " " : next }
      if isInString {
        text.append(byte)
        if next == "\"", last != "\\" { isInString = false }
        return
      }
      let (opened, closes) = (last == "{" || last == "[", next == "}" || next == "]")
      if opened != closes, opened || closes {
        depth += opened ? 1 : -1
        startLine()
      }
      text.append(byte)
      if next == "\"" { isInString = true }
      if next == ":" { text.append(UInt8(ascii: " ")) }
      if next == "," { startLine() }
    }

    private mutating func startLine() { text += Array(("\n" + String(repeating: "  ", count: depth)).utf8) }
  }
}
