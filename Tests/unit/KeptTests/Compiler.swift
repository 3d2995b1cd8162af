// Runs the Swift compiler: what it rejects, and why.

import Foundation
import Testing

/// Compiles programs that import Kept.
enum Compiler {
  /// Expects errors exactly in the lines that end with `//! ` and a part of the message.
  static func check(_ program: String) throws {
    let diagnostics = try typecheck(program)
    for (index, line) in program.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let reasons = diagnostics[index + 1] ?? []
      if let mark = line.range(of: "//! ") {
        #expect(reasons.contains { $0.contains(line[mark.upperBound...]) }, "\(line)\ngot: \(reasons)")
      } else {
        #expect(reasons.isEmpty, "\(line)")
      }
    }
  }

  /// The errors of a program that imports Kept, by line.
  private static func typecheck(_ program: String) throws -> [Int: [String]] {
    let source = FileManager.default.temporaryDirectory.appending(path: "refused-\(UUID()).swift")
    try program.write(to: source, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(at: source) }
    let compiler = Process()
    let output = Pipe()
    compiler.executableURL = URL(filePath: "/usr/bin/env")
    compiler.arguments =
      ["swiftc", "-typecheck", "-swift-version", "6", "-diagnostic-style", "llvm"]
      + (try cModules() + [modules]).flatMap { ["-I", $0.path] } + [source.path]
    compiler.standardError = output
    try compiler.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    compiler.waitUntilExit()
    var diagnostics: [Int: [String]] = [:]
    for line in text.split(separator: "\n") where line.contains(": error: ") {
      // path:line:column: error: reason
      let place = try #require(line.firstRange(of: source.lastPathComponent + ":"), "\(line)")
      let number = try #require(Int(line[place.upperBound...].prefix { $0 != ":" }))
      diagnostics[number, default: []].append(String(line))
    }
    return diagnostics
  }

  /// SwiftPM puts the modules next to this test program.
  private static let modules = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    .appending(path: "Modules")

  /// The folders of the module maps that KeptCore needs.
  private static func cModules() throws -> [URL] {
    let sources = URL(filePath: #filePath).appending(path: "../../../../Sources").standardizedFileURL
    let targets = try FileManager.default.contentsOfDirectory(at: sources, includingPropertiesForKeys: nil)
    return targets.flatMap { [$0, $0.appending(path: "include")] }
      .filter { FileManager.default.fileExists(atPath: $0.appending(path: "module.modulemap").path) }
  }
}
