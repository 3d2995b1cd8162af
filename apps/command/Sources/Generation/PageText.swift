// A page as HTML, as Markdown, and as a page of the manual.

import CommandPages
import Kept

enum HTMLPage {
  static func text(of page: Page) -> String {
    let contents = page.sections.map { "<li><a href=\"#\($0.anchor)\">\(inline($0.heading))</a></li>\n" }
    return """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
      <title>\(escaped(page.title))</title>
      <style>
      \(style)
      </style>
      </head>
      <body>
      <header>
      <h1 dir="auto">\(escaped(page.title))</h1>
      <p>\(page.introduction)</p>
      </header>
      <nav aria-labelledby="contents">
      <h2 id="contents">Contents</h2>
      <ul>
      \(contents.joined())</ul>
      </nav>
      <main>
      \(page.sections.map(section).joined())</main>
      </body>
      </html>

      """
  }

  private static let style = """
    :root { color-scheme: light dark; --text: #1b1b1b; --page: #fff; --code: #f0f0f0; --line: #c4c4c4; --link: #0645ad }
    @media (prefers-color-scheme: dark) {
      :root { --text: #e4e4e4; --page: #16181c; --code: #25282e; --line: #4a4e57; --link: #8ab4f8 }
    }
    body { margin: 0 auto; padding: 1rem; max-width: 50rem; font: 1rem/1.5 system-ui, sans-serif;
      color: var(--text); background: var(--page); overflow-wrap: anywhere }
    a { color: var(--link) }
    code { font-family: ui-monospace, monospace; font-size: 0.95em; white-space: pre-wrap; unicode-bidi: isolate }
    h2 { margin: 2rem 0 0.5rem; padding-top: 0.5rem; border-top: 1px solid var(--line); font-size: 1.25rem }
    nav ul { columns: 18rem; padding-left: 1.25rem }
    dl { display: grid; grid-template-columns: minmax(6rem, max-content) 1fr; gap: 0.25rem 1rem; margin: 0;
      align-items: baseline }
    dt { grid-column: 1; font-weight: 600 }
    dd { grid-column: 2; margin: 0; min-width: 0 }
    pre { margin: 0; padding: 0.25rem 0.5rem; background: var(--code); border-radius: 0.25rem; direction: ltr }
    @media (max-width: 30rem) { dl { display: block } dt { margin-top: 0.5rem } }
    """

  private static func section(_ section: Page.Section) -> String {
    let rows = section.rows.map { row in
      "<dt>\(row.label)</dt>\n" + row.lines.map { "<dd dir=\"auto\">\(inline($0))</dd>\n" }.joined()
        + (row.code.map { "<dd><pre><code>\(escaped($0))</code></pre></dd>\n" } ?? "")
    }
    return "<section>\n<h2 id=\"\(section.anchor)\">\(inline(section.heading))</h2>\n"
      + section.paragraphs.map { "<p dir=\"auto\">\(inline($0))</p>\n" }.joined()
      + "<dl>\n\(rows.joined())</dl>\n</section>\n"
  }

  private static func inline(_ line: Line) -> String {
    line.spans.map { span in
      let text = span.isCode ? "<code>\(escaped(span.text))</code>" : escaped(span.text)
      return span.anchor.map { "<a href=\"#\($0)\">\(text)</a>" } ?? text
    }.joined()
  }

  static func escaped(_ text: String) -> String {
    text.replacing([("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;")])
  }
}

enum MarkdownPage {
  static func text(of page: Page) -> String {
    let contents = page.sections.map { "- [\(inline($0.heading))](#\($0.anchor))\n" }
    return "# \(escaped(page.title))\n\n\(page.introduction)\n\n## Contents\n\n\(contents.joined())"
      + page.sections.map(section).joined()
  }

  private static func section(_ section: Page.Section) -> String {
    let rows = section.rows.map { row in
      let text = "- **\(row.label):** " + row.lines.map(inline).joined(separator: "; ")
      guard let code = row.code else { return text + "\n" }
      let fence = String(repeating: "`", count: max(3, backticks(in: code) + 1))
      return "\(text.ends(with: " ") ? String(text.dropLast()) : text)\n\n  \(fence)\n  \(code)\n  \(fence)\n\n"
    }
    return "\n<a id=\"\(section.anchor)\"></a>\n\n## \(inline(section.heading))\n\n"
      + section.paragraphs.map { "\(inline($0))\n\n" }.joined() + rows.joined()
  }

  private static func inline(_ line: Line) -> String {
    line.spans.map { span in
      let text = span.isCode ? code(span.text) : escaped(span.text)
      return span.anchor.map { "[\(text)](#\($0))" } ?? text
    }.joined()
  }

  private static func code(_ text: String) -> String {
    let fence = String(repeating: "`", count: backticks(in: text) + 1)
    let edges = [text.utf8.first, text.utf8.last]
    // One space at each end is not a part of the code.
    let isSpace = text.utf8.allSatisfy { $0 == UInt8(ascii: " ") }
    let space =
      edges.contains(UInt8(ascii: "`")) || !isSpace && edges.allSatisfy { $0 == UInt8(ascii: " ") } ? " " : ""
    return fence + space + text + space + fence
  }

  /// The length of the longest run of backticks.
  private static func backticks(in text: String) -> Int {
    text.utf8.split { $0 != UInt8(ascii: "`") }.map(\.count).max() ?? 0
  }

  private static func escaped(_ text: String) -> String {
    var (result, isAfterDigit) = ("", false)
    for scalar in text.unicodeScalars {
      switch scalar {
      case "<", ">", "&": result += HTMLPage.escaped(String(scalar))
      // A dash or a number at the beginning of a line would be a list.
      case "\\", "`", "*", "_", "[", "]", "|", "~", "#", "+", "-", "=", "$", ")": result += "\\\(scalar)"
      case "." where isAfterDigit: result += "\\."
      default: result.unicodeScalars.append(scalar)
      }
      isAfterDigit = "0"..."9" ~= scalar
    }
    return result
  }
}

enum ManualPage {
  static func text(of page: Page) -> String {
    let keys = page.sections.dropFirst().map { section in
      ".SS \(Roff.argument(section.heading.text.escapingMarks(all: true)))\n\(body(section))"
    }
    return Roff.head(Line.safe(page.name), page.introduction, section: 5) + ".ad l\n"
      + page.sections.prefix(1).map { Roff.section($0.heading.text.uppercased(), body($0)) }.joined()
      + Roff.section("SETTINGS", keys.joined())
      + Roff.section("SEE ALSO", ".BR kept (1),\n.BR kept\\-explain (1),\n.BR kept\\-set (1)\n")
  }

  private static func body(_ section: Page.Section) -> String {
    section.paragraphs.map { "\(inline($0))\n" }.joined(separator: ".PP\n")
      + section.rows.map { row in
        let lines = row.lines.isEmpty ? "" : row.lines.map(inline).joined(separator: "\n.br\n") + "\n"
        return ".TP\n.B \(row.label)\n\(lines)" + (row.code.map { Roff.lines([$0[...]]) } ?? "")
      }.joined()
  }

  private static func inline(_ line: Line) -> String {
    line.spans.map { span in
      // Pagers do not draw marks on bold letters.
      let text = Roff.escaped(span.isCode ? span.text.escapingMarks(all: true) : span.text)
      // Code may be broken after a comma.
      return span.isCode ? "\\fB\(text.replacing([(",", ",\\:")]))\\fR" : text
    }.joined()
  }
}
