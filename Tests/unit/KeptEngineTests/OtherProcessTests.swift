// Stores in another process, because it forks, or because its disk is full: Tests/unit/EngineChild.

import CPlatform
import Foundation
import KeptEngine
import KeptSystem
import KeptValues
import Testing

@Suite(.timeLimit(.minutes(10))) struct OtherProcessTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  /// Runs a command; returns what it has printed.
  private static func output(_ command: String...) throws -> String {
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = command
    (process.standardOutput, process.standardError) = (output, output)
    try process.run()
    let said = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    return said
  }

  /// The program is built next to the tests.
  private func child() throws -> String {
    let tests = URL(filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
    return tests.deletingLastPathComponent().appending(path: "kept-engine-child").path
  }

  /// - Parameter mode: what happens; a number of rounds under load.
  @Test(arguments: ["using", "idle", "orphan", "exec", "recovering", "closing", "waiting", "40"])
  func `parent and child go on with one store after a fork`(mode: String) throws {
    #expect(try Self.output(child(), "fork", folder.path, mode) == "ok\n")
  }

  /// - Parameter checkpoints: how many are made while the observer is stopped. With two, a journal is gone.
  @Test(arguments: [0, 1, 2, 3])
  func `an observer that was stopped gets all changes, or learns that they may have been merged`(
    checkpoints: Int
  ) throws {
    let engine = try Engine(try OpenFolder.own(folder.path))
    try engine.set("a", .int(1))
    try engine.set("gone", .int(1))
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(filePath: try child())
    process.arguments = ["observe", folder.path]
    process.standardOutput = output
    try process.run()
    func line() throws -> String {
      var line = Data()
      while let byte = try output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty, byte[0] != 10 { line += byte }
      return String(decoding: line, as: UTF8.self)
    }
    #expect(try line() == "observes")
    try engine.set("a", .int(2))
    #expect(try line() == "3 a=2")
    kill(process.processIdentifier, SIGSTOP)
    while try !String(contentsOfFile: "/proc/\(process.processIdentifier)/stat", encoding: .utf8).contains(") T") {
      sched_yield()
    }
    for round in 0...max(checkpoints, 1) {
      try engine.set("a", .int(Int64(10 + round)))
      try engine.set("gone", round % 2 == 0 ? nil : .int(5))
      if round < checkpoints { try engine.checkpoint() }
    }
    let last = try engine.revision()
    kill(process.processIdentifier, SIGCONT)
    let (number, gone) = (10 + max(checkpoints, 1), max(checkpoints, 1) % 2 == 0 ? "" : "5")
    #expect(try line() == "\(last)\(checkpoints > 1 ? " merged" : "") a=\(number) gone=\(gone)")
    try engine.set("end", .int(1))
    #expect(try line() == "\(last + 1) end=1")
    process.waitUntilExit()
  }

  @Test func `a file that may not be read is named, and nothing is salvaged`() throws {
    // The other user may not write the counts of the lines that run.
    #expect(try Self.output("LLVM_PROFILE_FILE=/dev/null", child(), "unreadable", folder.path) == "ok\n")
  }

  private static let mounts = "mount -t tmpfs -o size=1m none"
  /// Whether this user may have file systems of its own.
  private static let canMount = (try? output("unshare", "-Urm", "sh", "-c", "\(mounts) /tmp && echo ok")) == "ok\n"

  @Test(.enabled(if: canMount)) func `a store on a full disk is read, and changed for a while`() throws {
    let script = "\(Self.mounts) \"$1\" && exec \"$0\" full \"$1\""
    #expect(try Self.output("unshare", "-Urm", "sh", "-c", script, child(), folder.path) == "ok\n")
  }

  @Test func `many keys are listed in little memory, or refused`() throws {
    #expect(try Self.output(child(), "memory", folder.path) == "ok\n")
  }
}
