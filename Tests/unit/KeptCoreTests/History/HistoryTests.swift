// What users rely on in the history: each change is in it once, with who, when, from what and to what; a secret is not.

import Foundation
@testable import KeptSchema
@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite struct `The history of a store`: HistoricSuite {
  let folder: TemporaryFolder
  let opened = Monitor<HistoricStore?>(nil)
  init() throws { folder = try TemporaryFolder() }

  private func set(_ key: String, _ value: Value, _ tag: String? = nil) throws {
    let transaction = try store.begin(tag: tag)
    if value == .null {
      _ = try transaction.delete(KeyName(key))
    } else {
      _ = try transaction.put(value, for: KeyName(key), ifRevision: nil)
    }
    _ = try transaction.commit()
    try settle()
  }

  private func settle() throws { try historic.settle() }

  @Test(arguments: StorageUnderTest.historical)
  func `is empty at first, and complete from the present`(_ kind: StorageUnderTest) throws {
    let store = try open(kind)
    let history = try store.history()
    #expect(history.changes.isEmpty)
    #expect(history.completeAfter == 0)
    #expect(history.json == #"{"changes":[],"completeAfter":0}"#)
  }

  @Test(arguments: StorageUnderTest.historical)
  func `has each change with its tag, time, old and new value, the newest first`(_ kind: StorageUnderTest) throws {
    let store = try open(kind)
    let before = Timestamp.now
    try set("volume", .int(1), "first")
    try set("volume", .int(2))
    try set("volume", .null)
    let changes = try store.history(of: "volume").changes
    #expect(changes.map(\.revision) == [3, 2, 1])
    #expect(changes.map(\.old) == [.value(.int(2)), .value(.int(1)), .absent])
    #expect(changes.map(\.new) == [.absent, .value(.int(2)), .value(.int(1))])
    #expect(changes.map(\.tag) == [nil, nil, "first"])
    #expect(changes.allSatisfy { 0...3600 ~= $0.time.seconds - before.seconds })
    #expect(try store.history(of: "volume").completeAfter == 0)
  }

  @Test(arguments: StorageUnderTest.historical)
  func `keeps what was read as it is, when the same key is set again at once`(_ kind: StorageUnderTest) throws {
    let store = try open(kind)
    try historic.together { for value in 1...2 as ClosedRange<Int64> { try store.set(.int(value), forKey: "a") } }
    let first = try store.history().changes
    try store.set(.int(3), forKey: "a")
    let changes = try store.history(of: "a").changes
    #expect(changes.map(\.first) == [3, 1] && changes.map(\.revision) == [3, 2])
    #expect(Array(changes.dropFirst()) == first)
  }

  @Test(arguments: StorageUnderTest.historical)
  func `lists a prefix, and the keys of one commit in order`(_ kind: StorageUnderTest) throws {
    let store = try open(kind)
    try store.transaction { transaction in
      for key in ["b", "a", "view.size", "view"] {
        _ = try transaction.put(.bool(true), for: KeyName(key), ifRevision: nil)
      }
    }
    #expect(try store.history(prefix: "view").changes.map(\.key.text) == ["view", "view.size"])
    #expect(try store.history().changes.map(\.key.text) == ["a", "b", "view", "view.size"])
    #expect(try store.history(of: "view").changes.count == 1)
  }

  @Test(arguments: StorageUnderTest.historical)
  func `folds changes that one program makes at almost the same time`(_ kind: StorageUnderTest) throws {
    let store = try open(kind)
    for number in 1...5 { _ = try store.put(.int(Int64(number)), for: KeyName("count"), ifRevision: nil) }
    let changes = try store.history().changes
    #expect(changes.first?.new == .value(.int(5)))
    #expect(changes.last?.old == .absent)
  }

  @Test(arguments: StorageUnderTest.historical)
  func `keeps changes with another tag apart, though they are settled together`(_ kind: StorageUnderTest) throws {
    let store = try open(kind)
    try together {
      try put(1, "key", tag: "one")
      try put(2, "key", tag: "two")
      try put(3, "key", tag: "two")
      try put(4, "other", tag: "one")
    }
    let changes = try store.history().changes
    #expect(changes.map(\.tag) == ["one", "two", "one"])
    #expect(changes.map(\.new) == [.value(.int(4)), .value(.int(3)), .value(.int(1))])
  }

  @Test(arguments: StorageUnderTest.historical)
  func `says which revisions are a part of a change`(_ kind: StorageUnderTest) throws {
    let store = try open(kind)
    try set("key", .int(0))
    try together {
      for number in 2...5 { try put(Int64(number), "key") }
      try put(6, "other")
      try put(7, "other")
    }
    let history = try store.history()
    #expect(history.changes.map(\.revision) == [7, 5, 1])
    #expect(history.missing == [2...4, 6...6])
    #expect(history.json.hasSuffix(#""completeAfter":0,"missing":[[2,4],[6,6]]}"#))
    #expect(try store.history(of: "other").missing == [6...6])
    #expect(try store.history(of: "none").missing == [])
  }

  @Test(arguments: StorageUnderTest.historical)
  func `does not list what has ended where it began`(_ kind: StorageUnderTest) throws {
    let store = try open(kind)
    try set("key", .int(2))
    try together {
      try put(3, "key")
      try put(2, "key")
      try put(1, "new")
      try store.remove("new")
    }
    let history = try store.history()
    // The engine keeps apart what restores an old value.
    #expect(history.changes.map(\.revision) == (kind == .engine ? [5, 4, 3, 2, 1] : [1]))
    #expect(history.missing == (kind == .engine ? [] : [2...2, 4...4]))
  }

  @Test(arguments: StorageUnderTest.historical)
  func `has each commit whole, though they are settled together`(_ kind: StorageUnderTest) throws {
    let store = try open(kind)
    try together {
      try put(1, "from", "to")
      try put(2, "from")
      try put(3, "from")
      try put(4, "from", "to")
      try put(5, "to", "from")
      try put(6, "from", "other")
    }
    let history = try store.history()
    #expect(
      history.changes.map { "\($0.key)\($0.revision)" } == [
        "from6", "other6", "from5", "to5", "from3", "from1", "to1",
      ])
    #expect(history.changes.map(\.new) == [6, 6, 5, 5, 3, 1, 1].map { .value(.int($0)) })
    #expect(history.missing == [2...2, 4...4])
  }

  @Test func `has a change of more than 32,768 commits in parts`() throws {
    let store = try open(.local)
    // A ring that has room for all of them.
    let loader = try #require(store.shared.storage as? LocalStorage).loader
    try loader.journal.lockForWriting(until: MonotonicTime.milliseconds + 5000)
    try loader.settler.beginRing(for: 2 << 20)
    loader.journal.unlockForWriting()
    try put(1, "key")
    try settle()
    try together { for number in 2...40_000 { try put(Int64(number), "key") } }
    let history = try store.history(of: "key")
    #expect(history.changes.map(\.new) == [40_000, 32_769, 1].map { .value(.int($0)) })
    #expect(history.missing == [2...32_768, 32_770...39_999])
  }

  private func together(_ body: () throws -> Void) throws { try historic.together(body) }

  private func put(_ number: Int64, _ keys: String...) throws {
    let transaction = try store.begin()
    for key in keys { _ = try transaction.put(.int(number), for: KeyName(key), ifRevision: nil) }
    _ = try transaction.commit()
  }

  private func put(_ number: Int64, _ key: String, tag: String) throws {
    let transaction = try store.begin(tag: tag)
    _ = try transaction.put(.int(number), for: KeyName(key), ifRevision: nil)
    _ = try transaction.commit()
  }

  @Test(arguments: StorageUnderTest.historical)
  func `keeps old values of every kind and size`(_ kind: StorageUnderTest) throws {
    let store = try open(kind)
    let long = String(repeating: "x", count: 5000)
    let tooLong = String(repeating: "x", count: 100_000)
    let values: [Value] = [
      .bool(true), .int(-1), .uint(.max), .double(0.5), .string("é\n"), .bytes([0, 255]),
      .date(try Timestamp(seconds: 1)), .array([.int(1)]), .string(long), .string(tooLong), .int(0),
    ]
    for value in values { try set("key", value) }
    let changes = try store.history(of: "key").changes
    #expect(changes.count == values.count)
    let expected: [PastValue] = values.map { $0 == .string(tooLong) ? .notKept : .value($0) }
    #expect(changes.reversed().map(\.new) == expected)
  }

  @Test(arguments: StorageUnderTest.historical)
  func `of a secret says that it changed, and nothing else`(_ kind: StorageUnderTest) throws {
    let store = try open(kind)
    try store.declare(Declaration(json: #"{"type":"string","secret":true}"#), forKey: "password")
    try set("password", .string("one"))
    try set("password", .string(String(repeating: "two", count: 1000)))
    try set("password", .null)
    let changes = try store.history(of: "password").changes
    #expect(changes.map { [$0.old, $0.new] } == [[.secret, .absent], [.secret, .secret], [.absent, .secret]])
    for change in changes { #expect(!"\(change)".contains("one") && !"\(change)".contains("two")) }
    #expect(try !store.history().json.contains("one"))
    store.close()
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path + "/store") {
      #expect(!holds("twotwo", name), "\(name)")
    }
  }

  private func holds(_ text: String, _ name: String) -> Bool {
    let file = try? Data(contentsOf: URL(fileURLWithPath: folder.path + "/store/" + name))
    return file?.range(of: Data(text.utf8)) != nil
  }

  @Test(arguments: StorageUnderTest.historical)
  func `forgets the values of a key that is declared secret later`(_ kind: StorageUnderTest) throws {
    let store = try open(kind)
    try set("token", .string("visible-1"))
    try set("token", .string("visible-2" + String(repeating: "y", count: 1000)))
    try set("token", .string("visible-3"))
    try store.declare(Declaration(json: #"{"type":"string","secret":true}"#), forKey: "token")
    let changes = try store.history(of: "token").changes
    #expect(changes.count == 3)
    #expect(!"\(changes)".contains("visible"))
    store.close()
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path + "/store") {
      #expect(!holds("visible-1", name), "\(name)")
    }
  }

  @Test(arguments: StorageUnderTest.historical)
  func `begins anew with a commit of more than it keeps`(_ kind: StorageUnderTest) throws {
    let store = try open(kind)
    try store.setHistoryLimits(HistoryLimits(changes: 10))
    let long = String(repeating: "x", count: 1000)
    try store.transaction { transaction in
      for number in 0..<6000 { _ = try transaction.put(.string(long), for: KeyName("k\(number)"), ifRevision: nil) }
    }
    #expect(try store.history() == History(changes: [], completeAfter: 1))
  }

  @Test(arguments: StorageUnderTest.historical)
  func `has a large commit whole, unless that is more than it keeps`(_ kind: StorageUnderTest) throws {
    let store = try open(kind)
    try store.setHistoryLimits(HistoryLimits(changes: 20_000, bytes: 1 << 24))
    let long = String(repeating: "x", count: 1000)
    for round in 1...2 {
      try store.transaction { transaction in
        for number in 0..<6000 {
          let value = Value.string("\(long)\(number)\(round)")
          _ = try transaction.put(value, for: KeyName("k\(number)"), ifRevision: nil)
        }
      }
    }
    try settle()
    #expect(try store.history(of: "k17").changes.first?.new == .value(.string("\(long)172")))
    try store.setHistoryLimits(HistoryLimits(changes: 100))
    try store.transaction { transaction in
      for number in 0..<6000 { _ = try transaction.put(.int(0), for: KeyName("k\(number)"), ifRevision: nil) }
    }
    #expect(try store.history().changes.count <= 100)
    #expect(try store.history().completeAfter == 3)
  }

  @Test(arguments: StorageUnderTest.historical)
  func `is limited by number, by key, by age and by bytes`(_ kind: StorageUnderTest) throws {
    let store = try open(kind)
    for number in 1...30 { try set(number % 3 == 0 ? "rare\(number)" : "often", .int(Int64(number))) }
    try store.setHistoryLimits(HistoryLimits(changesPerKey: 5))
    let often = try store.history(of: "often").changes
    // The sixth only says that there were others.
    #expect(often.count == 6)
    #expect(often.last?.old == .unknown)
    #expect(often.last?.new == .value(.int(22)))
    #expect(try store.history(prefix: "rare").changes.count == 10)
    #expect(try store.history().completeAfter == 0)
    try store.setHistoryLimits(HistoryLimits(changes: 4))
    #expect(try store.history().changes.map(\.revision) == [30, 29, 28, 27])
    #expect(try store.history().completeAfter == 26)
    try store.setHistoryLimits(HistoryLimits(bytes: 100))
    #expect(try store.history().changes.map(\.revision) == [30, 29])
    try store.setHistoryLimits(.off)
    #expect(try store.history().changes.isEmpty)
    try set("often", .int(1))
    #expect(try store.history().changes.isEmpty)
    #expect(try store.historyLimits() == .off)
    try store.setHistoryLimits(HistoryLimits())
    try set("often", .int(2))
    #expect(try store.history().changes.map(\.old) == [.value(.int(1))])
    #expect(try store.history().completeAfter == 31)
  }

  @Test(
    arguments: StorageUnderTest.historical,
    [HistoryLimits(changes: 0), HistoryLimits(changesPerKey: 0), HistoryLimits(days: 0), HistoryLimits(bytes: 0)])
  func `that is off has no revision but the present`(_ kind: StorageUnderTest, _ limits: HistoryLimits) throws {
    let store = try open(kind)
    try set("key", .int(1))
    try store.setHistoryLimits(limits)
    for revision in 1...4 as ClosedRange<Revision> {
      #expect(try store.history() == History(changes: [], completeAfter: revision))
      for past in 0..<revision { #expect(code { _ = try store.snapshot(at: past) } == .absent, "\(past)") }
      #expect(try store.snapshot(at: revision).value(forKey: "key") == .int(Int64(revision)))
      #expect(code { try store.undo(revision: revision) } == .absent)
      try set("key", .int(Int64(revision) + 1))
    }
    let copy = try HistoricStore(kind, in: folder, "copy").store
    try copy.setHistoryLimits(limits)
    _ = try copy.put(.int(1), for: KeyName("key"), ifRevision: nil)
    #expect(code { _ = try copy.snapshot(at: 0) } == .absent)
    copy.close()
    let again = try HistoricStore(kind, in: folder, "copy").store
    #expect(code { _ = try again.snapshot(at: 0) } == .absent)
    try again.setHistoryLimits(HistoryLimits())
    #expect(try again.history() == History(changes: [], completeAfter: 1))
    again.close()
  }

  @Test(arguments: StorageUnderTest.historical)
  func `keeps the newest commits whole, of those that were settled together too`(_ kind: StorageUnderTest) throws {
    let store = try open(kind)
    for number in 1...6 {
      try store.transaction { transaction in
        _ = try transaction.put(.int(Int64(number)), for: KeyName("z\(9 - number)"), ifRevision: nil)
        _ = try transaction.put(.int(Int64(number)), for: KeyName("a\(number)"), ifRevision: nil)
      }
    }
    try settle()
    try store.setHistoryLimits(HistoryLimits(changes: 5))
    let history = try store.history()
    #expect(history.changes.map(\.key.text) == ["a6", "z3", "a5", "z4"])
    #expect(history.completeAfter == 4)
    try store.undo(revision: 5)
    #expect(code { try store.undo(revision: 4) } == .absent)
  }

  @Test(arguments: StorageUnderTest.historical)
  func `forgets changes that are too old when something is settled`(_ kind: StorageUnderTest) throws {
    let store = try open(kind)
    try set("key", .int(1))
    try age(days: 90)
    try set("key", .int(2))
    try age(days: 2)
    try set("key", .int(3))
    #expect(try store.history().changes.map(\.revision) == [3, 2])
    #expect(try store.history().completeAfter == 1)
  }

  @Test(arguments: StorageUnderTest.historical)
  func `is not forgotten by a clock that is ahead for less than a day`(_ kind: StorageUnderTest) throws {
    let store = try open(kind)
    try set("key", .int(1))
    try age(days: 89)
    try set("key", .int(2))
    // To the clock that is right the two are 0 and 89 days old.
    try age(days: 200)
    try set("key", .int(3))
    try set("key", .int(4))
    #expect(try store.history().changes.map(\.revision) == [4, 3, 2, 1])
    // It is right again, and then ahead again.
    try age(days: -200)
    try set("key", .int(5))
    try age(days: 201)
    try set("key", .int(6))
    #expect(try store.history().changes.map(\.revision) == [6, 5, 4, 3, 2, 1])
    try age(days: 2)
    try set("key", .int(7))
    #expect(try store.history().changes.map(\.revision) == [7, 6, 5, 4, 3])
  }

  @Test(arguments: StorageUnderTest.historical)
  func `of a store that is rarely used is forgotten by the time of its last changes`(_ kind: StorageUnderTest) throws {
    let store = try open(kind)
    for number in 1...4 {
      try set("key", .int(Int64(number)))
      try age(days: 100)
    }
    try set("key", .int(5))
    #expect(try store.history().changes.map(\.revision) == [5, 4])
  }

  private func age(days: Int64) throws { try historic.age(days: days) }

  @Test(arguments: StorageUnderTest.historical)
  func `is seen by readers without permission to write, and stays after closing`(_ kind: StorageUnderTest) throws {
    let store = try open(kind)
    try set("key", .int(1), "tag")
    store.close()
    let again = try open(kind)
    #expect(try again.history().changes.map(\.tag) == ["tag"])
    again.close()
  }

  @Test func `is not kept in memory`() throws {
    let store = try Store.open("memory:")
    #expect(code { _ = try store.history() } == .unsupported)
    #expect(code { try store.undo(revision: 1) } == .unsupported)
    #expect(code { try store.setHistoryLimits(.off) } == .unsupported)
  }

  @Test(arguments: StorageUnderTest.historical)
  func `of a closed store is refused`(_ kind: StorageUnderTest) throws {
    let store = try open(kind)
    store.close()
    #expect(code { _ = try store.history() } == .closed)
    #expect(code { try store.undo(revision: 1) } == .closed)
  }

  @Test func `reads what another program has written into its table, without a crash`() throws {
    let store = try open(.local)
    try set("key", .int(1))
    let (integer, text, large, unknown) = (1 as UInt8, 3 as UInt8, 5 as UInt8, 9 as UInt8)
    let changes = [
      change(form: integer, kind: "nothing", value: 8), change(form: integer, kind: "int", value: 7),
      change(form: text, kind: "string", value: 2), change(form: text, kind: "array", value: 2),
      change(form: large, kind: "string", value: 12), change(form: large, kind: "string", value: 3),
      change(form: unknown, kind: "int", value: 8), change(form: text, kind: "string", value: 2, said: .max),
      change(form: integer, kind: "int", value: 8) + change(form: text, kind: "string", value: 2).dropLast(2), "00", "",
    ]
    let rows = changes.enumerated().map { "(\($0 + 10), -5, 9223372036854775807, -1, x'\($1)')" }
    try historic.edit(
      """
      INSERT INTO history VALUES \(rows.joined(separator: ", ")), (7, 9, -9223372036854775808, 0, 'text'),
        (8, 9, 9, 9, 7), (9, 9, 9, 9, NULL), (9223372036854775807, 9, 9, 9223372036854775807, x'01');
      UPDATE history SET changes = '[1' WHERE id = 0
      """)
    // Of the rows that are not whole, what precedes the fault is there.
    #expect(try store.history().changes.count == 1 + 5)
    #expect(try store.historyLimits() == HistoryLimits())
    // They stop nothing.
    try set("key", .int(2))
    #expect(try store.history(of: "key").changes.first?.new == .value(.int(2)))
    try store.setHistoryLimits(HistoryLimits(changes: 5))
    try set("key", .int(3))
    #expect(try store.history(of: "key").changes.first?.new == .value(.int(3)))
  }

  /// A change as hexadecimal digits, with bytes that are neither UTF-8 nor JSON as its old value.
  private func change(form: UInt8, kind: String, value: Int, said: UInt32? = nil) -> String {
    var bytes: [UInt8] = [9, 0, 0, 0, 0, 0, 0, 0] + Array(repeating: 0xFF, count: 8) + [0xFF, 0xFF, 3, 0]
    bytes += [form, UInt8(kind.utf8.count), 0, 0]
    withUnsafeBytes(of: (said ?? UInt32(value)).littleEndian) { bytes += $0 }
    bytes += Array("key".utf8) + Array(kind.utf8) + Array(repeating: 0xFE, count: value)
    return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
