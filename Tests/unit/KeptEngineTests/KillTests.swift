// Processes that are killed at any time: every acknowledged commit is complete, and nothing is damaged.

import CPlatform
import Foundation
import KeptEngine
import KeptSystem
import KeptValues
import Testing

@Suite struct KillTests {
  private final class Child {
    let process = Process()
    private let pipe = Pipe()
    private let errors = Pipe()

    init(_ folder: String, seed: Int) throws {
      // The program is built next to the tests.
      let tests = URL(filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
      process.executableURL = tests.deletingLastPathComponent().appending(path: "kept-engine-child")
      process.arguments = [folder, "\(seed)"]
      (process.standardOutput, process.standardError) = (pipe, errors)
      try process.run()
    }

    /// Kills the process, and returns the last counts that it has acknowledged, and what went wrong in it.
    func kill() throws -> (own: Int64, total: Int64, error: String) {
      Foundation.kill(process.processIdentifier, SIGKILL)
      let lines = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      let error = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      process.waitUntilExit()
      // The last line may be cut off.
      let whole = lines.split(separator: "\n", omittingEmptySubsequences: false).dropLast().last ?? "0 0"
      let counts = whole.split(separator: " ").compactMap { Int64($0) }
      return (counts.first ?? 0, counts.last ?? 0, error)
    }
  }

  /// Reads the store without its locks for some time, and until it has some commits: whole ones, and never an older one
  /// after a newer one.
  private func watch(_ folder: TestFolder, milliseconds: Int64, until commits: Revision) throws {
    let end = MonotonicTime.milliseconds + milliseconds
    var (reader, last): (ReadOnlyEngine?, Revision) = (nil, 0)
    while MonotonicTime.milliseconds < end || last < commits && MonotonicTime.milliseconds < end + 120_000 {
      // The children may not have made the store yet.
      if reader == nil { reader = try? ReadOnlyEngine(try OpenFolder.own(folder.path)) }
      try reader?.read { chain throws(StoreError) in
        func count(_ key: KeyName) throws(StoreError) -> Int64 {
          if case .int(let number)? = try chain.state(of: key).value { return number }
          return 0
        }
        let sum = try count("process1") + count("process2") + count("process3")
        #expect(try count("total") == sum)
        #expect(chain.revision == Revision(sum))
        #expect(chain.revision >= last)
        last = chain.revision
      }
    }
  }

  /// Each commit that is not beyond the limits is in the history once, with the value that it has replaced.
  private func checkHistory(_ engine: Engine) throws {
    try engine.past { past, chain throws(StoreError) in
      var revision = past.completeAfter
      for change in past.changes where change.key == "total" {
        #expect(change.first == revision + 1)
        // Only the last 100 changes of a key have the replaced value.
        if change.old != .forgotten { #expect(try change.old.value() ?? .int(0) == .int(Int64(revision))) }
        revision = change.revision
      }
      #expect(revision == chain.revision)
    }
  }

  @Test(arguments: 1...5) func `commits of killed processes are whole, and none is lost`(round: Int) throws {
    let folder = try TestFolder()
    var numbers = SeededRandom(UInt64(round))
    var acknowledged: [Int: Int64] = [:]
    var total: Int64 = 0
    for _ in 0..<6 {
      let children = try (1...3).map { ($0, try Child(folder.path, seed: $0)) }
      // A pipe has room for some thousand lines, so no child waits for it for long.
      try watch(folder, milliseconds: .random(in: 20...120, using: &numbers), until: Revision(total) + 20)
      for (seed, child) in children.shuffled(using: &numbers) {
        let found = try child.kill()
        #expect(found.error.isEmpty)
        acknowledged[seed] = max(acknowledged[seed] ?? 0, found.own)
        total = max(total, found.total)
      }
      let engine = try Engine(try OpenFolder.own(folder.path))
      var sum: Int64 = 0
      for seed in 1...3 {
        guard case .int(let count)? = try engine.state(of: KeyName("process\(seed)")).value else { continue }
        #expect(count >= acknowledged[seed] ?? 0)
        acknowledged[seed] = count
        sum += count
      }
      guard case .int(let found)? = try engine.state(of: "total").value else { continue }
      #expect(found == sum)
      #expect(found >= total)
      #expect(try engine.revision() == Revision(sum))
      try checkHistory(engine)
    }
    #expect(total > 100)
  }
}
