// A folder with a store that several processes use, and those processes.

import Foundation
import KeptStorage
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

  /// Replaces a file next to the store atomically.
  func write(_ text: String, to name: String) throws {
    try text.write(toFile: file(name), atomically: true, encoding: .utf8)
  }

  func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: file(name)) }

  /// Acts like another process: stores share only the files.
  func store(tag: String? = nil) throws -> Store {
    Store(storage: try LocalStorage(path: location), options: StoreOptions(tag: tag))
  }
}

/// A running `kept-test-child` (Tests/unit/Child): one command per line, one answer per line.
final class OtherProcess {
  private let process = Process()
  private let questions = Pipe()
  private let answers = Pipe()

  /// - Parameter settings: arguments that are a layer of its store.
  init(opening location: String, settings: [String] = []) throws {
    let tests = URL(fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
    process.executableURL = tests.deletingLastPathComponent().appendingPathComponent("kept-test-child")
    process.arguments = [location] + (settings.isEmpty ? [] : ["--with-arguments"] + settings)
    process.standardInput = questions
    process.standardOutput = answers
    try process.run()
  }

  /// Sends commands without waiting for the answers.
  ///
  /// The process ends when it has given them all.
  func ask(_ lines: [[String]]) throws {
    let text = lines.map { $0.joined(separator: "\t") + "\n" }.joined()
    try questions.fileHandleForWriting.write(contentsOf: Data(text.utf8))
    try questions.fileHandleForWriting.close()
  }

  /// Waits for the process to end, and returns the answers.
  func finish() throws -> [String] {
    let answers = try answers.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return String(decoding: answers, as: UTF8.self).split(separator: "\n").map(String.init)
  }
}
