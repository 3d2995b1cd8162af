// Starts a command, and ends with the exit status that the manual promises.

import ArgumentParser
import Glibc
import Kept

@main
enum Main {
  static func main() {
    Browser.startIfAsked()
    StandardStreams.occupyClosed()
    // The reader of our output may stop early, as `head` does; then a write fails, and Output ends the program.
    signal(SIGPIPE, SIG_IGN)
    do {
      let arguments = try Words.ofProcess()
      if let request = try GetRequest(plain: arguments) {
        try request.run(LayerChoice())
      } else {
        try Words.checkCommand(arguments.first)
        var command = try KeptCommand.parseAsRoot(Words.guarded(arguments))
        try command.run()
        StoreAccess.closeChanged()
      }
      Output.standard.flush()
      exit(ExitStatus.done.rawValue)
    } catch let error as StoreError {
      Failure.end(error)
    } catch let status as ExitStatus {
      Output.standard.flush()
      exit(status.rawValue)
    } catch {
      endUsage(error)
    }
  }

  /// Prints what ArgumentParser has to say: help, the version, or the mistake in the arguments.
  private static func endUsage(_ error: any Error) -> Never {
    guard KeptCommand.exitCode(for: error) != .success else {
      Output.standard.write(KeptCommand.fullMessage(for: error) + "\n")
      Output.standard.flush()
      exit(ExitStatus.done.rawValue)
    }
    let message = sentence(KeptCommand.message(for: error))
    let command = CommandLine.arguments.dropFirst().first.flatMap(KeptCommand.command)?._commandName
    let isExplained = message.contains("kept help") || message.contains("--help")
    Output.standard.flush()
    let joint = message.hasSuffix("?") ? "" : ";"
    Failure.print(isExplained ? message : "\(message)\(joint) see kept \(command.map { "help \($0)" } ?? "--help")")
    exit(ExitStatus.usage.rawValue)
  }

  /// A message of the parser on one line; it lists choices on lines that begin with a dash.
  private static func sentence(_ message: String) -> String {
    let lines = message.split(separator: "\n").map { $0.drop { $0 == " " } }
    let choices = lines.filter { $0.hasPrefix("- ") }.map { $0.dropFirst(2) }.joined(separator: ", ")
    return (lines.filter { !$0.hasPrefix("- ") } + (choices.isEmpty ? [] : [choices[...]])).joined(separator: " ")
  }
}

struct KeptCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "kept",
    abstract: "Reads, changes and explains the settings of programs.",
    discussion: showsGuide ? guide : "",
    version: "kept \(Build.version)",
    groupedSubcommands: groups)

  private static let groups: [CommandGroup] = [
    CommandGroup(
      name: "Values",
      subcommands: [
        Get.self, SetValues.self, Reset.self, EditCommand.self, Browse.self, List.self, Watch.self, Explain.self,
      ]),
    CommandGroup(name: "History", subcommands: [Log.self, Undo.self, Redo.self, Diff.self, Mark.self]),
    CommandGroup(
      name: "Declarations", subcommands: [Describe.self, Declare.self, Undeclare.self, Lint.self, Generate.self]),
    CommandGroup(
      name: "Whole stores",
      subcommands: [
        Export.self, Import.self, Backup.self, Restore.self, ApplyTransaction.self, Doctor.self,
        Verify.self, Secrets.self, Info.self, MigrateStatus.self, Stores.self,
      ]),
    CommandGroup(name: "Shells", subcommands: [Completion.self, Complete.self, Manual.self]),
    CommandGroup(name: "Help", subcommands: [Help.self]),
  ]

  /// Whether the words ask for the help of the whole; reading the guide takes longer than most commands.
  private static let showsGuide: Bool = {
    guard CommandLine.arguments.count > 1 else { return true }
    let word = CommandLine.arguments[1]
    return word.hasPrefix("-") || word == Help._commandName
  }()

  private static var guide: String {
    """
    \(Guide.introduction.dropFirst().joined(separator: "\n\n"))

    \(Guide.tour)

    Topics, with kept help TOPIC: \(Guide.topics.map(\.name).joined(separator: ", "))
    """
  }

  /// The commands that the help shows.
  static var commands: [any ParsableCommand.Type] { all.filter { $0.configuration.shouldDisplay } }

  static func command(_ name: String) -> (any ParsableCommand.Type)? { all.first { $0._commandName == name } }

  private static let all: [any ParsableCommand.Type] = groups.flatMap(\.subcommands)
}
