import ArgumentParser

/// Prints the pages of the manual, which are made of the same texts as the help.
struct Manual: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints a page of the manual, for `man`.", usage: "kept manual [COMMAND]", shouldDisplay: false)

  @Option(help: ArgumentHelp("Write all pages, and the completions of shells, into this folder.", valueName: "folder"))
  var into: String?
  @Argument var words: [String] = []

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

extension KeptCommand {
  /// The commands that the help shows.
  static var commands: [any ParsableCommand.Type] {
    configuration.groupedSubcommands.flatMap { $0.subcommands }.filter { $0.configuration.shouldDisplay }
  }
}

private enum ManualPage {
  static func overview() -> String {
    let configuration = KeptCommand.configuration
    var page = head("kept", configuration.abstract) + section("SYNOPSIS", lines(["kept COMMAND STORE ..."[...]]))
    page += section("DESCRIPTION", prose(configuration.discussion))
    let commands = KeptCommand.commands.map { command in
      ".TP\n.B \(escaped(command._commandName))\n\(escaped(command.configuration.abstract))\n"
    }
    page += section("COMMANDS", commands.joined())
    page += section(
      "ENVIRONMENT",
      ".TP\n.B KEPT_STORE\nThe store, in place of the first word.\n"
        + ".TP\n.B NO_COLOR\nNo colours.\n.TP\n.B VISUAL, EDITOR\nThe editor of kept edit.\n")
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
    if !options.isEmpty { page += section("OPTIONS", lines(Array(options))) }
    return page + section("SEE ALSO", ".BR kept (1)\n")
  }

  private static func head(_ name: String, _ abstract: String) -> String {
    ".TH \(escaped(name.uppercased())) 1 \"\" \"Kept \(Build.version)\"\n"
      + section(
        "NAME", "\(escaped(name)) \\- \(escaped(abstract.hasSuffix(".") ? String(abstract.dropLast()) : abstract))\n")
  }

  private static func section(_ title: String, _ text: String) -> String { ".SH \(title)\n\(text)" }

  /// Paragraphs; one with wide gaps is a table, whose lines stay as they are.
  private static func prose(_ text: String) -> String {
    text.split(separator: "\n\n").map { paragraph in
      paragraph.contains("  ") ? lines(paragraph.split(separator: "\n")) : escaped(String(paragraph)) + "\n"
    }.joined(separator: ".PP\n")
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
