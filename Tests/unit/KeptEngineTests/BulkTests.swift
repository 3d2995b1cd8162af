// Commits of many keys, which are kept in the format of their frames: they read as others do.

import CPlatform
import Foundation
@testable import KeptEngine
import KeptSystem
import KeptValues
import Testing

@Suite struct BulkTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private func open() throws -> Engine { try Engine(try OpenFolder.own(folder.path)) }

  /// Changes a state in one of many ways, and adds that to a frame.
  private func change(
    _ state: inout KeyState, of key: KeyName, at revision: Revision, _ step: Int, _ writer: FrameWriter,
    _ numbers: inout SeededRandom
  ) throws(StoreError) {
    let kind = Int.random(in: 0..<12, using: &numbers)
    if kind == 0 {
      (state.value, state.revision) = (nil, revision)
      try writer.add(.removed, for: key)
    }
    if kind == 1 || kind == 2 {
      state.declaration = "{\"type\":\"bytes\",\"title\":\"\(step)\"}"
      try writer.add(.declared, ExactString(state.declaration ?? ""), for: key)
    }
    if kind == 3 {
      state.declaration = nil
      try writer.add(.undeclared, for: key)
    }
    // Also after a declaration in the same frame.
    if kind == 2 || kind > 3 {
      let size = Int.random(in: 0..<200, using: &numbers) == 0 ? 5000 : 10
      let value: Value = kind == 4 ? .string("é\(step)") : .bytes(Array(repeating: UInt8(step % 256), count: size))
      (state.value, state.revision) = (value, revision)
      try writer.add(value, for: key)
    }
    state.changed = revision
  }

  private func check(_ engine: Engine, _ model: [KeyName: KeyState], _ step: Int) throws {
    try engine.read { chain throws(StoreError) in
      for (key, state) in model where try chain.state(of: key) != state { Issue.record("step \(step), \(key)") }
      for prefix in ["", "k77", "none"] as [ExactString] {
        var found: [KeyName] = []
        try chain.forEachState(below: prefix) { key, state throws(StoreError) in
          found.append(key)
          if try state.get() != model[key] { Issue.record("step \(step), \(key)") }
        }
        let isWhole = found == model.keys.filter { $0.exact.hasPrefix(prefix) }.sorted()
        #expect(isWhole, "step \(step), \(prefix)")
        let last = model.filter { $0.key.exact.hasPrefix(prefix) }.map(\.value.changed).max() ?? 0
        #expect(try chain.lastChange(below: prefix, after: 0) == last)
      }
      let sorted = model.keys.sorted()
      for keys in [Array(sorted.prefix(3)), sorted + ["none"]] {
        var next = 0
        try chain.forEachState(of: keys) { index, state throws(StoreError) in
          let expected = try chain.state(of: keys[index])
          if index != next || state ?? expected != expected { Issue.record("step \(step), \(keys[index])") }
          next += 1
        }
        #expect(next == keys.count, "step \(step)")
      }
      for base in [chain.revision / 2, chain.revision &- 2] {
        let changes = try chain.changes(after: base) ?? []
        let areAll = changes.map(\.key) == model.filter { $0.value.changed > base }.keys.sorted()
        #expect(areAll, "step \(step), after \(base)")
      }
    }
  }

  @Test(arguments: 1...2) func `many keys at once agree with a model`(seed: UInt64) throws {
    var numbers = SeededRandom(seed)
    var model: [KeyName: KeyState] = [:]
    var engines = [try open(), try open()]
    let keys = try (0..<5000).map { try KeyName("k\($0)") }
    for step in 1...24 {
      let engine = engines[step % 2]
      let isBulk = step % 3 != 0
      let chosen = isBulk ? keys.shuffled(using: &numbers).prefix(4500) : keys.shuffled(using: &numbers).prefix(3)
      try engine.commit { chain, writer throws(StoreError) in
        let revision = chain.revision + 1
        try writer.begin(FrameHead(writer: engine.author, revision: revision, time: 0))
        // Frames in the order of the keys, and in any.
        for key in step % 2 == 0 ? chosen.sorted() : Array(chosen) {
          var state = model[key] ?? KeyState(value: nil, declaration: nil, revision: 0, changed: 0)
          try change(&state, of: key, at: revision, step, writer, &numbers)
          model[key] = state
        }
        try writer.end()
      }
      if step % 7 == 0 { try engine.checkpoint() }
      if step % 8 == 0 { engines = [try open(), try open()] }
      if step % 5 == 0 { try check(engines[0], model, step) }
    }
    #expect(try ReadOnlyEngine(try OpenFolder.own(folder.path)).read { $0.hasBulk })
  }

  @Test func `a commit with more changes than the history keeps is followed by what it has led to`() throws {
    let other = try TestFolder()
    let engines = [try open(), try Engine(try OpenFolder.own(other.path))]
    let long = Value.bytes(Array(repeating: 7, count: 5000))
    for (index, engine) in engines.enumerated() {
      func checkpoint() throws { if index == 1 { try engine.checkpoint() } }
      try engine.set("k1", .int(1), second: 1)
      try engine.set("k2", .int(1), second: 1)
      try engine.commit { chain, writer throws(StoreError) in
        try writer.begin(FrameHead(writer: 1, revision: chain.revision + 1, time: 5_000_000_000))
        try writer.add(.declared, #"{"secret":true}"#, for: "k4")
        for number in 0..<10_100 {
          let key = try KeyName("k\(number)")
          if number == 2 {
            try writer.add(.removed, for: key)
          } else {
            try writer.add(number == 3 ? long : .int(Int64(number)), for: key)
          }
        }
        try writer.end()
      }
      // What the long frame has left is read from its changes in one store, and from a checkpoint in the other.
      try checkpoint()
      for (number, key) in (["k1", "k2", "k3", "k4", "k5", "new"] as [KeyName]).enumerated() {
        try engine.set(key, .int(-1), second: Int64(10 + 5 * number))
      }
    }
    let (past, expected) = (try engines[0].past(), try engines[1].past())
    #expect(past == expected)
    #expect(past.completeAfter == 3)
    #expect(
      past.changes.map(\.old) == [
        int(1), .absent, .value(kind: 6, payload: Array(repeating: 7, count: 5000)),
        .secret, int(5), .absent,
      ])
    try engines[0].checkpoint()
    #expect(try engines[0].past() == expected)
  }

  @Test func `a long commit with no more changes than the history keeps is in it`() throws {
    let engine = try open()
    try engine.set(limits: #"{"changes":100}"#)
    let lists = (1...2).map { version in
      Array("a list".utf8).withUnsafeBytes { DeclaredList($0, of: StoreID(high: 1, low: 2), version: version) }
    }
    for value in 1...2 as ClosedRange<Int64> {
      try engine.commit { chain, writer throws(StoreError) in
        try writer.begin(FrameHead(writer: 1, revision: chain.revision + 1, time: value * 5_000_000_000))
        for number in 0..<BulkChanges.least {
          try writer.add(.int(value), for: try KeyName("k\(number)"))
          guard number == 10 else { continue }
          if value == 1 {
            try writer.add(.historyLimits, "{}")
          } else {
            try writer.add(schemaVersion: 7)
            try writer.add(lists)
          }
        }
        try writer.end()
      }
      try open().read { chain throws(StoreError) in
        #expect((chain.schemaVersion, chain.overlay.lists) == (value == 1 ? (0, []) : (7, lists)))
        for number in [9, 10, 11, 4095] {
          #expect(try chain.state(of: KeyName("k\(number)")).value == .int(value))
        }
      }
    }
    let before = try engine.past()
    #expect((before.completeAfter, before.changes.count) == (0, 2 * BulkChanges.least))
    try engine.checkpoint()
    #expect(try engine.past() == before)
  }

  @Test func `a commit of as many keys as the history keeps is in it, and may have replaced all keys`() throws {
    let engine = try open()
    try engine.set("k1", .int(0), second: 1)
    try engine.checkpoint()
    #expect(try engine.read { $0.surelyHasKeys })
    try engine.set(limits: ExactString("{\"changes\":\(BulkChanges.least)}"))
    try engine.commit { chain, writer throws(StoreError) in
      try writer.begin(FrameHead(writer: 1, revision: chain.revision + 1, time: 5_000_000_000))
      for number in 0..<BulkChanges.least { try writer.add(.int(1), for: KeyName("k\(number)")) }
      try writer.end()
    }
    #expect(try engine.past().changes.count == BulkChanges.least)
    #expect(try !engine.read { $0.surelyHasKeys })
  }

  @Test func `a commit of this process keeps the declaration that one of many keys has made`() throws {
    final class Follower: EngineFollower {
      func follow(_ chain: Chain, changed keys: [KeyName]?) {}
      func leave() {}
      func follow(_ chain: Chain, edits: [KeyEdit]) {}
    }
    let engine = try Engine(try OpenFolder.own(folder.path), follower: Follower())
    try engine.commit { chain, writer throws(StoreError) in
      try writer.begin(FrameHead(writer: 1, revision: 1, time: 0))
      for number in 0..<BulkChanges.least { try writer.add(.int(1), for: KeyName("k\(number)")) }
      try writer.add(.declared, "{}", for: "k1")
      try writer.end()
    }
    try engine.commit { chain, writer throws(StoreError) in
      try writer.begin(FrameHead(writer: 1, revision: 2, time: 0), notesEdits: true)
      try writer.add(.int(2), for: "k1")
      try writer.end()
      #expect(writer.edits?.count == 1)
    }
    #expect(
      try engine.state(of: "k1") == KeyState(value: .int(2), declaration: "{}", revision: 2, changed: 2))
  }

  private func int(_ number: Int64) -> OldValue {
    .value(kind: 2, payload: withUnsafeBytes(of: number.littleEndian) { Array($0) })
  }

  @Test func `the changes between two marks are read, and added to another frame, which is moved`() throws {
    let (one, other, place) = (FrameWriter(), FrameWriter(), FramePlace(journal: 1, position: 0, previous: 0))
    one.begin(at: place)
    try one.begin(FrameHead(writer: 1, revision: 1, time: 0, tag: "t"))
    try one.add(.int(1), for: "a")
    let start = one.mark
    try one.add(.string("text"), for: "b")
    try one.add(.removed, for: "c")
    let end = one.mark
    try one.add(.int(4), for: "d")
    try one.end()
    other.begin(at: place)
    try other.begin(FrameHead(writer: 1, revision: 1, time: 0))
    let begin = other.mark
    try other.add(one, from: start, to: end)
    try other.end()
    #expect(other.hasPayload)
    var (read, added): ([KeyName], [KeyName]) = ([], [])
    let (first, last) = (start.moved(from: start, to: begin), end.moved(from: start, to: begin))
    try other.forEachChange(from: first, to: last) { change throws(StoreError) in added.append(try change.keyName()) }
    #expect(added == ["b", "c"])
    added = []
    try one.forEachChange(from: start, to: end) { change throws(StoreError) in read.append(try change.keyName()) }
    let frame = try CommitFrame(other.bytes)
    try frame.forEachChange { change throws(StoreError) in added.append(try change.keyName()) }
    #expect(read == ["b", "c"])
    #expect(added == ["b", "c"])
    #expect(frame.count == 2)

    let later = FramePlace(journal: 2, position: 800, previous: 5)
    other.move(to: later, revision: 9, time: 7)
    let built = FrameWriter()
    built.begin(at: later)
    try built.begin(FrameHead(writer: 1, revision: 9, time: 7))
    try built.add(.string("text"), for: "b")
    try built.add(.removed, for: "c")
    try built.end()
    #expect(Array(other.bytes) == Array(built.bytes))
    #expect((other.begin, other.place.position) == (800, built.place.position))
  }

  @Test func `each malformed change is found when the frame is read`() throws {
    let writer = FrameWriter()
    let place = FramePlace(journal: 1, position: 0, previous: 0)
    func bytes(_ value: Value, _ declaration: ExactString? = nil) throws -> [UInt8] {
      writer.begin(at: place)
      try writer.begin(FrameHead(writer: 1, revision: 1, time: 0))
      if let declaration { try writer.add(.declared, declaration, for: "0") } else { try writer.add(value, for: "0") }
      for number in 1..<5000 { try writer.add(.bool(true), for: KeyName("\(number)")) }
      try writer.end()
      return Array(writer.bytes)
    }
    let journal = Journal(
      folder.make("journal.0"), JournalHeader(store: .random(), journal: 1, number: 0), begin: 0)
    func isRead(_ bytes: [UInt8]) -> Bool {
      bytes.withUnsafeBytes { bytes in
        guard let frame = try? CommitFrame(bytes) else { return false }
        return (try? BulkChanges(frame, at: 0, in: journal) { _ in }) != nil
      }
    }
    // The head of a frame has 40 bytes, and that of a change 8: effect, kind, key, payload.
    for (value, place, byte) in [
      (Value.int(1), 41, UInt8(0xFF)), (.int(1), 41, 4), (.int(1), 41, 1), (.int(1), 48, 0), (.int(1), 48, 0x80),
      (.string("ab"), 49, 0xFF), (.string("ab"), 41, 8), (.int(1), 40, 9), (.int(1), 42, 0), (.int(1), 44, 9),
    ] {
      let good = try bytes(value)
      #expect(isRead(good))
      var bad = good
      bad[place] = byte
      let stays = place == 41 && byte == 4
      #expect(isRead(bad) == stays, "\(value) with \(byte) at \(place)")
    }
    var bad = try bytes(.null, #"{"type":"integer"}"#)
    #expect(isRead(bad))
    bad[50] = 0xFF
    #expect(!isRead(bad))
  }
}
