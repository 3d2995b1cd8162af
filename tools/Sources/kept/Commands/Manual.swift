import ArgumentParser

/// Prints the pages of the manual, which are made of the same texts as the help.
struct Manual: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "manual",
    abstract: "Prints a page of the manual, for `man`.", usage: "kept manual [COMMAND]", shouldDisplay: false)

  @Option(help: ArgumentHelp("Write all pages, and the completions of shells, into this folder.", valueName: "folder"))
  var into: String?
  @Argument(help: .hidden) var words: [String] = []

  func run() throws {
    if let into { return try writeAll(into) }
    guard let name = try words.expect(0...1, "at most one command").first else {
      return Output.standard.write(ManualPage.overview())
    }
    guard let command = KeptCommand.commands.first(where: { $0._commandName == name }) else {
      throw ValidationError("\(Excerpt.of(name)) is no command; kept --help lists them")
    }
    Output.standard.write(ManualPage.page(of: command))
  }

  /// What is installed beside the program.
  private func writeAll(_ folder: String) throws {
    try File.write(ManualPage.overview(), to: "\(folder)/kept.1")
    for command in KeptCommand.commands {
      try File.write(ManualPage.page(of: command), to: "\(folder)/kept-\(command._commandName).1")
    }
    for shell in ["bash", "zsh", "fish"] {
      try File.write(CompletionScript.of(shell) ?? "", to: "\(folder)/kept.\(shell)")
    }
  }
}

private enum ManualPage {
  static func overview() -> String {
    var page = head("kept", KeptCommand.configuration.abstract)
    page += section("SYNOPSIS", lines(["kept COMMAND STORE ..."]))
    page += section("DESCRIPTION", Guide.introduction.map { ".PP\n\(escaped($0))\n" }.joined())
    let commands = KeptCommand.commands.map { command in
      ".TP\n.B \(escaped(command._commandName))\n\(withCode(command.configuration.abstract))\n"
    }
    page += section("COMMANDS", commands.joined())
    // Examples stand near the end of a page, as in other manuals.
    for topic in Guide.topics.filter({ $0.name != "examples" }) + Guide.topics.filter({ $0.name == "examples" }) {
      page += section(topic.title.uppercased(), topic.blocks.map(text(of:)).joined())
    }
    let pages = KeptCommand.commands.map { ".BR kept\\-\($0._commandName) (1)" }
    return page + section("SEE ALSO", pages.joined(separator: ",\n") + "\n")
  }

  static func page(of command: any ParsableCommand.Type) -> String {
    let configuration = command.configuration
    var page = head("kept-\(command._commandName)", configuration.abstract)
    page += section("SYNOPSIS", lines((configuration.usage ?? "").split(separator: "\n")))
    if !configuration.discussion.isEmpty {
      page += section("DESCRIPTION", prose(configuration.discussion))
    }
    let help = KeptCommand.helpMessage(for: command, columns: 78).split(
      separator: "\n", omittingEmptySubsequences: false)
    let options = help.drop { !$0.hasPrefix("OPTIONS:") }.dropFirst()
    if !options.isEmpty { page += section("OPTIONS", ".nf\n\(withCode(options.joined(separator: "\n")))\n.fi\n") }
    return page + section("SEE ALSO", ".BR kept (1)\n")
  }

  private static func head(_ name: String, _ abstract: String) -> String {
    let abstract = abstract.filter { $0 != "`" }
    return ".TH \(escaped(name.uppercased())) 1 \(Build.date) \"Kept \(Build.version)\"\n"
      + section(
        "NAME", "\(escaped(name)) \\- \(escaped(abstract.hasSuffix(".") ? String(abstract.dropLast()) : abstract))\n")
  }

  private static func section(_ title: String, _ text: String) -> String { ".SH \(title)\n\(text)" }

  /// Paragraphs of a command's help; one with wide gaps is a table, whose lines stay as they are.
  private static func prose(_ text: String) -> String {
    text.split(separator: "\n\n").map { paragraph in
      paragraph.contains("  ") ? lines(paragraph.split(separator: "\n")) : withCode(String(paragraph)) + "\n"
    }.joined(separator: ".PP\n")
  }

  private static func text(of block: Block) -> String {
    switch block {
    case .paragraph(let text): ".PP\n\(marked(text))\n"
    case .code(let code): ".PP\n.RS 4\n" + lines(code.map { $0[...] }) + ".RE\n"
    case .list(let items): items.map { ".IP \\(bu 2\n\(marked($0))\n" }.joined() + ".PP\n"
    case .table(let rows):
      // The first row has the titles of the columns, which the layout of a manual has no place for.
      rows.dropFirst().map { ".TP\n\(marked($0[0]))\n\(marked($0[1]))\n" }.joined() + ".PP\n"
    }
  }

  /// Code in bold.
  private static func marked(_ text: MarkedText) -> String {
    text.spans.map { $0.isCode ? "\\fB\(escaped($0.text))\\fR" : escaped($0.text) }.joined()
  }

  /// Text of the help, in which code is in backticks.
  private static func withCode(_ text: String) -> String {
    text.split(separator: "`", omittingEmptySubsequences: false).enumerated().map { index, part in
      index % 2 == 1 ? "\\fB\(escaped(String(part)))\\fR" : escaped(String(part))
    }.joined()
  }

  /// Lines that are printed as they are.
  private static func lines(_ lines: [Substring]) -> String {
    ".nf\n" + lines.map { escaped(String($0)) + "\n" }.joined() + ".fi\n"
  }

  /// Text in which nothing is an instruction of roff, and a dash is the one that can be copied into a shell.
  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for character in text {
      switch character {
      case "\\": escaped += "\\e"
      case "-": escaped += "\\-"
      default: escaped.append(character)
      }
    }
    return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
  }
}
