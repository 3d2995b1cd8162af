// The reader of docs/internals/checkpoint-and-journal.md, written in Python from the description of the format alone,
// reads what the engine has written.

import CPlatform
import Foundation
import KeptEngine
import KeptSystem
import KeptValues
import Testing

@Suite struct IndependentReaderTests {
  private static let page = "docs/internals/checkpoint-and-journal.md"

  /// The program in the page.
  private func program() throws -> String {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardized
    let text = try String(contentsOf: root.appending(path: Self.page), encoding: .utf8)
    let parts = text.components(separatedBy: "```python\n")
    return try #require(parts.last?.components(separatedBy: "```").first)
  }

  private func run(on folder: String) throws -> (lines: [String], status: Int32) {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", "-c", try program(), folder]
    (process.standardOutput, process.standardError) = (output, Pipe())
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    return (text.split(separator: "\n").map(String.init), process.terminationStatus)
  }

  /// What the reader should print, from the engine.
  private func expected(_ engine: Engine) throws -> [String] {
    try engine.read { chain throws(StoreError) in
      var lines = [#"{"revision": \#(chain.revision), "schema": \#(chain.schemaVersion)}"#]
      try chain.forEachState(below: "") { key, state throws(StoreError) in
        let state = try state.get()
        guard state.isThere else { return }
        var members = [#""key": "\#(key.text)""#, #""revision": \#(state.revision)"#]
        if let declaration = state.declaration { members.insert(#""declaration": \#(declaration)"#, at: 0) }
        if case .bytes(let bytes)? = state.value {
          members.append(#""value": {"bytes": "\#(Data(bytes).base64EncodedString())"}"#)
        }
        lines.append("{\(members.joined(separator: ", "))}")
      }
      return lines
    }
  }

  /// The past changes that are in the checkpoint, in the order of their revisions.
  private func expectedPast(_ engine: Engine) throws -> [String] {
    try engine.past().changes.map { change in
      var old = "null"
      if case .bytes(let bytes)? = try change.old.value() {
        old = #"{"bytes": "\#(Data(bytes).base64EncodedString())"}"#
      }
      return #"{"past": "\#(change.key)", "revision": \#(change.revision), "old": \#(old)}"#
    }
  }

  @Test(arguments: 1...4) func `it reads checkpoint and journals, also with a seal`(seed: UInt64) throws {
    let folder = try TestFolder()
    var numbers = SeededNumbers(state: seed)
    let engine = try Engine(try OpenFolder.own(folder.path))
    for round in 0..<4 {
      for _ in 0..<60 {
        try engine.commit { chain, writer throws(StoreError) in
          let key = try KeyName("k\(Int.random(in: 0..<40, using: &numbers))")
          try writer.begin(FrameHead(writer: 1, revision: chain.revision + 1, time: 0, tag: round == 0 ? "tag" : nil))
          switch Int.random(in: 0..<6, using: &numbers) {
          case 0: try writer.add(.removed, for: key)
          case 1: try writer.add(.declared, #"{"a": 1}"#, for: key)
          case 2: try writer.add(schemaVersion: UInt32(round))
          default:
            let size = Int.random(in: 0..<15, using: &numbers) == 0 ? 9000 : 20
            try writer.add(.bytes(Array(repeating: UInt8(round), count: size)), for: key)
          }
          try writer.end()
        }
      }
      let (lines, status) = try run(on: folder.path)
      #expect(status == 0)
      #expect(lines.filter { !$0.contains("past") } == (try expected(engine)))
      try engine.checkpoint()
      let after = try run(on: folder.path).lines
      #expect(after.filter { !$0.contains("past") } == (try expected(engine)))
      #expect(after.filter { $0.contains("past") }.sorted() == (try expectedPast(engine).sorted()))
      let backup = try TestFolder()
      #expect(try Backup.write(engine, to: backup.make("values")) == engine.read { $0.revision })
      #expect(try run(on: backup.path).lines.sorted() == after.sorted())
    }
  }

  @Test func `it refuses a damaged checkpoint`() throws {
    let folder = try TestFolder()
    let engine = try Engine(try OpenFolder.own(folder.path))
    try engine.set("a", .int(1))
    try engine.checkpoint()
    var bytes = try folder.contents("values")
    bytes[4096 + 40] ^= 1
    try folder.write(bytes, to: "values")
    #expect(try run(on: folder.path).status != 0)
  }
}
