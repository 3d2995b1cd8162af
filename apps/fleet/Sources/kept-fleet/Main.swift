// Starts a command, and ends with the exit status that docs/guide/fleet.md promises.

import ArgumentParser
import CKeptVersion
import Etcd
import Fleet
@preconcurrency import Glibc  // stdout is a variable there
import Kept

@main
struct KeptFleet: AsyncParsableCommand {
  static let version = "\(KEPT_VERSION_MAJOR).\(KEPT_VERSION_MINOR).\(KEPT_VERSION_PATCH)"
  static let configuration = CommandConfiguration(
    commandName: "kept-fleet",
    abstract: "The same settings on many machines, through etcd.",
    discussion: """
      On each machine, `kept-fleet follow` keeps the files of two layers equal to their documents in etcd. `kept-fleet \
      publish` publishes these. `kept-fleet sync` keeps a user's settings the same on several machines. `kept-fleet \
      status` shows which machines have them.
      """,
    version: "kept-fleet \(version)",
    subcommands: [Follow.self, Publish.self, Sync.self, Status.self, Manual.self])

  static func main() async {
    signal(SIGPIPE, SIG_IGN)
    do {
      var command = try parseAsRoot()
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
      exit(.done)
    } catch let status as ExitStatus {
      exit(status)
    } catch let error as StoreError {
      end(DisplayText.line(error.description), ExitStatus(error.code))
    } catch let error as EtcdError {
      end(DisplayText.line(error.message), error.kind == .tooLarge ? .refused : .unavailable)
    } catch {
      guard exitCode(for: error) != .success else {
        print(fullMessage(for: error))
        exit(.done)
      }
      end("\(Terminal.lines(message(for: error))); see kept-fleet --help", .usage)
    }
  }

  /// Whether everything that was printed has been written; a failure is remembered.
  static var isOutputWritten: Bool { fflush(stdout) == 0 && ferror(stdout) == 0 }

  private static func exit(_ status: ExitStatus) -> Never {
    guard !isOutputWritten else { Glibc.exit(status.rawValue) }
    complain("the output cannot be written; check standard output, and the free space on its disk")
    Glibc.exit((status == .unreported ? status : .unavailable).rawValue)
  }

  private static func end(_ message: String, _ status: ExitStatus) -> Never {
    complain(message)
    Glibc.exit(status.rawValue)
  }

  /// Names keys of etcd that should have a report.
  static func complain(ofNoReports keys: [String]) {
    for key in keys { complain(Terminal.line("\(key) is not a report of a machine; delete it with etcdctl")) }
  }

  /// Prints a sentence on standard error.
  static func complain(_ message: String) {
    // If this fails, there is no other place to report it.
    _ = "kept-fleet: \(message)\n".utf8.withContiguousStorageIfAvailable { write(2, $0.baseAddress, $0.count) }
  }
}

enum ExitStatus: Int32, Error {
  case done = 0
  /// A machine is behind, is silent, or has refused a document; for a dry run, would refuse it.
  case attention = 1
  case usage = 2
  /// The documents are wrong, or another administrator was faster.
  case refused = 3
  case unavailable = 4
  /// The documents are published, but the report cannot be written.
  case unreported = 5

  init(_ code: StoreError.Code) {
    switch code {
    case .corrupt, .unavailable, .denied, .noSpace, .busy, .failed, .unsupported, .closed, .forked: self = .unavailable
    default: self = .refused
    }
  }
}
