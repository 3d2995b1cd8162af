// Another process that opens the same store and executes the commands of a test.

import Foundation
import Testing

/// A running `kept-test-child` (Tests/unit/Child): one command per line, one answer per line.
final class ChildProcess {
  private let process = Process()
  private let questions = Pipe()
  private let answers = Pipe()

  /// - Parameters:
  ///   - asNobody: it gives up the rights of root, if it has them.
  ///   - wrapper: a program and its arguments, which executes the program that it is given after them.
  init(opening location: String, asNobody: Bool = false, through wrapper: [String] = []) throws {
    let command = wrapper + [try Self.program().path, location] + (asNobody ? ["--as-nobody"] : [])
    process.executableURL = URL(fileURLWithPath: command[0])
    process.arguments = Array(command.dropFirst())
    process.standardInput = questions
    process.standardOutput = answers
    try process.run()
  }

  var pid: Int32 { process.processIdentifier }

  func ask(_ words: String...) throws -> String {
    try questions.fileHandleForWriting.write(contentsOf: Data((words.joined(separator: "\t") + "\n").utf8))
    var answer = Data()
    while let byte = try answers.fileHandleForReading.read(upToCount: 1), !byte.isEmpty, byte[byte.startIndex] != 10 {
      answer += byte
    }
    return String(decoding: answer, as: UTF8.self)
  }

  func finish() throws {
    try questions.fileHandleForWriting.close()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }

  /// Kills it, whatever it is doing.
  func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// The program is built next to the tests.
  private static func program() throws -> URL {
    let tests = URL(fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
    return tests.deletingLastPathComponent().appendingPathComponent("kept-test-child")
  }
}
