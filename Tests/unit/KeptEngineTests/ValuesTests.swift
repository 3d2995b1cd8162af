// Checkpoints: records are found by key, listed in order, and never read when they are damaged.

import CPlatform
@testable import KeptEngine
import KeptValues
import Testing

@Suite struct ValuesTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private struct Known: Equatable {
    var value: [UInt8]
    var declaration: String
    var flags: UInt8
    var revision: Revision
  }

  /// Writes a checkpoint of some keys, and returns its contents.
  @discardableResult
  private func write(
    _ count: Int, sizes: (inout SeededRandom) -> Int, seed: UInt64 = 1
  ) throws -> [String: Known] {
    var numbers = SeededRandom(seed)
    var known: [String: Known] = [:]
    for _ in 0..<count {
      let key = String(
        (0..<Int.random(in: 1...30, using: &numbers)).map { _ in "abc.é".randomElement(using: &numbers) ?? "a" })
      let size = sizes(&numbers)
      let isRemoved = Int.random(in: 0..<8, using: &numbers) == 0
      let isDeclared = !isRemoved && Int.random(in: 0..<4, using: &numbers) == 0
      known[key] = Known(
        value: isRemoved ? [] : (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) },
        declaration: isDeclared ? #"{"type":"bytes"}"# : "",
        flags: isRemoved ? RecordFlags.removal.rawValue : isDeclared ? RecordFlags.declared.rawValue : 0,
        revision: .random(in: 1...1000, using: &numbers))
    }
    var header = ValuesHeader(store: StoreID(high: 1, low: 2), number: 5, position: 4096, previous: 77)
    (header.revision, header.schemaVersion, header.note, header.limits) = (1000, 3, #"{"a":1}"#, "{}")
    header.lists = [Array("a list".utf8).withUnsafeBytes { DeclaredList($0, of: header.store, version: 1) }]
    unlink(folder.path + "/values")
    let writer = ValuesWriter(folder.make("values"), header)
    for (key, one) in known.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
      try Array(key.utf8).withUnsafeBytes { key in
        try one.value.withUnsafeBytes { value in
          try Array(one.declaration.utf8).withUnsafeBytes { declaration in
            try writer.add(
              Record(
                key: key, value: StoredValue(kind: one.value.isEmpty ? 0 : 6, payload: value), declaration: declaration,
                flags: RecordFlags(rawValue: one.flags), revision: one.revision, changed: one.revision + 1))
          }
        }
      }
    }
    let written = try writer.finish()
    #expect(written.keys == UInt64(known.values.filter { $0.flags != RecordFlags.removal.rawValue }.count))
    #expect(try ValuesReader(folder.open("values")).header == written)
    #expect(written.seed != 0, "an author of keys cannot know their places")
    return known
  }

  private func known(_ record: Record) -> Known {
    Known(
      value: Array(record.value.payload), declaration: String(decoding: record.declaration, as: UTF8.self),
      flags: record.flags.rawValue, revision: record.revision)
  }

  private func record(of key: String, in reader: ValuesReader) throws -> Known? {
    let window = BlockWindow(reader)
    return try withExtendedLifetime(window) {
      try Array(key.utf8).withUnsafeBytes { try reader.record(of: $0, in: window).map(known) }
    }
  }

  private static let sizes: [@Sendable (inout SeededRandom) -> Int] = [
    { _ in 8 },
    { .random(in: 0...5000, using: &$0) },
    { Int.random(in: 0..<10, using: &$0) == 0 ? .random(in: 0...60_000, using: &$0) : .random(in: 1...40, using: &$0) },
    { _ in 4096 - 32 - 8 },
    { _ in 8192 },
  ]

  @Test(arguments: [0, 1, 2, 100, 3000], 0..<sizes.count)
  func `each key is found, and no other`(count: Int, sizes: Int) throws {
    let all = try write(count, sizes: Self.sizes[sizes])
    let reader = try ValuesReader(folder.open("values"))
    for (key, one) in all { #expect(try record(of: key, in: reader) == one) }
    for key in ["", "zzz", "a\u{0}", "é", "nothing"] where all[key] == nil {
      #expect(try record(of: key, in: reader) == nil)
    }
  }

  @Test(arguments: [1, 2, 50, 2000], 0..<sizes.count)
  func `records are listed in order from any key on`(count: Int, sizes: Int) throws {
    let all = try write(count, sizes: Self.sizes[sizes])
    let keys = all.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    for start in ["", "a", "b.", "c", "zzz"] + keys.enumerated().filter({ $0.offset % 37 == 0 }).map(\.element) {
      let reader = try ValuesReader(folder.open("values"))
      var found: [String] = []
      try Array(start.utf8).withUnsafeBytes { start in
        try reader.forEachRecord(from: start) { record throws(StoreError) in
          found.append(String(decoding: record.key, as: UTF8.self))
          return true
        }
      }
      #expect(found == keys.filter { !$0.utf8.lexicographicallyPrecedes(start.utf8) })
    }
  }

  @Test func `listing ends when it is told to`() throws {
    try write(500, sizes: { _ in 8 })
    var count = 0
    let none = UnsafeRawBufferPointer(start: nil, count: 0)
    try ValuesReader(folder.open("values")).forEachRecord(from: none) { _ throws(StoreError) in
      count += 1
      return count < 10
    }
    #expect(count == 10)
  }

  @Test func `a changed bit is never another value`() throws {
    let all = try write(200, sizes: Self.sizes[2], seed: 3)
    let original = try folder.contents("values")
    var (refused, damaged) = (0, 0)
    for byte in stride(from: 0, to: original.count, by: max(1, original.count / 300)) {
      var bytes = original
      bytes[byte] ^= 1 << (byte % 8)
      try folder.write(bytes, to: "values")
      let reader: ValuesReader
      do { reader = try ValuesReader(folder.open("values")) } catch {
        #expect(error.code == .corrupt)
        refused += 1
        continue
      }
      for (key, one) in all {
        do { #expect(try record(of: key, in: reader) == one, "byte \(byte)") } catch {
          #expect((error as? StoreError)?.code == .corrupt)
          damaged += 1
        }
      }
    }
    #expect(refused > 0)
    #expect(damaged > 0)
  }

  @Test func `a damaged block costs its own keys only`() throws {
    let all = try write(2000, sizes: { _ in 40 })
    var bytes = try folder.contents("values")
    bytes[3 * 4096 + 100] ^= 1
    try folder.write(bytes, to: "values")
    let reader = try ValuesReader(folder.open("values"))
    let lost = all.keys.filter { (try? record(of: $0, in: reader)) == nil }
    #expect(1...100 ~= lost.count)
  }

  @Test func `a small file is read at once, and a damaged block of it is damaged later`() throws {
    let all = try write(400, sizes: { _ in 40 })
    var bytes = try folder.contents("values")
    #expect(bytes.count < 64 << 10)
    bytes[2 * 4096 + 100] ^= 1
    try folder.write(bytes, to: "values")
    let reader = try ValuesReader(folder.open("values"))
    // Whatever happens to the file.
    try folder.write([], to: "values")
    let lost = all.keys.filter { (try? record(of: $0, in: reader)) == nil }
    #expect(1...100 ~= lost.count)
  }

  @Test func `a read that fails is not damage, and can be tried again`() throws {
    let all = try write(3000, sizes: { _ in 40 })
    let (file, key) = (folder.open("values"), try #require(all.keys.sorted().last))
    let reader = try ValuesReader(file)
    let window = BlockWindow(reader)
    func found() throws -> Known? {
      try Array(key.utf8).withUnsafeBytes { try reader.record(of: $0, in: window).map(known) }
    }
    func reopen(_ flags: Int32) {
      let other = kept_open_at(folder.descriptor, "values", flags, 0)
      dup2(other, file.descriptor)
      close(other)
    }
    reopen(O_WRONLY)
    #expect(throws: StoreError.self) { try found() }.map { #expect($0.code != .corrupt) }
    var damaged = 0
    let listing = #expect(throws: StoreError.self) {
      try Array(key.utf8).withUnsafeBytes { key in
        let note = { (_: UnsafeRawBufferPointer?, _: StoreError) throws(StoreError) in
          damaged += 1
          return true
        }
        try reader.forEachRecord(from: key, damaged: note) { _ throws(StoreError) in true }
      }
    }
    #expect(listing?.code != .corrupt && damaged == 0)
    reopen(O_RDONLY)
    #expect(try found() == all[key])
  }

  @Test func `a reader keeps what is read twice, until it has many blocks in memory`() throws {
    unlink(folder.path + "/values")
    let header = ValuesHeader(store: StoreID(high: 1, low: 2), number: 5, position: 4096, previous: 77)
    var (pauses, syncs) = (0, 0)
    let writer = ValuesWriter(folder.make("values"), header) { file in
      pauses += 1
      if file != nil { syncs += 1 }
    }
    let keys = (0..<17_000).map { Array("key\(100_000 + $0)".utf8) }
    let none = UnsafeRawBufferPointer(start: nil, count: 0)
    try Array(repeating: UInt8(7), count: 4000).withUnsafeBytes { value in
      for key in keys {
        try key.withUnsafeBytes { key in
          try writer.add(
            Record(
              key: key, value: StoredValue(kind: 6, payload: value), declaration: none, flags: [], revision: 1,
              changed: 1))
        }
      }
    }
    _ = try writer.finish()
    #expect(pauses > 10 && syncs > 2, "a fork and a close need not wait for its end, nor a sync for all of it")
    let reader = try ValuesReader(folder.open("values"))
    func read(_ keys: some Sequence<[UInt8]>, _ reader: ValuesReader) throws -> [Bool] {
      try keys.map { key in
        let window = BlockWindow(reader)
        let found = try key.withUnsafeBytes { try reader.record(of: $0, in: window)?.value.payload.count }
        #expect(found == 4000)
        return !window.isUsed
      }
    }
    #expect(try read(keys, reader).count { $0 } == 0, "what is read once is not kept")
    #expect(try read(keys, reader).count { $0 } > 16_000)
    for _ in 0..<100 { _ = try read(keys.suffix(700), reader) }
    #expect(reader.isFull)
    let again = try ValuesReader(again: reader)
    #expect(!again.isFull)
    // A listing takes no memory of the image.
    var listed = 0
    try again.forEachRecord(from: none) { _ throws(StoreError) in
      listed += 1
      return true
    }
    #expect(listed == keys.count)
    #expect(!again.isFull)
  }

  @Test func `a file of another length is damaged`() throws {
    try write(300, sizes: { _ in 40 })
    let original = try folder.contents("values")
    for count in [0, 1, 4095, 4096, original.count - 1, original.count + 1, original.count + 4096] {
      try folder.write(
        original.prefix(count) + Array(repeating: 0, count: max(0, count - original.count)), to: "values")
      #expect(throws: StoreError.self) { try ValuesReader(folder.open("values")) }
    }
  }
}
