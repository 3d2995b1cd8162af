// The page docs/guide/command.md, which is part of the program: the source of `kept help TOPIC` and of `man kept`.

import Kept

/// The sections of the page, up to a mark after which the page goes on for readers of the sources alone.
enum Guide {
  struct Topic {
    let title: String
    let blocks: [Block]

    /// The name on the command line: `exit-status` for "Exit status".
    var name: String { String(title.lowercased().map { $0 == " " ? "-" : $0 }) }

    /// The first sentence.
    var summary: String {
      guard case .paragraph(let text)? = blocks.first else { return "" }
      return text.plain.split(separator: ". ").first.map { $0.hasSuffix(".") ? String($0) : $0 + "." } ?? ""
    }
  }

  /// The paragraphs before the first section; the first is a line that says what the program does.
  static var introduction: [String] {
    Block.all(in: sections[0].dropFirst()).compactMap { block in
      if case .paragraph(let text) = block { text.plain } else { nil }
    }
  }

  static var topics: [Topic] {
    sections.dropFirst().map { lines in
      Topic(title: String(lines.first?.dropFirst(3) ?? ""), blocks: Block.all(in: lines.dropFirst()))
    }
  }

  /// The commands that the page begins its examples with.
  static var tour: String {
    for case .code(let lines) in topics.first?.blocks ?? [] { return lines.joined(separator: "\n") }
    return ""
  }

  /// The lines of the page, from each heading to the next.
  private static var sections: [ArraySlice<String>] {
    let page = String(decoding: PackageResources.command_md, as: UTF8.self)
    let lines = page.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      .prefix { $0 != "<!-- The help and the manual end here. -->" }
    let starts = lines.indices.filter { lines[$0].hasPrefix("## ") }
    return zip([lines.startIndex] + starts, starts + [lines.endIndex]).map { lines[$0..<$1] }
  }
}
