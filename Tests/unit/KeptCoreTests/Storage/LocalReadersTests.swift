// Readers without a lock, next to commits and new checkpoints of the same and of another process.

import CPlatform
import Foundation
import KeptEngine
import KeptSchema
import KeptSystem
import KeptValues
import Synchronization
import Testing

@testable import KeptCore

@Suite struct LocalReadersTests {
  private let folder: LocalFolder
  init() throws { folder = try LocalFolder() }

  /// Opens a store whose checkpoint has some values.
  private func open(_ values: [String: Value]) throws -> LocalStorage {
    try {
      let writer = try folder.open(); try set(values, in: writer); try writer.engine.checkpoint()
    }()
    return try folder.open()
  }

  private func set(_ values: [String: Value], in storage: LocalStorage) throws {
    var batch = Batch()
    for (key, value) in values { batch.edit(try KeyName(key), .set(value)) }
    _ = try storage.commit(batch)
  }

  /// What readers of a handle find in memory; nil if the storage must be asked.
  private func known(_ key: String, _ store: Store) throws -> Value?? {
    try KeyName(key).withPrepared { store.known($0) }
  }

  /// The text that readers of a handle find in memory.
  private func text(_ key: String, _ store: Store) throws -> String? {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 6000, alignment: 8)
    defer { buffer.deallocate() }
    var length = 0
    guard let memory = buffer.baseAddress else { return nil }
    let found = try KeyName(key).withPrepared { store.reads.readString($0, memory, buffer.count, &length) }
    return found == .value ? String(decoding: buffer[..<length], as: UTF8.self) : nil
  }

  @Test func `values are read from the image, each kind in its way`() throws {
    var values = Dictionary(uniqueKeysWithValues: Value.oneOfEachKind.enumerated().map { ("kind.\($0)", $1) })
    values["ü"] = "\u{e9}\u{301}"
    for length in [0, 1, 7, 8, 31, 32, 33, 63, 64, 65, 5000] {
      values["text.\(length)"] = .string(String(repeating: "x", count: length))
    }
    let storage = try open(values)
    let store = Store(storage: storage)
    for (key, value) in values {
      #expect(try store.value(forKey: key) == value, "\(key)")
      let isLong = value.asString.map { $0.utf8.count > 1024 } ?? false
      #expect(try known(key, store) == (isLong ? nil : .some(value)), "\(key)")
      if let text = value.asString { #expect(try self.text(key, store) == text, "\(key)") }
    }
    #expect(try known("nothing", store) == .some(nil))
    let hasShort = values.filter { _, value in
      switch value {
      case .bool, .int, .double: true
      case .string(let text): text.utf8.count <= KEPT_RECORDS_TEXT && text.utf8.allSatisfy { 1..<0x80 ~= $0 }
      default: false
      }
    }
    let hasVeryLong = values.filter { $0.value.asString?.utf8.count == 5000 }
    #expect(storage.entryCount == values.count - hasShort.count - hasVeryLong.count, "only what takes long to read")
  }

  @Test func `many keys that another process has changed since a checkpoint are read after a put as it has left them`()
    throws
  {
    let keys = (0..<18_000).map { "key.\($0)" }
    let storage = try open(Dictionary(uniqueKeysWithValues: (keys + ["own"]).map { ($0, 0) }))
    let writer = try folder.open()
    try writer.engine.checkpoint()
    // A longer batch would not be in the index.
    for start in stride(from: 0, to: keys.count, by: 1000) {
      try set(Dictionary(uniqueKeysWithValues: keys[start..<start + 1000].map { ($0, 1) }), in: writer)
    }
    let store = Store(storage: storage)
    #expect(try store.value(forKey: "own") == 0)
    _ = try store.put(2, for: KeyName("own"), ifRevision: nil)
    #expect(try store.value(forKey: "own") == 2)
    for key in keys.prefix(100) { #expect(try store.value(forKey: key) == 1) }
  }

  @Test func `a value that is put at once is the one that other processes read`() throws {
    let (one, other) = (try open(["key": 0]), try folder.open())
    let (store, key) = (Store(storage: one), try KeyName("key"))
    let long = [Value.string(String(repeating: "long", count: 2000)), .string(String(repeating: "short", count: 800))]
    var revision = try one.revision()
    for value in Value.oneOfEachKind + long + [7] {
      let stored = try one.entry(for: key)?.value
      revision += stored == value ? 0 : 1
      #expect(try store.put(value, for: key, ifRevision: nil) == revision)
      for storage in [one, other] {
        let state = try storage.engine.read { chain throws(StoreError) in try chain.state(of: key) }
        #expect(state == KeyState(value: value, declaration: nil, revision: revision, changed: revision))
        #expect(try storage.entry(for: key) == Entry(value: value, revision: revision))
      }
      #expect(try store.value(forKey: "key") == value)
    }
    #expect(try one.engine.read { $0.heads(after: 0)?.count } == nil)
    let heads = try [one, other].map { try $0.engine.read { Array($0.heads(after: $0.values.header.revision) ?? []) } }
    #expect(heads[0] == heads[1])
  }

  @Test func `what has changed since the checkpoint hides the image`() throws {
    let (one, other) = (try folder.open(), try folder.open())
    try set(["a": 1, "b": 2, "c": 3], in: one)
    try one.engine.checkpoint()
    let store = Store(storage: one)
    #expect(try store.value(forKey: "a") == 1)
    try other.commit(KeyName("a"), .remove)
    try set(["b": .string(String(repeating: "long", count: 2000))], in: other)
    for _ in 0..<2 {
      #expect(try known("a", store) == nil, "another process has committed")
      #expect(try store.value(forKey: "a") == nil)
      #expect(try store.value(forKey: "b")?.asString?.utf8.count == 8000)
      #expect(try known("a", store) == .some(nil))
      #expect(try store.value(forKey: "c") == 3)
      #expect(try known("c", store) == .some(3))
      try set(["d": 1], in: other)
    }
    try other.engine.checkpoint()
    #expect(try store.value(forKey: "a") == nil)
    #expect(try store.value(forKey: "b")?.asString?.utf8.count == 8000)
    #expect(try store.value(forKey: "c") == 3)
    #expect(try known("a", store) == .some(nil))
  }

  @Test func `a declaration decides what a key in the image reads as`() throws {
    let writer = try folder.open()
    try set(["wrong": "text", "right": 5, "old": 7], in: writer)
    var batch = Batch()
    for key in ["default", "wrong", "right"] {
      batch.declare(try KeyName(key), try Declaration(json: #"{"type":"integer","default":3}"#))
    }
    batch.isAdmittedAsItIs = true
    _ = try writer.commit(batch)
    try writer.engine.checkpoint()
    let store = Store(storage: try folder.open())
    for _ in 0..<2 {
      #expect(try store.value(forKey: "default") == 3)
      #expect(try store.value(forKey: "wrong") == 3)
      #expect(try store.value(forKey: "right") == 5)
    }
    #expect(try known("default", store) == .some(3))
    #expect(try known("wrong", store) == .some(3))
    #expect(try known("right", store) == .some(5))
  }

  @Test func `a snapshot stays as it was`() throws {
    let storage = try folder.open()
    var values = (0..<3000).map { ("key.\($0)", Value.int(Int64($0))) }
    try set(Dictionary(uniqueKeysWithValues: values), in: storage)
    try storage.engine.checkpoint()
    try set(["key.5": "since the checkpoint"], in: storage)
    values[5].1 = "since the checkpoint"
    let snapshot = try storage.engine.snapshot()
    for round in 0..<4 {
      try set(Dictionary(uniqueKeysWithValues: values.map { ($0.0, .int(Int64(-round))) }), in: storage)
      try storage.engine.checkpoint()
      for (key, value) in values { #expect(try snapshot.chain.state(of: KeyName(key)).value == value) }
    }
    #expect(try storage.value(KeyName("key.7")) == -3)
  }

  /// Reads a key; if the index `changes`, it does so in the middle, for the same generation.
  private func read(
    _ key: String, _ storage: LocalStorage, changes: Bool,
    _ finish: (UnsafePointer<kept_seqlock_section>, PreparedBytes) -> Int
  ) throws -> Int {
    var (context, section) = (kept_read_context(), kept_seqlock_section())
    (context.generation, context.header) = (storage.generationAddress, storage.header)
    return try withUnsafePointer(to: &context) { context in
      #expect(kept_seqlock_begin(context, &section))
      if changes { storage.readers.index.gate.close { storage.generation } }
      return try KeyName(key).withPrepared { finish(&section, $0) }
    }
  }

  // A single key has the first place of its hash. Without it, everything is looked for.
  @Test(arguments: [false, true]) func `a number that was read during a change is not used`(changes: Bool) throws {
    let storage = try open(["number": 7])
    let store = Store(storage: storage)
    #expect(try store.value(forKey: "number") != nil)
    for finish in [kept_image_finish_word, kept_image_search_word] {
      var word: UInt64 = 1
      let kind = try read("number", storage, changes: changes) {
        finish($0, $1.bytes.baseAddress, $1.bytes.count, $1.hash, &word)
      }
      #expect(kind == (changes ? KEPT_SLOT_NONE : KEPT_SLOT_INT))
      #expect(word == (changes ? 1 : 7))
    }
  }

  @Test(arguments: [false, true]) func `text that was read during a change is not used`(changes: Bool) throws {
    let storage = try open(["text": "77"])
    let store = Store(storage: storage)
    #expect(try store.value(forKey: "text") != nil)
    for finish in [kept_image_finish_text, kept_image_search_text] {
      var (text, length): ([CChar], Int) = ([1, 1, 1], 1)
      let kind = try read("text", storage, changes: changes) {
        finish($0, $1.bytes.baseAddress, $1.bytes.count, $1.hash, &text, text.count, &length)
      }
      #expect(kind == (changes ? KEPT_SLOT_NONE : KEPT_SLOT_TEXT))
      #expect(text == (changes ? [1, 1, 1] : [0x37, 0x37, 0]))
      #expect(length == (changes ? 1 : 2))
    }
  }

  @Test func `a record is found by its place, and without one by the hash table`() throws {
    // More than there is room for at the first places of their hashes, and keys of all lengths.
    var values = Dictionary(uniqueKeysWithValues: (0..<20_000).map { ("key.\($0)", Value.int(Int64($0))) })
    for length in 1...40 { values[String(repeating: "k", count: length)] = .int(Int64(-length)) }
    let storage = try open(values)
    let store = Store(storage: storage)
    // A block is in the image when it is needed for the second time.
    for _ in 0..<2 { for (key, value) in values { #expect(try store.value(forKey: key) == value) } }
    for (key, value) in values { #expect(try known(key, store) == .some(value), "\(key)") }
    #expect(try known("key.20000", store) == .some(nil))
    #expect(storage.entryCount == 0, "a key that is only in the image takes no other memory")
  }

  @Test func `a checkpoint waits for readers that are inside the image before`() throws {
    let (reader, writer) = (try folder.open(), try folder.open())
    try set(Dictionary(uniqueKeysWithValues: (0..<3000).map { ("key.\($0)", .int(1)) }), in: writer)
    try writer.engine.checkpoint()
    _ = try reader.value(KeyName("key.0"))
    let (isInside, isOver, index) = (Monitor(false), Monitor(false), reader.readers.index)
    Thread.detachNewThread {
      _ = index.gate.pass(at: index.generation) { () -> Bool? in
        isInside.update { $0 = true }
        let values = reader.readers.values
        while index.gate.generation % 2 == 0, reader.readers.values === values { sched_yield() }
        // The gate was closed, and this reader goes on, as one whose block comes from a slow disk.
        for number in 0..<3000 {
          if reader.readers.values !== values { Issue.record("the image was changed with a reader inside") }
          sched_yield()
          let found = (try? KeyName("key.\(number)"))?.withPrepared { values?.entry(of: $0, under: index) ?? nil }
          if found?.value != .int(1) { Issue.record("read \(String(describing: found))") }
        }
        return true
      }
      isOver.update { $0 = true }
    }
    isInside.wait { $0 ? () : nil }
    for round in 2...4 {
      try set(Dictionary(uniqueKeysWithValues: (0..<3000).map { ("key.\($0)", .int(Int64(round))) }), in: writer)
      try writer.engine.checkpoint()
      #expect(try reader.value(KeyName("key.1")) == .int(Int64(round)))
    }
    isOver.wait { $0 ? () : nil }
    for number in 0..<3000 { #expect(try reader.value(KeyName("key.\(number)")) == 4) }
  }

  /// A text that repeats a number, in parts of eight bytes.
  private static func text(_ number: Int64, parts: Int) -> String {
    let digits = String(number)
    return String(repeating: String(repeating: "0", count: 8 - digits.utf8.count) + digits, count: parts)
  }

  /// The number of such a text; nil if its parts differ.
  private static func number(_ text: String) -> Int64? {
    let bytes = Array(text.utf8)
    let parts = stride(from: 0, to: bytes.count, by: 8).map { Array(bytes[$0..<min($0 + 8, bytes.count)]) }
    guard let first = parts.first, parts.allSatisfy({ $0 == first }) else { return nil }
    return String(decoding: first, as: UTF8.self).drop { $0 == "0" }.isEmpty
      ? 0 : Int64(String(decoding: first, as: UTF8.self))
  }

  private static let keys = (0..<120).map { "key.\($0)" }

  /// Commits a number under every key, each with text of some length, between records that move.
  private func write(_ number: Int64, to storage: LocalStorage, _ numbers: inout SeededRandom) throws {
    var values: [String: Value] = [:]
    for (index, key) in Self.keys.enumerated() {
      values[key] = .string(Self.text(number, parts: [1, 4, 8, 30][index % 4]))
      values[key + ".number"] = .int(number)
      let filler = Int.random(in: 0..<1500, using: &numbers)
      values["key.\(index)a"] = .bytes(Array(repeating: UInt8(index), count: filler))
    }
    try set(values, in: storage)
  }

  /// Reads until the writer is done: no value is torn, or older than one that was committed before it was read.
  private static func read(_ store: Store, _ progress: Progress) {
    let prepared = keys.compactMap { key in
      (try? KeyName(key)).flatMap { name in (try? KeyName(key + ".number")).map { (PreparedKey(name), PreparedKey($0)) }
      }
    }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 300, alignment: 8)
    defer { buffer.deallocate() }
    var index = 0
    while !progress.isDone.load(ordering: .acquiring) {
      let (text, number) = prepared[index % prepared.count]
      index += 7
      let least = progress.committed.load(ordering: .acquiring)
      do {
        var (word, length, found): (Int64, Int, [Int64?]) = (0, 0, [])
        // From memory, if it is there; otherwise through the storage.
        if store.readInt64(number.prepared, &word) == .value { found.append(word) }
        found.append(try store.value(forKey: number.name.text)?.asInt64)
        if index % 3 == 0 { found.append(try store.entry(for: number.name)?.value?.asInt64) }
        var texts = [try store.value(forKey: text.name.text)?.asString ?? ""]
        if let memory = buffer.baseAddress,
          store.reads.readString(text.prepared, memory, buffer.count, &length) == .value
        {
          texts.append(String(decoding: buffer[..<length], as: UTF8.self))
        }
        for text in texts {
          if let number = Self.number(text) { found.append(number) } else { Issue.record("torn: \(text)") }
        }
        for number in found where number ?? -1 < least {
          Issue.record("read \(number ?? -1), and \(least) was committed before")
        }
      } catch { Issue.record(error) }
    }
  }

  @Test(arguments: [false, true])
  func `reads race with commits and checkpoints`(ofAnotherProcess: Bool) throws {
    let reader = try folder.open()
    let writer = ofAnotherProcess ? try folder.open() : reader
    var numbers = SeededRandom(7)
    try write(1, to: writer, &numbers)
    let store = Store(storage: reader)
    let (progress, ended) = (Progress(), Monitor(0))
    for _ in 0..<3 {
      Thread.detachNewThread {
        Self.read(store, progress)
        ended.update { $0 += 1 }
      }
    }
    for round: Int64 in 2...60 {
      try write(round, to: writer, &numbers)
      progress.committed.store(round, ordering: .releasing)
      if round % 2 == 0 { try writer.engine.checkpoint() }
    }
    progress.isDone.store(true, ordering: .releasing)
    ended.wait { $0 == 3 ? () : nil }
  }
}

/// What the writer of a test tells its readers.
private final class Progress: Sendable {
  let committed = Atomic<Int64>(1)
  let isDone = Atomic<Bool>(false)
}

extension LocalStorage {
  /// How many keys have memory of their own.
  fileprivate var entryCount: Int { readers.index.table.count }
}
