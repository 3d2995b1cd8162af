// Each call of each operation is struck, one at a time: the process is killed before it or after it, or the call fails.
// What is left is the state before the operation or after it, and the next process goes on. What was acknowledged as
// durable is on the disk, also if a sync has failed before.

import CSimulation
import Foundation
import KeptEngine
import KeptSystem
import KeptValues
import SimulatedDisk

/// An operation; each of its calls is struck.
private struct Operation {
  let name: String
  /// Whether it begins with no store, or with a damaged one.
  var beginsEmpty = false
  var isSalvage = false
  /// What happens before the first call that is struck.
  var before: (Strikes) throws -> Void = { try $0.open() }
  let run: (Strikes) throws -> Void
}

final class Strikes {
  private let folder: String
  fileprivate var engine: Engine?
  // The values of both keys that the store may have.
  private var known: [Int64?] = [nil]

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "kept-strikes-\(UUID().uuidString)").path
  }

  deinit { for suffix in ["", ".cut"] { try? FileManager.default.removeItem(atPath: folder + suffix) } }

  private static let secret = "not to be found again"

  private let operations = [
    Operation(
      name: "create", beginsEmpty: true, before: { _ in },
      run: {
        try $0.open(); try $0.set(1)
      }),
    Operation(
      name: "open", before: { _ in },
      run: {
        try $0.open(); try $0.set(2)
      }),
    Operation(
      name: "commit",
      run: {
        try $0.set(2); try $0.set(3)
      }),
    Operation(name: "group", run: { try $0.set(2, then: 3) }),
    Operation(
      name: "sync",
      before: {
        try $0.open(); try $0.set(2)
      },
      run: {
        try $0.engine?.sync(); try $0.set(3)
      }),
    Operation(
      name: "long commit",
      run: {
        try $0.set(2, length: 300 << 10); try $0.engine?.sync()
      }),
    Operation(
      name: "checkpoint",
      before: {
        try $0.open(); try $0.set(2)
      },
      run: {
        try $0.engine?.checkpoint(); try $0.set(3); try $0.engine?.checkpoint()
      }),
    Operation(
      name: "limits",
      before: {
        try $0.open(); try $0.limitHistory()
      }, run: { try $0.engine?.checkpoint() }),
    Operation(
      name: "erase",
      before: {
        try $0.open(); try $0.declare(); try $0.set(2, erases: true)
      },
      run: { strikes in for _ in 0..<2 { _ = strikes.engine?.maintain(now: .max / 2) } }),
    Operation(
      name: "close",
      before: {
        try $0.open(); try $0.set(2, length: 9000)
      }, run: { $0.engine?.close() }),
    Operation(name: "salvage", isSalvage: true, before: { _ in }, run: { try $0.open() }),
  ]

  /// - Returns: how many calls were struck.
  func judge() throws -> Int {
    recorder_start()
    defer { recorder_stop() }
    var struck = 0
    for operation in operations {
      for how in [STRIKE_KILL_BEFORE, STRIKE_KILL_AFTER] {
        var call: UInt32 = 0
        while try kill(operation, call, Int32(how)) { call += 1 }
        struck += Int(call)
      }
      for (how, error, losesPulse) in [
        (STRIKE_FAIL, EIO, false), (STRIKE_FAIL, ENOSPC, false), (STRIKE_SHORT, ENOSPC, false),
        (STRIKE_WHOLE, EIO, false), (STRIKE_WHOLE, EIO, true),
      ] {
        var call: UInt32 = 0
        while try fail(operation, call, Int32(how), error, losesPulse) { call += 1 }
        struck += Int(call)
      }
    }
    for call in 0..<30 as Range<UInt32> {
      for others in 0...2 as ClosedRange<Int> { try cutPower(afterKill: call, others: others) }
    }
    return struck
  }

  // MARK: - The parts of operations

  fileprivate func open() throws { engine = try Engine(try OpenFolder.own(folder)) }

  /// Gives both keys a value, and the text a length; then both another value, in a second frame of the same write.
  fileprivate func set(_ value: Int64, length: Int = 10, erases: Bool = false, then other: Int64? = nil) throws {
    guard let engine else { return }
    try engine.commit { chain, writer throws(StoreError) in
      var revision = chain.revision
      for value in [value, other] {
        guard let value else { continue }
        revision += 1
        try writer.begin(
          FrameHead(writer: engine.author, revision: revision, time: value * 2_000_000_000, erases: erases))
        for key in ["first", "second"] { try writer.add(.int(value), for: KeyName(key)) }
        let text = value == 1 ? Self.secret : String(repeating: "x", count: length)
        try writer.add(.string(text), for: KeyName("text"))
        try writer.end()
      }
    }
    known = [other ?? value]
  }

  fileprivate func limitHistory() throws { try add(.historyLimits, ExactString(HistoryLimits(changes: 1).json)) }

  /// Declares that the text is secret.
  fileprivate func declare() throws { try add(.declared, "{\"secret\":true}", KeyName("text")) }

  private func add(_ effect: FrameEffect, _ json: ExactString, _ key: KeyName? = nil) throws {
    try engine?.commit { chain, writer throws(StoreError) in
      try writer.begin(FrameHead(writer: 1, revision: chain.revision + 1, time: 0, erases: key != nil))
      try writer.add(effect, json, for: key)
      try writer.end()
    }
  }

  /// A store with a checkpoint, a history and a journal, whose process has ended without closing it.
  private func prepare(_ operation: Operation) throws {
    engine = nil
    known = [nil]
    recorder_spare()
    recorder_reset()
    try Life.makeEmpty(folder)
    guard !operation.beginsEmpty else { return }
    try open()
    for value in -3...1 as ClosedRange<Int64> {
      try set(value)
      if value == -1 { try engine?.checkpoint() }
    }
    if operation.isSalvage {
      engine = nil
      let path = folder + "/values"
      var bytes = try Data(contentsOf: URL(filePath: path))
      bytes.removeLast(5000)
      try bytes.write(to: URL(filePath: path))
      chmod(path, 0o600)
    }
    engine = nil
  }

  private func run(_ operation: Operation, _ call: UInt32, _ how: Int32, _ error: Int32) throws {
    try operation.before(self)
    recorder_strike(call, how, error)
    try operation.run(self)
  }

  // MARK: - Killing

  /// - Returns: whether the operation has as many calls.
  private func kill(_ operation: Operation, _ call: UInt32, _ how: Int32) throws -> Bool {
    try prepare(operation)
    let place = "\(operation.name), killed \(how == STRIKE_KILL_BEFORE ? "before" : "after") call \(call)"
    let child = recorder_fork()
    if child == 0 {
      let isDone = (try? run(operation, call, how, 0)) != nil
      _exit(isDone ? 0 : 1)
    }
    var status: Int32 = 0
    waitpid(child, &status, 0)
    // In the order of the commits that the operation may have made.
    known = operation.beginsEmpty ? [nil, 1] : operation.isSalvage ? [1] : [1, 2, 3]
    let isKilled = status & 0x7F == SIGKILL
    guard isKilled || status == 0 else { Life.fail("\(place): status \(status)") }
    if !isKilled, operation.name == "commit" { known = [3] }
    try judge(folder, operation, place)
    return isKilled
  }

  /// Opens a store that an operation has left, and goes on.
  private func judge(_ folder: String, _ operation: Operation, _ place: String) throws {
    if !operation.isSalvage, !operation.beginsEmpty {
      let findings = try Verification.findings(in: try OpenFolder.own(folder))
      guard findings.isEmpty else { Life.fail("\(place): \(findings)") }
    }
    do {
      for isLast in [false, true] {
        let engine = try Engine(try OpenFolder.own(folder))
        try look(at: engine, operation, place)
        for _ in 0..<2 { _ = engine.maintain(now: .max / 2) }
        try look(at: engine, operation, place)
        if isLast {
          self.engine = engine
          try set(100)
          try engine.checkpoint()
          try engine.sync()
          try look(at: engine, operation, place)
          engine.close()
          let findings = try Verification.findings(in: try OpenFolder.own(folder))
          guard findings.isEmpty else { Life.fail("\(place): at last: \(findings)") }
        }
      }
    } catch { Life.fail("\(place): the next process: \(error)") }
    if operation.name == "erase" {
      for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
        let bytes = try Data(contentsOf: URL(filePath: folder + "/" + name))
        guard bytes.range(of: Data(Self.secret.utf8)) == nil else { Life.fail("\(place): \(name) has the secret") }
      }
    }
  }

  private func look(at engine: Engine, _ operation: Operation, _ place: String) throws {
    let (first, second, note) = try engine.read { chain throws(StoreError) in
      (try chain.state(of: KeyName("first")).value, try chain.state(of: KeyName("second")).value, chain.note)
    }
    guard first == second else { Life.fail("\(place): a part of a commit: \(first as Any), \(second as Any)") }
    guard known.contains(where: { $0.map { .int($0) } == first }) else {
      Life.fail("\(place): \(first as Any) instead of one of \(known)")
    }
    guard operation.isSalvage || note == "" else { Life.fail("\(place): a salvage without damage") }
  }

  // MARK: - A loss of power after a kill

  /// Kills a process that makes a checkpoint, lets another one go on, and cuts the power at each of its calls.
  ///
  /// The disk keeps no order of names.
  /// - Parameter others: 1 if that one comes while another process has the store open, 2 if a third one was killed,
  ///   too, after it has ended the journal.
  private func cutPower(afterKill call: UInt32, others: Int) throws {
    let operation = Operation(name: "checkpoint", run: { _ in })
    try prepare(operation)
    try open()
    try set(2)
    recorder_die(call)
    _ = try? engine?.checkpoint()
    recorder_revive()
    let other = others > 0 ? engine : nil
    engine = nil
    let begin = recorder_count()
    try withExtendedLifetime(other) {
      try open()
      guard others == 2 else { return }
      recorder_die(14)
      _ = try? engine?.checkpoint()
      recorder_revive()
      try open()
    }
    try engine?.sync()
    let synced = recorder_count()
    try set(50)
    try engine?.sync()
    let end = recorder_count()
    // Nothing that was left is in its way.
    try engine?.checkpoint()
    engine = nil
    var disk = Disk()
    for event in 0..<end {
      disk.add(recorder_event(event).pointee)
      guard event >= begin else { continue }
      for seed in 2..<10 as Range<UInt64> {
        let cut = folder + ".cut"
        try Life.makeEmpty(cut)
        try disk.write(to: cut, seed: seed &* 7919 &+ UInt64(event), inOrder: false)
        // What was committed since the first checkpoint was not synced before.
        known = event + 1 < synced ? [-1, 0, 1, 2] : event + 1 < end ? [2, 50] : [50]
        let place = "killed at call \(call) of a checkpoint, then \(others) others, power lost at event \(event)"
        try judge(cut, operation, place)
      }
    }
  }

  // MARK: - Failing

  /// - Parameter losesPulse: whether the pulse is removed before another process goes on.
  /// - Returns: whether the operation has as many calls.
  private func fail(
    _ operation: Operation, _ call: UInt32, _ how: Int32, _ error: Int32, _ losesPulse: Bool
  ) throws -> Bool {
    try prepare(operation)
    let what = how == STRIKE_SHORT ? "half written" : how == STRIKE_WHOLE ? "written" : "failed"
    let pulse = losesPulse ? ", without a pulse" : ""
    let place = "\(operation.name), \(what) with \(error) at call \(call)\(pulse)"
    // Another process may commit the same as the first frame of a group that was written and has failed.
    let next: Int64 = operation.name == "group" && how == STRIKE_WHOLE ? 2 : 50
    do { try run(operation, call, how, error) } catch let error as StoreError {
      guard error.code != .corrupt else { Life.fail("\(place): \(error)") }
    }
    let isReached = recorder_has_struck()
    recorder_spare()
    guard access(folder + "/damaged", F_OK) != 0 || operation.isSalvage else { Life.fail("\(place): marked") }
    // The same process goes on, if it has the store open.
    do {
      if how == STRIKE_WHOLE { engine = nil }
      if losesPulse { unlink(folder + "/pulse") }
      if engine == nil || operation.name == "close" { try open() }
      if let engine {
        try look(at: engine, operation, place)
        // Which of the values it is, is decided now.
        known = [
          try engine.read { chain throws(StoreError) in
            guard case .int(let value)? = try chain.state(of: KeyName("first")).value else { return nil }
            return value
          }
        ]
        try set(next)
        try engine.sync()
      }
    } catch { Life.fail("\(place): afterwards: \(error)") }
    // The salvage begins with a file that the simulated disk does not have.
    if !operation.isSalvage {
      var disk = Disk()
      for event in 0..<recorder_count() { disk.add(recorder_event(event).pointee) }
      let cut = folder + ".cut"
      try Life.makeEmpty(cut)
      try disk.write(to: cut, seed: 0, inOrder: true)
      try judge(cut, operation, place + ", after a loss of power")
    }
    engine = nil
    known = [next, 100]
    try judge(folder, operation, place)
    return isReached
  }
}
