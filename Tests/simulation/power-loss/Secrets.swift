// Kills the process that erases secrets at each of its calls, and looks for the bytes of old values in all files.

import CSimulation
import Foundation
import KeptEngine
import KeptSystem
import KeptValues

struct Secrets {
  private let folder: String
  private let key: KeyName

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "kept-secrets-\(UUID().uuidString)").path
    key = try KeyName("token")
  }

  /// - Returns: after how many kills no file had the bytes of a secret that was replaced.
  func judge(rounds: Int) throws -> Int {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    recorder_start()
    defer { recorder_stop() }
    for round in 0..<rounds {
      let calls = UInt32(round % Self.calls)
      try Life.makeEmpty(folder)
      try prepare()
      recorder_reset()
      try run(dyingAfter: calls, seed: round / Self.calls)
      let engine = try open()
      // The first one may only finish the checkpoint of the process that was killed.
      for _ in 0..<2 { _ = engine.maintain(now: .max / 2) }
      try look(at: engine, "killed after \(calls) calls")
      engine.close()
    }
    return rounds
  }

  // More than the calls of all steps.
  private static let calls = 200

  private func open() throws -> Engine { try Engine(try OpenFolder.own(folder)) }

  /// A store whose checkpoint and history have values that will be secret.
  private func prepare() throws {
    let engine = try open()
    for number in 1...3 as ClosedRange<Int64> { try set(engine, .string("plain-\(number)"), second: 10 * number) }
    try engine.checkpoint()
    engine.close()
  }

  /// - Parameter seed: whether each step is followed by a checkpoint.
  private func run(dyingAfter calls: UInt32, seed: Int) throws {
    let engine = try open()
    recorder_die(calls)
    defer { recorder_revive() }
    // Once it is dead, nothing has an effect.
    do {
      try declare(engine)
      maintain(engine, seed & 1)
      for number in 1...3 as ClosedRange<Int64> {
        try set(engine, .string("hush-\(number)"), second: 100 * number, erases: true)
        maintain(engine, seed >> number & 1)
      }
      try set(engine, nil, second: 900, erases: true)
      maintain(engine, seed >> 4 & 1)
      if seed >> 5 & 1 == 1 { engine.close() }
    } catch {}
  }

  private func maintain(_ engine: Engine, _ isSkipped: Int) { if isSkipped == 0 { _ = engine.maintain(now: .max / 2) } }

  private func set(_ engine: Engine, _ value: Value?, second: Int64, erases: Bool = false) throws {
    try engine.commit { chain, writer throws(StoreError) in
      try writer.begin(
        FrameHead(
          writer: engine.author, revision: chain.revision + 1, time: second * 1_000_000_000, erases: erases))
      if let value { try writer.add(value, for: key) } else { try writer.add(.removed, for: key) }
      try writer.end()
    }
  }

  private func declare(_ engine: Engine) throws {
    try engine.commit { chain, writer throws(StoreError) in
      try writer.begin(FrameHead(writer: engine.author, revision: chain.revision + 1, time: 0, erases: true))
      try writer.add(.declared, "{\"secret\":true}", for: key)
      try writer.end()
    }
  }

  private func look(at engine: Engine, _ place: String) throws {
    let state = try engine.read { chain throws(StoreError) in try chain.state(of: key) }
    guard state.declaration != nil else { return }
    let old = ["plain-1", "plain-2", "plain-3", "hush-1", "hush-2", "hush-3"].filter { state.value != .string($0) }
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
      let bytes = try Data(contentsOf: URL(filePath: folder + "/" + name))
      for text in old where bytes.range(of: Data(text.utf8)) != nil { Life.fail("\(place): \(name) has \(text)") }
    }
  }
}
