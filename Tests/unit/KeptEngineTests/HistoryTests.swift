// The values that commits have replaced: while the commits are in a journal, and after a checkpoint.

import CPlatform
import Foundation
@testable import KeptEngine
import KeptSystem
import KeptValues
import Testing

@Suite struct HistoryTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private func open() throws -> Engine { try Engine(try OpenFolder.own(folder.path)) }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().filter { $0.hasPrefix("history") }
  }

  @Test func `an old value is in the history, before and after a checkpoint`() throws {
    let engine = try open()
    // Not of a secret.
    try engine.declare("a", #"{"title":"secret","type":"integer"}"#)
    for number in 1...5 as ClosedRange<Int64> { try engine.set("a", .int(number), second: number) }
    try engine.set("a", nil, second: 9)
    let before = try engine.past()
    let expected: [Value?] = [nil, .int(1), .int(2), .int(3), .int(4), .int(5)]
    #expect(try before.changes.map { try $0.old.value() } == expected)
    #expect(before.changes.first?.old == .absent)
    #expect(before.completeAfter == 0)
    try engine.checkpoint()
    #expect(try engine.past() == before)
    try engine.set("a", .int(7), second: 11)
    try engine.checkpoint()
    #expect(try names() == ["history.1"])
    let after = try engine.past()
    #expect(after.changes.dropLast() == before.changes[...])
    #expect(after.changes.last?.old == .absent)
    engine.close()
    #expect(try open().past() == after)
    #expect(try ReadOnlyEngine(try OpenFolder.own(folder.path)).past { past, _ in past } == after)
  }

  @Test func `a part of the commits in checkpoints has the same history as all of them in frames`() throws {
    var numbers = SeededRandom(7)
    let engine = try open()
    let another = try TestFolder()
    let other = try Engine(try OpenFolder.own(another.path))
    for step in 0..<600 as Range<Int64> {
      let key = try KeyName("k\(Int.random(in: 0..<9, using: &numbers))")
      let size = Int.random(in: 0..<40, using: &numbers) == 0 ? 70_000 : Int.random(in: 0..<400, using: &numbers)
      let value: Value? = step % 11 == 0 ? nil : .bytes(Array(repeating: UInt8(step % 256), count: size))
      for engine in [engine, other] { try engine.set(key, value, second: step * 2) }
      if step % 37 == 0 { try engine.checkpoint() }
    }
    let (past, expected) = (try engine.past(), try other.past())
    #expect(past.changes.map(\.old) == expected.changes.map(\.old))
    #expect(past.changes.map(\.key) == expected.changes.map(\.key))
    #expect(past.completeAfter == 0 && past.changes.count == expected.changes.count)
  }

  @Test func `commits within a second are one change, unless another commit is in between`() throws {
    let engine = try open()
    for number in 1...5 as ClosedRange<Int64> { try engine.set("a", .int(number), second: 1) }
    try engine.set("b", .int(1), second: 1)
    try engine.set("a", .int(6), second: 1)
    try engine.set("a", .int(7), second: 3)
    for _ in 0..<2 {
      let changes = try engine.past().changes
      #expect(changes.map(\.revision) == [6, 7, 8])
      #expect(changes.map(\.first) == [6, 1, 8])
      #expect(changes.map(\.time) == [1000, 1000, 3000])
      try engine.checkpoint()
    }
  }

  @Test func `commits within a second are one change in a salvaged store too, whose revisions are high`() throws {
    let revision: Revision = 1 << 50
    try Backup.write([], revision: revision, schemaVersion: 0, to: folder.make("values")) { _, _ in true }
    let engine = try open()
    for number in 1...3 as ClosedRange<Int64> { try engine.set("a", .int(number), second: 1) }
    let changes = try engine.past().changes
    #expect(changes.map(\.first) == [revision + 1] && changes.map(\.revision) == [revision + 3])
  }

  @Test func `a change with a tag has its old value, also in the file`() throws {
    let engine = try open()
    for number in 1...3 as ClosedRange<Int64> {
      try engine.commit { chain, writer throws(StoreError) in
        try writer.begin(
          FrameHead(writer: 1, revision: chain.revision + 1, time: number * 5_000_000_000, tag: "käse \(number)"))
        try writer.add(.int(number), for: "a")
        try writer.end()
      }
    }
    let before = try engine.past()
    #expect(before.changes.map(\.tag) == ["käse 1", "käse 2", "käse 3"])
    try engine.checkpoint()
    #expect(try engine.past() == before)
  }

  @Test func `damage at the beginning of a long file leaves the later changes`() throws {
    let engine = try open()
    for number in 1...40 as ClosedRange<Int64> {
      try engine.set("a", .bytes(Array(repeating: UInt8(number), count: 5000)), second: 2 * number)
    }
    let good = try engine.past().changes
    try engine.checkpoint()
    var bytes = try folder.contents("history.1")
    bytes[100] ^= 1
    try folder.write(bytes, to: "history.1")
    let past = try engine.past()
    #expect(10..<40 ~= past.changes.count && past.changes[...] == good.suffix(past.changes.count))
    #expect(past.completeAfter == Revision(40 - past.changes.count))
  }

  @Test func `a commit that restores an old value is a change of its own`() throws {
    let engine = try open()
    for number in [1, 2, 3, 1, 2, 4] as [Int64] { try engine.set("a", .int(number), second: 1) }
    #expect(try engine.past().changes.map(\.revision) == [6])
    for value in [nil, .int(4), .int(5), nil] as [Value?] { try engine.set("a", value, second: 10) }
    #expect(try engine.past().changes.map(\.revision) == [6, 7, 9, 10])
  }

  @Test func `what is beyond the limits leaves the file`() throws {
    let engine = try open()
    for number in 1...40 as ClosedRange<Int64> {
      try engine.set("a", .string("old value \(number)"), second: 2 * number)
    }
    try engine.checkpoint()
    #expect(try holds("old value 7"))
    try engine.set(limits: #"{"changes":10}"#)
    let past = try engine.past()
    #expect(past.completeAfter == 30)
    #expect(past.changes.count == 10)
    try engine.checkpoint()
    #expect(try engine.past() == past)
    #expect(try names() == ["history.2"])
    #expect(try !holds("old value 7") && holds("old value 36"))
    try engine.set(limits: #"{"days":0}"#)
    try engine.checkpoint()
    #expect(try names() == [])
    #expect(try engine.past().completeAfter == 40)
    try engine.set(limits: #"{}"#)
    try engine.set("a", .int(1), second: 90)
    try engine.checkpoint()
    #expect(try names() == ["history.4"])
    #expect(try engine.past().changes.map(\.revision) == [41])
  }

  @Test func `days count from the last change`() throws {
    let engine = try open()
    try engine.set(limits: #"{"days":3}"#)
    for day in [1, 2, 10, 11, 12] as [Int64] { try engine.set("a", .int(day), second: day * 86_400) }
    for _ in 0..<2 {
      #expect(try engine.past().completeAfter == 2)
      try engine.checkpoint()
    }
    #expect(try engine.past().changes.map(\.revision) == [3, 4, 5])
  }

  @Test func `a key with more changes than are kept has a mark for the others, also in the file`() throws {
    let engine = try open()
    try engine.set(limits: #"{"changesPerKey":2}"#)
    for number in 1...5 as ClosedRange<Int64> { try engine.set("a", .int(number), second: 2 * number) }
    let before = try engine.past()
    #expect(before.changes.map(\.revision) == [3, 4, 5] && before.changes.first?.old == .forgotten)
    try engine.checkpoint()
    #expect(try engine.past() == before)
    #expect(try Verification.findings(in: OpenFolder.own(folder.path)) == [])
  }

  @Test func `the file is written again when it has much beyond the limits`() throws {
    let engine = try open()
    try engine.set(limits: #"{"bytes":1000}"#)
    var numbers: Set<String> = []
    for number in 1...2000 as ClosedRange<Int64> {
      try engine.set("a", .bytes(Array(repeating: 1, count: 500)), second: 2 * number)
      try engine.set("a", nil, second: 2 * number + 1)
      if number % 50 == 0 { try engine.checkpoint() }
      numbers.formUnion(try names())
    }
    #expect(try folder.contents(try #require(try names().first)).count < 150_000)
    #expect(2...40 ~= numbers.count)
    #expect(try engine.past().changes.count == 2)
  }

  @Test func `a key that is declared secret leaves the file`() throws {
    let engine = try open()
    for number in 1...9 as ClosedRange<Int64> { try engine.set("a", .string("hush \(number)"), second: 2 * number) }
    try engine.checkpoint()
    #expect(try holds("hush 3"))
    try engine.declare("a", #"{"type":"string","secret":true}"#)
    #expect(try engine.past().changes.map(\.old) == [.absent] + Array(repeating: .secret, count: 8))
    try engine.checkpoint()
    #expect(try engine.past().changes.map(\.old) == [.absent] + Array(repeating: .secret, count: 8))
    try engine.set("a", .string("hush 10"), second: 100)
    #expect(try engine.past().changes.last?.old == .secret)
    try engine.checkpoint()
    try engine.set("a", nil, second: 200)
    try engine.checkpoint()
    #expect(try !holds("hush"))
    #expect(try engine.past().changes.map(\.old).last == .secret)
  }

  private func holds(_ text: String) throws -> Bool {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).contains {
      Data(try folder.contents($0)).range(of: Data(text.utf8)) != nil
    }
  }

  /// Each byte of the file is changed: what is known is right, and ends before the damage.
  @Test func `damage shortens the history, and never changes it`() throws {
    let engine = try open()
    for number in 1...12 as ClosedRange<Int64> {
      try engine.set("a", .int(number), second: 2 * number)
      if number % 3 == 0 { try engine.checkpoint() }
    }
    let (good, bytes) = (try engine.past(), try folder.contents("history.1"))
    func check(_ damaged: [UInt8], _ place: Int) throws {
      try folder.write(damaged, to: "history.1")
      let past = try engine.past()
      #expect(past.changes[...] == good.changes.suffix(past.changes.count), "\(place)")
      #expect(past.completeAfter == Revision(12 - past.changes.count), "\(place)")
      #expect(past.changes.count < 12)
    }
    for place in bytes.indices {
      var damaged = bytes
      damaged[place] ^= UInt8(1 << (place % 8))
      try check(damaged, place)
      try check(Array(bytes[..<place]), place)
    }
    try folder.write(bytes + bytes, to: "history.1")
    #expect(try engine.past() == good)
    unlink(folder.path + "/history.1")
    #expect(try engine.past().completeAfter == 12)
    // The next checkpoint begins again.
    try engine.set("a", .int(13), second: 30)
    try engine.checkpoint()
    #expect(try engine.past().changes.map(\.revision) == [13])
    #expect(try names() == ["history.2"])
  }

  @Test(arguments: [0, 1]) func `a checkpoint that begins the history again says so, and keeps the damaged one`(
    block: Int
  ) throws {
    let engine = try open()
    for number in 1...2 as ClosedRange<Int64> {
      try engine.set("a", .int(number), second: 2 * number)
      try engine.checkpoint()
    }
    var bytes = try folder.contents("history.1")
    bytes[block * (bytes.count - 1)] ^= 1
    try folder.write(bytes, to: "history.1")
    // Too little is left of it to be continued, or too much.
    if block == 0 { try engine.set(limits: #"{"changes":1}"#) }
    try engine.set("a", .int(3), second: 9)
    try engine.checkpoint()
    #expect(try names() == ["history.2"])
    let note = try open().read { $0.note }
    let place = try #require(note.split(separator: "\"").last { $0.hasPrefix("quarantine/") })
    #expect(try folder.contents("\(place)/history.1") == bytes)
    try engine.set("a", .int(4), second: 12)
    try engine.checkpoint()
    #expect(try engine.read { $0.note } == note)
  }

  @Test func `a length that a file claims needs no memory`() throws {
    let engine = try open()
    try engine.set("a", .int(1), second: 1)
    try engine.checkpoint()
    var bytes = try folder.contents("history.1")
    bytes.replaceSubrange(bytes.count - 8..<bytes.count - 4, with: [0xF8, 0xFF, 0xFF, 0xFF])
    try folder.write(bytes, to: "history.1")
    #expect(try engine.past().completeAfter == 1)
  }
}

extension Engine {
  func past() throws -> Past { try past { past, _ in past } }

  /// Sets or removes a key at some second.
  func set(_ key: KeyName, _ value: Value?, second: Int64, erases: Bool = false) throws {
    try commit { chain, writer throws(StoreError) in
      try writer.begin(
        FrameHead(writer: author, revision: chain.revision + 1, time: second * 1_000_000_000, erases: erases))
      if let value { try writer.add(value, for: key) } else { try writer.add(.removed, for: key) }
      try writer.end()
    }
  }

  func set(limits: ExactString) throws { try add(.historyLimits, limits, nil, 0) }
  func declare(_ key: KeyName, _ declaration: ExactString) throws { try add(.declared, declaration, key, 1) }

  private func add(_ effect: FrameEffect, _ json: ExactString, _ key: KeyName?, _ more: Revision) throws {
    try commit { chain, writer throws(StoreError) in
      try writer.begin(FrameHead(writer: author, revision: chain.revision + more, time: 0))
      try writer.add(effect, json, for: key)
      try writer.end()
    }
  }
}
