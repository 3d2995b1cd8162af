// Starts a command, and ends with the exit status that the manual promises.

import ArgumentParser
import Glibc
import Kept

@main
enum Main {
  static func main() {
    // The reader of our output may stop early, as `head` does; then a write fails, and Output ends the program.
    signal(SIGPIPE, SIG_IGN)
    do {
      // Swift reads them from there, and would find none.
      guard !CommandLine.arguments.isEmpty else {
        throw StoreError(.unavailable, "the arguments cannot be read, because /proc is not mounted; mount it")
      }
      let arguments = Array(CommandLine.arguments.dropFirst())
      if let request = GetRequest(plain: arguments) {
        try request.run(LayerChoice())
      } else {
        try Words.checkCommand(arguments.first)
        var command = try KeptCommand.parseAsRoot(Words.guarded(arguments))
        try command.run()
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

  /// Prints what ArgumentParser has to say: help, the version, or what is wrong with the arguments.
  private static func endUsage(_ error: any Error) -> Never {
    let message = KeptCommand.fullMessage(for: error)
    if KeptCommand.exitCode(for: error) == .success {
      Output.standard.write(message + "\n")
      Output.standard.flush()
      exit(ExitStatus.done.rawValue)
    }
    Failure.print(message.hasPrefix("Error: ") ? String(message.dropFirst(7)) : message)
    exit(ExitStatus.usage.rawValue)
  }
}

struct KeptCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "kept",
    abstract: "Reads, changes and explains the settings of programs.",
    discussion: """
      STORE is an identifier such as com.example.player, a path with a slash, or a location. With KEPT_STORE in the \
      environment, or with --store, it is left out.

      To find out why a program uses a value:     kept explain STORE KEY
      To change it for good:                      kept set STORE KEY VALUE
      To see it arrive in running programs:       kept watch STORE KEY
      To see what was changed, and to undo it:    kept log STORE, kept undo STORE REVISION
      To check a store:                           kept doctor STORE
      To move it to another machine:              kept export STORE > FILE, and there kept import STORE FILE

      Exit status: 0 done; 1 no such key, or differences; 2 wrong usage; 3 refused (locked, invalid, a conflict); \
      4 unavailable or damaged.
      """,
    version: "kept \(Build.version)",
    groupedSubcommands: [
      CommandGroup(
        name: "Values",
        subcommands: [Get.self, SetValues.self, Reset.self, EditCommand.self, List.self, Watch.self, Explain.self]),
      CommandGroup(name: "The past", subcommands: [Log.self, Undo.self, Diff.self, Mark.self]),
      CommandGroup(
        name: "Declarations", subcommands: [Describe.self, Declare.self, Undeclare.self, Lint.self]),
      CommandGroup(
        name: "Whole stores",
        subcommands: [
          Export.self, Import.self, Backup.self, Restore.self, ApplyTransaction.self, Doctor.self,
          Info.self, MigrateStatus.self, Stores.self,
        ]),
      CommandGroup(name: "Shells", subcommands: [Completion.self, Complete.self, Manual.self]),
    ])
}
