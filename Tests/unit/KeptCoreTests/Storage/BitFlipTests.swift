// Single bits and lengths of every file of a store, changed at places that a seed selects: opening and reading never
// crash or hang. A key has its value, or there is an error, or the opening says that the store was salvaged.

import Foundation
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite struct `After a flipped bit` {
  let folder: TemporaryFolder
  let path: String
  private static let count = ProcessInfo.processInfo.environment["KEPT_KEYS"].flatMap(Int.init) ?? 200
  /// scripts/torture runs more of them, with another seed.
  private static let flips = ProcessInfo.processInfo.environment["KEPT_FLIPS"].flatMap(Int.init) ?? 100
  private static let seed = ProcessInfo.processInfo.environment["KEPT_SEED"].flatMap(UInt64.init) ?? 1

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/store"
  }

  @Test(arguments: ["values.sqlite", "values.sqlite-wal", "journal"])
  func `a store opens, or says why not, and reads nothing that is damaged`(file: String) throws {
    let image = try Image(of: path, count: Self.count)
    var random = Seeded(Self.seed)
    for _ in 0..<Self.flips {
      let flip = Flip(in: image.files[file]?.count ?? 0, &random)
      try image.restore { name, bytes in name == file ? flip.apply(bytes) : bytes }
      try check(flip, image)
    }
  }

  @Test func `a database that was truncated next to its log gives no zeros for values`() throws {
    // All values were checkpointed into the database; the log has the pages written since, which are not the last ones.
    let image = try Image(of: path, count: Self.count, isMoreInLog: false)
    let count = image.files["values.sqlite"]?.count ?? 0
    for length in stride(from: count - 1, to: 0, by: -max(1, 4 * count / Self.flips)) {
      let flip = Flip(byte: 0, bit: 0, length: length)
      try image.restore { name, bytes in name == "values.sqlite" ? flip.apply(bytes) : bytes }
      try check(flip, image)
      #expect(FileManager.default.fileExists(atPath: path + "/quarantine"), "\(flip) was not noticed")
    }
  }

  @Test func `or a cut, of the pulse, everything is there`() throws {
    let image = try Image(of: path, count: 3)
    // Its words, and a part of the rest or all of it.
    for byte in Array(0..<200) + Array(stride(from: 200, to: 4096, by: max(1, 97 * 250 / Self.flips))) {
      for flip in [Flip(byte: byte, bit: 3, length: nil), Flip(byte: 0, bit: 0, length: byte)] {
        try image.restore { name, bytes in name == "pulse" ? flip.apply(bytes) : bytes }
        let storage = try LocalStorage(path: path)
        for index in 0..<3 { #expect(try storage.value(key("k\(index)")) == Image.value(index), "\(flip)") }
        #expect(try storage.commit(key("k0"), .set("new")).revision == 4, "\(flip)")
        #expect(try storage.value(key("k0")) == "new")
        #expect(try storage.salvaged() == nil, "\(flip)")
      }
    }
  }

  /// Reads all keys twice: the second open finds what the first has repaired.
  private func check(_ flip: Flip, _ image: Image) throws {
    for _ in 0..<2 {
      do throws(StoreError) {
        let storage = try LocalStorage(path: path)
        defer { storage.close() }
        let isSalvaged = try storage.salvaged() != nil
        for index in 0..<Self.count {
          do throws(StoreError) {
            let value = try storage.entry(for: KeyName("k\(index)"))?.value
            let isRight = value == Image.value(index) || value == nil && isSalvaged
            #expect(isRight, "\(flip) gave k\(index) the value \(value?.json ?? "none")")
          } catch {
            #expect(error.code == .corrupt, "\(flip): \(error)")
          }
        }
        _ = try? storage.commit(key("new"), .set(1))
      } catch {
        #expect([.corrupt, .unsupported].contains(error.code), "\(flip): \(error)")
      }
    }
  }
}

/// A changed bit, or another length of a file.
private struct Flip: CustomStringConvertible {
  let byte: Int
  let bit: Int
  let length: Int?

  init(byte: Int, bit: Int, length: Int?) { (self.byte, self.bit, self.length) = (byte, bit, length) }

  init(in count: Int, _ random: inout Seeded) {
    // Half of them in the critical part: the first hundred bytes of a page.
    let place = Int.random(in: 0..<max(1, count), using: &random)
    byte = Bool.random(using: &random) ? place : place / 1024 * 1024 + place % 100
    bit = Int.random(in: 0..<8, using: &random)
    switch Int.random(in: 0..<8, using: &random) {
    case 0: length = place
    case 1: length = count + place % 3000
    default: length = nil
    }
  }

  func apply(_ bytes: Data) -> Data {
    if let length { return bytes.prefix(length) + Data(repeating: 0x6B, count: max(0, length - bytes.count)) }
    var bytes = bytes
    if byte < bytes.count { bytes[byte] ^= 1 << UInt8(bit) }
    return bytes
  }

  var description: String { length.map { "a length of \($0)" } ?? "bit \(bit) of byte \(byte)" }
}

/// A store's files, with half of the values in the database, a quarter in its log, and a quarter in the journal alone.
private struct Image {
  let path: String
  var files: [String: Data] = [:]

  /// - Parameter isMoreInLog: if false, all values are in the database, and the log has only the page of the store's
  ///   row.
  init(of path: String, count: Int, isMoreInLog: Bool = true) throws {
    self.path = path
    let inDatabase = isMoreInLog ? count / 2 : count
    let first = try LocalStorage(path: path)
    for index in 0..<inDatabase { try first.commit(key("k\(index)"), .set(Self.value(index))) }
    first.close()
    guard isMoreInLog else {
      let connection = try SQLiteConnection(path: path + "/values.sqlite", busyTimeoutMilliseconds: 0)
      try connection.run("UPDATE store SET schema_version = 1")
      try read()
      withExtendedLifetime(connection) {}
      return
    }
    let storage = try LocalStorage(path: path)
    let inLog = (inDatabase + count) / 2
    for index in inDatabase..<inLog { try storage.commit(key("k\(index)"), .set(Self.value(index))) }
    // This settles.
    _ = try storage.copy(into: path + "/copy")
    for index in inLog..<count { try storage.commit(key("k\(index)"), .set(Self.value(index))) }
    try read()
    storage.close()
  }

  private mutating func read() throws {
    for name in ["values.sqlite", "values.sqlite-wal", "journal", "pulse"] {
      files[name] = try Data(contentsOf: URL(fileURLWithPath: path + "/" + name))
    }
  }

  /// Some are longer than a page, and continue in other pages.
  static func value(_ index: Int) -> Value {
    .string(String(repeating: "k\(index)-", count: index % 10 == 0 ? 700 : 8))
  }

  func restore(_ change: (String, Data) -> Data) throws {
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    for (name, bytes) in files { try change(name, bytes).write(to: URL(fileURLWithPath: path + "/" + name)) }
  }
}

/// SplitMix64: produces the same numbers on every machine.
private struct Seeded: RandomNumberGenerator {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
