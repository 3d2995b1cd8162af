// The part of Markdown that the embedded pages of docs/guide use, for a terminal.

/// A paragraph, code, a list or a table.
enum Block {
  case paragraph(MarkedText)
  case code([String])
  case list([MarkedText])
  /// Rows of two cells; the first has the titles.
  case table([[MarkedText]])

  static func all(in lines: ArraySlice<String>) -> [Block] {
    var blocks: [Block] = []
    var rest = lines
    while let line = rest.first {
      if line.isEmpty {
        rest.removeFirst()
      } else if line.hasPrefix("```") {
        let code = rest.dropFirst().prefix { $0 != "```" }
        blocks.append(.code(Array(code)))
        rest = rest.dropFirst(code.count + 2)
      } else {
        let part = rest.prefix { !$0.isEmpty && !$0.hasPrefix("```") }
        blocks.append(block(Array(part)))
        rest = rest.dropFirst(part.count)
      }
    }
    return blocks
  }

  private static func block(_ lines: [String]) -> Block {
    switch lines[0].prefix(2) {
    case "| ":
      let rows = lines.filter { !$0.hasPrefix("|---") }.map { line in
        line.dropFirst(2).dropLast(2).split(separator: " | ", omittingEmptySubsequences: false).map {
          MarkedText(trimmed($0))
        }
      }
      return .table(rows.map { $0 + Array(repeating: MarkedText(""), count: max(0, 2 - $0.count)) })
    case "- ":
      var items: [String] = []
      for line in lines {
        if line.hasPrefix("- ") {
          items.append(String(line.dropFirst(2)))
        } else {
          items[items.count - 1] += " " + trimmed(line[...])
        }
      }
      return .list(items.map(MarkedText.init))
    default: return .paragraph(MarkedText(lines.map { trimmed($0[...]) }.joined(separator: " ")))
    }
  }

  private static func trimmed(_ text: Substring) -> String {
    var text = text.drop { $0 == " " }
    while text.last == " " { text.removeLast() }
    return String(text)
  }

  /// The block in lines of at most `width` columns; code is not broken.
  func lines(width: Int) -> [String] {
    switch self {
    case .paragraph(let text): return text.lines(width: width)
    case .code(let code): return code.map { $0.isEmpty ? "" : "  " + $0 }
    case .list(let items):
      return items.flatMap { Self.hanging("- ", $0.lines(width: width - 2), indent: 2) }
    case .table(let rows):
      let shown = rows.filter { !$0[1].plain.isEmpty }
      let first = min(24, shown.map { Shown.width($0[0].plain) }.max() ?? 0) + 2
      return shown.flatMap { row -> [String] in
        let (name, text) = (row[0].plain, row[1].lines(width: max(20, width - first - 2)))
        guard Shown.width(name) + 2 <= first else { return ["  " + name] + Self.hanging("", text, indent: first + 2) }
        return Self.hanging("  " + name.padded(to: first), text, indent: first + 2)
      }
    }
  }

  private static func hanging(_ start: String, _ lines: [String], indent: Int) -> [String] {
    lines.enumerated().map { index, line in
      index == 0 && !start.isEmpty ? start + line : String(repeating: " ", count: indent) + line
    }
  }
}

/// Text with code in backticks; of links and stressed words it has the words.
struct MarkedText {
  private(set) var spans: [(text: String, isCode: Bool)] = []

  init(_ markdown: String) {
    for (index, part) in markdown.split(separator: "`", omittingEmptySubsequences: false).enumerated() {
      let isCode = index % 2 == 1
      let text = isCode ? String(part) : Self.words(part)
      if !text.isEmpty { spans.append((text, isCode)) }
    }
  }

  var plain: String { spans.map(\.text).joined() }

  /// `[words](place)` and `**words**` as words.
  private static func words(_ text: Substring) -> String {
    var words = ""
    var rest = text
    while let character = rest.popFirst() {
      switch character {
      case "*", "[": break
      case "]":
        guard rest.first == "(" else { break }
        rest = rest.drop { $0 != ")" }.dropFirst()
      default: words.append(character)
      }
    }
    return words
  }

  func lines(width: Int) -> [String] {
    var lines = [""]
    for word in plain.split(separator: " ") {
      let line = lines[lines.count - 1]
      if line.isEmpty {
        lines[lines.count - 1] = String(word)
      } else if Shown.width(line) + 1 + Shown.width(String(word)) <= width {
        lines[lines.count - 1] = line + " " + word
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }
}
