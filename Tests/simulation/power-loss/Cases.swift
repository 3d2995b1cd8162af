// Single cases that neither a kill nor a failure leads to.

import Foundation
import KeptEngine
import KeptSystem
import KeptValues

struct Cases {
  private let folder: String
  private let key: KeyName

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "kept-cases-\(UUID().uuidString)").path
    key = try KeyName("text")
  }

  func judge() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for judge in [limitJournals, damageLongValue, exchangePulse] {
      try Life.makeEmpty(folder)
      try judge(try Engine(try OpenFolder.own(folder)))
    }
  }

  private func set(_ length: Int, _ engine: Engine) throws {
    try engine.commit { chain, writer throws(StoreError) in
      try writer.begin(FrameHead(writer: engine.author, revision: chain.revision + 1, time: 0))
      try writer.add(.string(String(repeating: "x", count: length)), for: key)
      try writer.end()
    }
  }

  /// Commits, with no maintenance, more than the journals may have before another commit begins.
  private func limitJournals(_ engine: Engine) throws {
    for _ in 0..<70 { try set(1 << 20, engine) }
    let length = try engine.read { $0.length }
    guard length < 64 << 20 else { Life.fail("the journals have \(length) bytes") }
  }

  /// Damages a long value before a process reads it that knows its commit.
  private func damageLongValue(_ engine: Engine) throws {
    try set(9000, engine)
    let end = try engine.read(\.position)
    let file = try FileHandle(forUpdating: URL(filePath: folder + "/journal.0"))
    // The head of the journal has 512 bytes.
    try file.seek(toOffset: 512 + end - 100)
    try file.write(contentsOf: Data("y".utf8))
    try file.close()
    let found = try? engine.read { chain throws(StoreError) in try chain.state(of: key).value }
    guard found == nil else { Life.fail("a damaged value was read") }
  }

  /// Puts a copy in the place of the pulse: no process has the store open through it, so none may join.
  private func exchangePulse(_ engine: Engine) throws {
    let pulse = URL(filePath: folder + "/pulse")
    let bytes = try Data(contentsOf: pulse)
    unlink(pulse.path)
    try bytes.write(to: pulse)
    chmod(pulse.path, 0o600)
    let other = try? Engine(try OpenFolder.own(folder), timeoutMilliseconds: 100)
    guard other == nil else { Life.fail("a process has joined through another pulse") }
    engine.close()
  }
}
