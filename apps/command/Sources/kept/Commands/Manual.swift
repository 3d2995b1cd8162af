import ArgumentParser
import CommandPages

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
      throw ValidationError("\(Excerpt.of(name)) is not a kept command; kept --help lists the commands")
    }
    Output.standard.write(ManualPage.page(of: command))
  }

  /// The files installed with the program.
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
    var page = head("kept", KeptCommand.self)
    page += Roff.synopsis(["kept COMMAND STORE ...", "kept --version"])
    page += Roff.section("DESCRIPTION", Guide.introduction.map { ".PP\n\(Roff.escaped($0))\n" }.joined())
    let commands = KeptCommand.commands.map { command in
      ".TP\n.B \(Roff.escaped(command._commandName))\n\(Roff.withCode(command.configuration.abstract))\n"
    }
    page += Roff.section("COMMANDS", commands.joined())
    // Examples are near the end of a page, as in other manuals.
    for topic in Guide.topics.filter({ $0.name != "examples" }) + Guide.topics.filter({ $0.name == "examples" }) {
      page += Roff.section(topic.title.uppercased(), topic.blocks.map(text(of:)).joined())
    }
    let pages = KeptCommand.commands.map { ".BR kept\\-\($0._commandName) (1)" }
    return page + Roff.section("SEE ALSO", pages.joined(separator: ",\n") + "\n")
  }

  static func page(of command: any ParsableCommand.Type) -> String {
    let discussion = command.configuration.discussion
    let description = discussion.isEmpty ? "" : Roff.section("DESCRIPTION", Roff.prose(discussion))
    return head("kept-\(command._commandName)", command)
      + Roff.synopsis([command.configuration.usage ?? ""]) + description
      + Roff.section("OPTIONS", Roff.options(CommandOption.all(of: command)))
      + Roff.section("SEE ALSO", ".BR kept (1)\n")
  }

  private static func head(_ name: String, _ command: any ParsableCommand.Type) -> String {
    Roff.head(name, command.configuration.abstract, date: Build.date, source: "Kept \(Build.version)")
  }

  private static func text(of block: Block) -> String {
    switch block {
    case .paragraph(let text): ".PP\n\(marked(text))\n"
    case .code(let code): ".PP\n.RS 4\n" + Roff.lines(code.map { $0[...] }) + ".RE\n"
    case .list(let items): items.map { ".IP \\(bu 2\n\(marked($0))\n" }.joined() + ".PP\n"
    case .table(let rows):
      // The first row has the titles of the columns, which the layout of a manual has no place for.
      rows.dropFirst().map { ".TP\n\(marked($0[0]))\n\(marked($0[1]))\n" }.joined() + ".PP\n"
    }
  }

  /// Code in bold.
  private static func marked(_ text: MarkedText) -> String {
    text.spans.map { $0.isCode ? "\\fB\(Roff.escaped($0.text))\\fR" : Roff.escaped($0.text) }.joined()
  }
}
