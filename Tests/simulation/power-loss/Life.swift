// The life of a store in one process, and what must be left of it after each event.

import CSimulation
import Foundation
import KeptEngine
import KeptSystem
import KeptValues
import SimulatedDisk

final class Life {
  private(set) var commits: Int64 = 0
  // For each durable commit that was acknowledged: the events until then, and the commits that it keeps.
  private var durable: [(event: Int, commits: Int64)] = []
  private let folder: String
  private var numbers: UInt64
  // Otherwise the history has every commit.
  private let limitsHistory: Bool

  init(seed: UInt64) throws {
    (numbers, limitsHistory) = (seed, seed % 2 == 0)
    folder = FileManager.default.temporaryDirectory.appending(path: "kept-power-\(UUID().uuidString)").path
    try Self.makeEmpty(folder)
  }

  deinit { for suffix in ["", ".cut"] { try? FileManager.default.removeItem(atPath: folder + suffix) } }

  static func makeEmpty(_ folder: String) throws {
    try? FileManager.default.removeItem(atPath: folder)
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  private func next(_ bound: UInt64) -> UInt64 {
    numbers = numbers &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return (numbers >> 33) % bound
  }

  /// Commits texts of any length, some of them durably, and makes checkpoints.
  func run() throws {
    recorder_start()
    defer { recorder_stop() }
    for _ in 0..<8 {
      let engine = try open()
      for _ in 0..<next(25) { try step(engine) }
      if next(2) == 0 {
        // Killed in the middle; another process may join before it is gone.
        recorder_die(UInt32(next(24)))
        _ = try? engine.checkpoint()
        recorder_revive()
        let other = next(2) == 0 ? try open() : nil
        for _ in 0..<next(5) { try other.map(step) }
        other?.close()
      }
      // Or killed.
      if next(3) > 0 { engine.close() }
      if next(4) == 0 { unlink(folder + "/pulse") }
    }
  }

  private func open() throws -> Engine { try Engine(try OpenFolder.own(folder)) }

  private func step(_ engine: Engine) throws {
    try commit(engine)
    switch next(8) {
    // A sync of it may fail.
    case 0: _ = try? engine.checkpoint()
    case 1, 2:
      // A failed one acknowledges nothing.
      let kept = commits
      if (try? engine.sync()) != nil { durable.append((recorder_count(), kept)) }
    case 3 where limitsHistory: try setLimits(of: engine, to: next(2) == 0 ? 20 : 10_000)
    default: break
    }
  }

  private func setLimits(of engine: Engine, to changes: Int) throws {
    try engine.commit { chain, writer throws(StoreError) in
      try writer.begin(FrameHead(writer: engine.author, revision: chain.revision, time: 0))
      try writer.add(.historyLimits, ExactString(HistoryLimits(changes: changes).json))
      try writer.end()
    }
  }

  private func commit(_ engine: Engine) throws {
    commits += 1
    let number = commits
    let length = next(12) == 0 ? 9000 : Int(next(200))
    try engine.commit { chain, writer throws(StoreError) in
      let revision = chain.revision
      // Two frames that are published together.
      for part in 0...1 as ClosedRange<Revision> {
        try writer.begin(FrameHead(writer: engine.author, revision: revision + 1 + part, time: 0))
        try writer.add(.int(number), for: KeyName(part == 0 ? "first" : "second"))
        try writer.add(.bytes(Array(repeating: UInt8(truncatingIfNeeded: number), count: length)), for: KeyName("text"))
        try writer.add(.int(number), for: KeyName("last"))
        try writer.end()
      }
    }
  }

  /// Lays out what may be left after each event, and opens it.
  ///
  /// - Returns: how many states were opened.
  func judge() throws -> Int {
    var (disk, states) = (Disk(), 0)
    for event in 0...recorder_count() {
      let least = durable.last { $0.event <= event }?.commits ?? 0
      for (seed, inOrder) in [(0, true), (1, true), (2 + event, true), (1000 + event, true), (2000 + event, false)] {
        let cut = folder + ".cut"
        try Self.makeEmpty(cut)
        try disk.write(to: cut, seed: UInt64(seed), inOrder: inOrder)
        try judge(cut, least: least, "after event \(event), seed \(seed)")
        states += 1
      }
      if event < recorder_count() { disk.add(recorder_event(event).pointee) }
    }
    return states
  }

  private func judge(_ folder: String, least: Int64, _ place: String) throws {
    let engine: Engine
    do { engine = try Engine(try OpenFolder.own(folder)) } catch { Self.fail("\(place): \(error)") }
    func number(_ key: String) throws -> Int64 {
      if case .int(let number)? = try engine.read({ chain throws(StoreError) in try chain.state(of: KeyName(key)) })
        .value
      {
        return number
      }
      return 0
    }
    let (first, second, last) = (try number("first"), try number("second"), try number("last"))
    guard first == last || second == last, first - second == 0 || first - second == 1 else {
      Self.fail("\(place): a part of a commit: \(first), \(second), \(last)")
    }
    guard second >= least else { Self.fail("\(place): \(second) commits are left of \(least) durable ones") }
    let revision = try engine.read { $0.revision }
    guard revision == Revision(first + second) else {
      Self.fail("\(place): revision \(revision) after \(first) and \(second)")
    }
    try judgeHistory(engine, upTo: revision, place)
    // It goes on.
    try commit(engine)
    commits -= 1
    try engine.checkpoint()
    try engine.sync()
    try judgeHistory(engine, upTo: revision, place)
  }

  /// Each commit that the limits admit, 6 at least, is in the history once, with what it has replaced.
  private func judgeHistory(_ engine: Engine, upTo revision: Revision, _ place: String) throws {
    let past = try engine.past { past, _ in past }
    var known = past.completeAfter
    guard known == 0 || limitsHistory && known + 4 <= revision else {
      Self.fail("\(place): the history begins after \(known) of \(revision)")
    }
    let key = try KeyName("last")
    for change in past.changes where change.key == key && change.revision <= revision {
      let old: Value? = known == 0 ? nil : .int(Int64(known + 1) / 2)
      guard change.revision == known + 1, try change.old == .forgotten || change.old.value() == old else {
        Self.fail("\(place): the history has \(change) after \(known)")
      }
      known = change.revision
    }
    guard known == revision else { Self.fail("\(place): the history ends with \(known) of \(revision)") }
  }

  static func fail(_ words: String) -> Never {
    print("FAULT \(words)")
    exit(1)
  }
}
