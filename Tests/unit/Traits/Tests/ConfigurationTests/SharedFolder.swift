// A folder with a store that two processes use, and the other process.

import Foundation
import Kept
import Testing

/// A store in a folder of its own, which is removed with it.
final class SharedFolder: Sendable {
  let location: String

  init() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("kept-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    location = folder.appendingPathComponent("store").path
  }

  deinit { try? FileManager.default.removeItem(atPath: (location as NSString).deletingLastPathComponent) }

  /// The path of a file next to the store.
  func file(_ name: String) -> String {
    ((location as NSString).deletingLastPathComponent as NSString).appendingPathComponent(name)
  }

  /// Makes another process write keys and JSON texts, given in turn, as one transaction.
  func writeElsewhere(_ words: String...) throws {
    let process = try ChildProcess("kept-writer", [location] + words)
    #expect(try process.finish() == 0)
  }
}

/// A running program of this package.
final class ChildProcess {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  init(_ program: String, _ arguments: [String]) throws {
    // Built next to the tests.
    let tests = URL(fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
    process.executableURL = tests.deletingLastPathComponent().appendingPathComponent(program)
    process.arguments = arguments
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  /// The next line that it prints.
  func line() throws -> String {
    var line = Data()
    while let byte = try output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty, byte[byte.startIndex] != 10 {
      line += byte
    }
    return String(decoding: line, as: UTF8.self)
  }

  func write(_ line: String) throws { try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8)) }

  /// - Returns: its exit status.
  func finish() throws -> Int32 {
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    return process.terminationStatus
  }
}
