// Single bits and lengths of every file of a store, changed at places that a seed chooses: opening and reading never
// crash or hang, and a key has its value, none, or an error.

import Foundation
import Testing

@testable import KeptCore

@Suite struct `After a flipped bit` {
  let folder: TemporaryFolder
  let path: String
  /// Values have a check in them: a flip inside one is a value that SQLite cannot know to be wrong.
  private static let count = 200
  /// KEPT_FLIPS asks for more.
  private static let flips = ProcessInfo.processInfo.environment["KEPT_FLIPS"].flatMap(Int.init) ?? 250

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/store"
  }

  @Test(arguments: ["values.sqlite", "values.sqlite-wal"])
  func `a store opens, or says why not, and reads no other key's value`(file: String) throws {
    let image = try Image(of: path, count: Self.count)
    var random = Seeded(1)
    for _ in 0..<Self.flips {
      let flip = Flip(in: image.files[file]?.count ?? 0, &random)
      try image.restore { name, bytes in name == file ? flip.apply(bytes) : bytes }
      try check(flip)
    }
  }

  @Test func `or a cut, of the pulse, everything is there`() throws {
    let image = try Image(of: path, count: 3)
    // Its words, and some of the rest, bit by bit.
    for byte in Array(0..<200) + Array(stride(from: 200, to: 4096, by: 97)) {
      for flip in [Flip(byte: byte, bit: 3, cutAt: nil), Flip(byte: 0, bit: 0, cutAt: byte)] {
        try image.restore { name, bytes in name == "pulse" ? flip.apply(bytes) : bytes }
        let storage = try LocalStorage(path: path)
        for index in 0..<3 { #expect(try storage.value(key("k\(index)")) == Image.value(index), "\(flip)") }
        #expect(try storage.commit(key("k0"), .set("new")).revision == 4, "\(flip)")
        #expect(try storage.value(key("k0")) == "new")
        #expect(try storage.salvage() == nil, "\(flip)")
      }
    }
  }

  /// Reads all keys, twice: the second opening finds what the first has mended.
  private func check(_ flip: Flip) throws {
    for _ in 0..<2 {
      do throws(StoreError) {
        let storage = try LocalStorage(path: path)
        defer { storage.close() }
        for index in 0..<Self.count {
          guard let value = try? storage.value(key("k\(index)")) else { continue }
          #expect(Image.isPlausible(value, index), "\(flip) gave k\(index) the value \(value)")
        }
        _ = try? storage.commit(key("new"), .set(1))
      } catch {
        #expect([.corrupt, .unsupported].contains(error.code), "\(flip): \(error)")
      }
    }
  }
}

/// One bit, or the end of a file.
private struct Flip: CustomStringConvertible {
  let byte: Int
  let bit: Int
  let cutAt: Int?

  init(byte: Int, bit: Int, cutAt: Int?) { (self.byte, self.bit, self.cutAt) = (byte, bit, cutAt) }

  init(in count: Int, _ random: inout Seeded) {
    // Half of them where it hurts: in the first hundred bytes of a page.
    let place = Int.random(in: 0..<max(1, count), using: &random)
    byte = Bool.random(using: &random) ? place : place / 4096 * 4096 + place % 100
    bit = Int.random(in: 0..<8, using: &random)
    cutAt = Int.random(in: 0..<4, using: &random) == 0 ? place : nil
  }

  func apply(_ bytes: Data) -> Data {
    if let cutAt { return bytes.prefix(cutAt) }
    var bytes = bytes
    if byte < bytes.count { bytes[byte] ^= 1 << UInt8(bit) }
    return bytes
  }

  var description: String { cutAt.map { "cut at \($0)" } ?? "bit \(bit) of byte \(byte)" }
}

/// A store's files, half of its values in the database and half in the log.
private struct Image {
  let path: String
  var files: [String: Data] = [:]

  init(of path: String, count: Int) throws {
    self.path = path
    let first = try LocalStorage(path: path)
    for index in 0..<count / 2 { try first.commit(key("k\(index)"), .set(Self.value(index))) }
    first.close()
    let storage = try LocalStorage(path: path)
    for index in count / 2..<count { try storage.commit(key("k\(index)"), .set(Self.value(index))) }
    for name in ["values.sqlite", "values.sqlite-wal", "pulse"] {
      files[name] = try Data(contentsOf: URL(fileURLWithPath: path + "/" + name))
    }
    storage.close()
  }

  static func value(_ index: Int) -> Value { .string(String(repeating: "k\(index)-", count: 8)) }

  /// A changed byte or length inside a row is nobody's to notice, a row of another key would be.
  static func isPlausible(_ value: Value, _ index: Int) -> Bool {
    !(0..<200).contains { other in other != index && value == Self.value(other) }
  }

  func restore(_ change: (String, Data) -> Data) throws {
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    for (name, bytes) in files { try change(name, bytes).write(to: URL(fileURLWithPath: path + "/" + name)) }
  }
}

/// SplitMix64: the same numbers on every machine.
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
