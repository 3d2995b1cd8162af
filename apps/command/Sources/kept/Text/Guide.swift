// The pages docs/guide/command.md and errors.md, which are part of the program: the source of `kept help TOPIC` and of
// `man kept`.

import Kept

/// The sections of the pages, up to a mark after which a page continues for readers of the sources alone.
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

    /// Whether it explains an error with this name, in any case: `busy`, `-7`, `KEPT_BUSY`, `StoreError.Code.busy` or
    /// `BusyError`.
    func explains(_ word: String) -> Bool {
      let word = word.lowercased()
      guard word != name, word != title.lowercased(), blocks.count > 1, case .paragraph(let names) = blocks[1] else {
        return true
      }
      return names.plain.contains(" (\(word)), ")
        || names.spans.contains { $0.isCode && ".\($0.text.lowercased())".ends(with: ".\(word)") }
    }
  }

  /// The paragraphs before the first section; the first is a line that says what the program does.
  static var introduction: [String] {
    Block.all(in: sections(of: PackageResources.command_md)[0].dropFirst()).compactMap { block in
      if case .paragraph(let text) = block { text.plain } else { nil }
    }
  }

  static var topics: [Topic] {
    let lines = sections(of: PackageResources.errors_md)[0]
    let codes = [["code", "meaning"]] + errors.map { [$0.name, $0.summary] }
    let introduction = Block.all(in: lines.dropFirst()) + [.table(codes.map { $0.map { MarkedText($0) } })]
    return topics(of: PackageResources.command_md)
      + [Topic(title: String(lines.first?.dropFirst(2) ?? ""), blocks: introduction)]
  }

  /// A topic for each error code.
  static var errors: [Topic] { topics(of: PackageResources.errors_md) }

  /// The commands that the page begins its examples with.
  static var tour: String {
    for case .code(let lines) in topics.first?.blocks ?? [] { return lines.joined(separator: "\n") }
    return ""
  }

  private static func topics(of page: [UInt8]) -> [Topic] {
    sections(of: page).dropFirst().map { lines in
      Topic(title: String(lines.first?.dropFirst(3) ?? ""), blocks: Block.all(in: lines.dropFirst()))
    }
  }

  /// The lines of a page, from each heading to the next.
  private static func sections(of page: [UInt8]) -> [ArraySlice<String>] {
    let lines = String(decoding: page, as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
      .prefix { $0 != "<!-- The help and the manual end here. -->" }
    let starts = lines.indices.filter { lines[$0].hasPrefix("## ") }
    return zip([lines.startIndex] + starts, starts + [lines.endIndex]).map { lines[$0..<$1] }
  }
}
