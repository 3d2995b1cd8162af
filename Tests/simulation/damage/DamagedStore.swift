// A store whose files are damaged, one after the other: no value may be wrong, and no more may be lost than was damaged
// in them.

import CPlatform
import Foundation
package import KeptEngine
import KeptSystem
package import KeptValues

/// What a damaged store has done that no store may do.
package struct Fault: Error, CustomStringConvertible {
  package let description: String
}

/// A folder with the files of one store, which are written again for each damage.
package final class DamagedStore {
  package let folder: String
  /// The present files, those from before the last checkpoint, and those of another store.
  package private(set) var files: [String: [UInt8]] = [:]
  package private(set) var yesterday: [String: [UInt8]] = [:]
  package private(set) var foreign: [String: [UInt8]] = [:]
  /// The values that each key has had; the last one is the present one.
  package private(set) var values: [KeyName: [Value?]] = [:]

  // The names of the files that may have changed since they were written.
  private var changed: Set<String>?
  private let manager = FileManager.default

  package init(_ folder: String, keys: Int) throws {
    self.folder = folder
    let engine = try Self.make(in: folder + "-foreign")
    for number in 0..<20 { try Self.set(engine, KeyName("k\(number)"), .string("foreign"), second: 1) }
    try engine.checkpoint()
    try Self.set(engine, KeyName("k1"), .string("foreign"), second: 2)
    engine.close()
    foreign = try contents(of: folder + "-foreign")
    try manager.removeItem(atPath: folder + "-foreign")
    try fill(keys)
  }

  deinit { try? manager.removeItem(atPath: folder) }

  /// The names of the files, in order.
  package var names: [String] { files.keys.sorted() }
  package var journal: String { names.first { $0.hasPrefix("journal") } ?? "" }

  private func fill(_ keys: Int) throws {
    let engine = try Self.make(in: folder)
    var second: Int64 = 0
    func set(_ number: Int, _ value: Value?) throws {
      second += 2
      let key = try KeyName("k\(number)")
      try Self.set(engine, key, value, second: second)
      values[key, default: [nil]].append(value)
    }
    for number in 0..<keys {
      switch number % 4 {
      case 0: try set(number, .int(Int64(number)))
      case 1: try set(number, .string("value \(number) ü"))
      case 2: try set(number, .bytes(Array(repeating: UInt8(truncatingIfNeeded: number), count: number % 90)))
      default: try set(number, .array([.double(Double(number)), .bool(true)]))
      }
    }
    try set(3, .bytes(Self.long(9000)))
    try set(7, .bytes(Self.long(20_000)))
    try engine.checkpoint()
    for number in stride(from: 0, to: keys, by: 5) { try set(number, .int(Int64(-number))) }
    yesterday = try contents(of: folder)
    try engine.checkpoint()
    for number in stride(from: 1, to: keys, by: keys / 20 + 1) { try set(number, .string("later \(number)")) }
    try set(2, nil)
    try set(keys, .bytes(Self.long(6000)))
    try set(keys + 1, .bool(true))
    files = try contents(of: folder)
  }

  /// Bytes that contain nothing like a frame or a record.
  private static func long(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) } }

  // MARK: - Judging

  package struct Outcome {
    /// The keys that have their present value, after the store was opened twice.
    package var right: Set<KeyName> = []
    package var isSalvaged = false
    /// What a check of the files has found before they were opened.
    package var findings: [Finding] = []
  }

  /// Writes the files with some of them changed, or without those that are nil, and reads everything.
  ///
  /// Throws a ``Fault`` if a value is wrong, or if the store cannot be opened.
  package func judge(_ damage: [String: [UInt8]?], _ place: String) throws -> Outcome {
    try layOut(damage)
    var outcome = Outcome()
    do {
      outcome.findings = try Verification.findings(in: try OpenFolder.own(folder))
      for isLast in [false, true] {
        if isLast, outcome.right.count == values.count, !outcome.isSalvaged, !isMarked { break }
        try read(&outcome, isLast, place)
      }
      if outcome.isSalvaged { changed = nil }
    } catch let error as StoreError {
      throw Fault(description: "\(place): \(error)")
    }
    if isMarked { throw Fault(description: "\(place): the mark is left") }
    if outcome.findings.isEmpty, outcome.isSalvaged || outcome.right.count < values.count {
      throw Fault(description: "\(place): the check of the files has found nothing")
    }
    return outcome
  }

  private var isMarked: Bool { access(folder + "/damaged", F_OK) == 0 }

  private func read(_ outcome: inout Outcome, _ isLast: Bool, _ place: String) throws {
    let engine = try Engine(try OpenFolder.own(folder))
    outcome.isSalvaged = try engine.read { $0.note != "" }
    outcome.right = []
    var (listed, twice): ([KeyName: Bool]?, KeyName?) = ([:], nil)
    do throws(StoreError) {
      try engine.read { chain throws(StoreError) in
        try chain.forEachState(below: "") { key, state throws(StoreError) in
          if listed?.updateValue((try? state.get()) != nil, forKey: key) != nil { twice = key }
        }
      }
    } catch {
      // No listing leaves out a key whose name is damaged.
      guard error.code == .corrupt, !isLast else { throw error }
      listed = nil
    }
    if let twice { throw Fault(description: "\(place): \(twice) is listed twice") }
    for (key, known) in values {
      do {
        let found = try engine.read { chain throws(StoreError) in try chain.state(of: key).value }
        guard found == known.last || outcome.isSalvaged && known.contains(found) else {
          throw Fault(description: "\(place): \(key) is \(found.map(String.init(describing:)) ?? "absent")")
        }
        if found == known.last { outcome.right.insert(key) }
        if found != nil, let listed, listed[key] != true { throw Fault(description: "\(place): \(key) is not listed") }
      } catch let error as StoreError {
        if isLast || error.code != .corrupt { throw Fault(description: "\(place): \(key): \(error)") }
      }
    }
    for change in try engine.past({ past, _ in past }).changes {
      if let old = try change.old.value(), values[change.key]?.contains(old) != true {
        throw Fault(description: "\(place): the history has \(old) of \(change.key)")
      }
    }
    guard isLast, outcome.isSalvaged else { return }
    // It goes on.
    let key = try KeyName("k1")
    try Self.set(engine, key, .string("after"), second: 1 << 30)
    try engine.checkpoint()
    guard try engine.read({ chain throws(StoreError) in try chain.state(of: key).value }) == .string("after") else {
      throw Fault(description: "\(place): a commit after the salvage is lost")
    }
  }

  /// Writes the files with some of them changed.
  package func layOut(_ damage: [String: [UInt8]?]) throws {
    if changed == nil {
      for name in try manager.contentsOfDirectory(atPath: folder) {
        try manager.removeItem(atPath: folder + "/" + name)
      }
    }
    for (name, bytes) in files where changed?.contains(name) ?? true && damage[name] == nil {
      try write(bytes, to: name)
    }
    for name in changed ?? [] where files[name] == nil { unlink(folder + "/" + name) }
    for (name, bytes) in damage { if let bytes { try write(bytes, to: name) } else { unlink(folder + "/" + name) } }
    changed = Set(damage.keys).union(["pulse", journal, "damaged"])
  }

  private func write(_ bytes: [UInt8], to name: String) throws {
    let file = open(folder + "/" + name, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    defer { close(file) }
    guard file >= 0, bytes.withUnsafeBytes({ kept_engine_write(file, $0.baseAddress, $0.count, 0) }) == 0 else {
      throw Fault(description: "cannot write \(name)")
    }
  }

  // MARK: - Making stores

  private static func make(in folder: String) throws -> Engine {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    return try Engine(try OpenFolder.own(folder))
  }

  private static func set(_ engine: Engine, _ key: KeyName, _ value: Value?, second: Int64) throws {
    try engine.commit { chain, writer throws(StoreError) in
      try writer.begin(
        FrameHead(writer: engine.author, revision: chain.revision + 1, time: second * 1_000_000_000))
      if let value { try writer.add(value, for: key) } else { try writer.add(.removed, for: key) }
      try writer.end()
    }
  }

  private func contents(of folder: String) throws -> [String: [UInt8]] {
    var found: [String: [UInt8]] = [:]
    for name in try manager.contentsOfDirectory(atPath: folder) {
      found[name] = Array(try Data(contentsOf: URL(filePath: folder + "/" + name)))
    }
    return found
  }
}
