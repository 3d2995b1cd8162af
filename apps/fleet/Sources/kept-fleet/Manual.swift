import ArgumentParser
import CommandPages
import Fleet
import FoundationEssentials

/// Writes the files installed with the program: the page of the manual, and the completions of shells.
struct Manual: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "manual", abstract: "Writes the page of the manual and the completions of shells into a folder.",
    usage: "kept-fleet manual FOLDER", shouldDisplay: false)

  @Argument(help: .hidden) var folder: String

  func run() throws {
    try AtomicFile.write(Data(Self.page.utf8), to: "\(folder)/kept-fleet.1", mode: 0o644)
    for shell in CompletionShell.allCases {
      // It is read, not run, so it does not name an interpreter.
      let script = KeptFleet.completionScript(for: shell).trimmingPrefix("#!/bin/bash\n\n") + "\n"
      try AtomicFile.write(Data(script.utf8), to: "\(folder)/kept-fleet.\(shell.rawValue)", mode: 0o644)
    }
  }

  private static var page: String {
    let program = KeptFleet.configuration
    let commands = program.subcommands.filter { $0.configuration.shouldDisplay }
    let options = commands.map { CommandOption.all(of: $0) }
    let common = options[0].filter { option in options.allSatisfy { $0.contains(option) } }
    let sections = zip(commands, options).map { command, options in
      ".SS \(command._commandName)\n\(Roff.prose(command.configuration.abstract)).PP\n"
        + Roff.prose(command.configuration.discussion) + Roff.options(options.filter { !common.contains($0) })
    }
    return Roff.head("kept-fleet", program.abstract, source: "Kept \(KeptFleet.version)")
      + Roff.synopsis(commands.map { $0.configuration.usage ?? "" } + ["kept-fleet --version"])
      + Roff.section("DESCRIPTION", Roff.prose(program.discussion))
      + Roff.section("COMMANDS", sections.joined())
      + Roff.section("OPTIONS OF ALL COMMANDS", Roff.options(common))
      + String(decoding: PackageResources.manual_1, as: UTF8.self)
  }
}
