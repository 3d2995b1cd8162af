// What users rely on in the history: each change is in it once, with who, when, from what and to what; a secret is not.

import Foundation
@testable import KeptSchema
@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite struct `The history of a store` {
  private let folder: TemporaryFolder
  private let historic: HistoricStore
  private var store: Store { historic.store }

  init() throws {
    folder = try TemporaryFolder()
    historic = try HistoricStore(in: folder)
  }

  private func set(_ key: String, _ value: Value, _ tag: String? = nil) throws {
    try historic.set([(key, value)], tag: tag)
  }

  @Test func `is empty at first, and complete from the present`() throws {
    let history = try store.history()
    #expect(history.changes.isEmpty)
    #expect(history.completeAfter == 0)
    #expect(history.json == #"{"changes":[],"completeAfter":0}"#)
  }

  @Test func `has each change with its tag, time, old and new value, the newest first`() throws {
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

  @Test func `keeps what was read as it is, when the same key is set again at once`() throws {
    for value in 1...2 as ClosedRange<Int64> { try store.set(.int(value), forKey: "a") }
    let first = try store.history().changes
    try store.set(.int(3), forKey: "a")
    let changes = try store.history(of: "a").changes
    #expect(changes.map(\.first) == [3, 1] && changes.map(\.revision) == [3, 2])
    #expect(Array(changes.dropFirst()) == first)
  }

  @Test func `lists a prefix, and the keys of one commit in order`() throws {
    try store.transaction { transaction in
      for key in ["b", "a", "view.size", "view"] {
        _ = try transaction.put(.bool(true), for: KeyName(key), ifRevision: nil)
      }
    }
    #expect(try store.history(prefix: "view").changes.map(\.key.text) == ["view", "view.size"])
    #expect(try store.history().changes.map(\.key.text) == ["a", "b", "view", "view.size"])
    #expect(try store.history(of: "view").changes.count == 1)
  }

  @Test func `folds changes that one program makes at almost the same time`() throws {
    for number in 1...5 { _ = try store.put(.int(Int64(number)), for: KeyName("count"), ifRevision: nil) }
    let changes = try store.history().changes
    #expect(changes.first?.new == .value(.int(5)))
    #expect(changes.last?.old == .absent)
  }

  @Test func `keeps changes with another tag apart, though they are made at the same time`() throws {
    try put(1, "key", tag: "one")
    try put(2, "key", tag: "two")
    try put(3, "key", tag: "two")
    try put(4, "other", tag: "one")
    let changes = try store.history().changes
    #expect(changes.map(\.tag) == ["one", "two", "one"])
    #expect(changes.map(\.new) == [.value(.int(4)), .value(.int(3)), .value(.int(1))])
  }

  @Test func `says which revisions are a part of a change`() throws {
    try set("key", .int(0))
    for number in 2...5 { try put(Int64(number), "key") }
    try put(6, "other")
    try put(7, "other")
    let history = try store.history()
    #expect(history.changes.map(\.revision) == [7, 5, 1])
    #expect(history.missing == [2...4, 6...6])
    #expect(history.json.hasSuffix(#""completeAfter":0,"missing":[[2,4],[6,6]]}"#))
    #expect(try store.history(of: "other").missing == [6...6])
    #expect(try store.history(of: "none").missing == [])
  }

  @Test func `keeps a commit apart that restores an old value`() throws {
    try set("key", .int(2))
    try put(3, "key")
    try put(2, "key")
    try put(1, "new")
    try store.remove("new")
    let history = try store.history()
    #expect(history.changes.map(\.revision) == [5, 4, 3, 2, 1])
    #expect(history.missing.isEmpty)
  }

  @Test func `has each commit whole, though they are made at the same time`() throws {
    try put(1, "from", "to")
    try put(2, "from")
    try put(3, "from")
    try put(4, "from", "to")
    try put(5, "to", "from")
    try put(6, "from", "other")
    let history = try store.history()
    #expect(
      history.changes.map { "\($0.key)\($0.revision)" } == [
        "from6", "other6", "from5", "to5", "from3", "from1", "to1",
      ])
    #expect(history.changes.map(\.new) == [6, 6, 5, 5, 3, 1, 1].map { .value(.int($0)) })
    #expect(history.missing == [2...2, 4...4])
  }

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

  @Test func `keeps old values of every kind and size`() throws {
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

  @Test func `of a secret says that it changed, and nothing else`() throws {
    try store.keepSecretsPlain()
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

  @Test func `forgets the values of a key that is declared secret later`() throws {
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

  @Test func `begins anew with a commit of more than it keeps`() throws {
    try store.setHistoryLimits(HistoryLimits(changes: 10))
    let long = String(repeating: "x", count: 1000)
    try store.transaction { transaction in
      for number in 0..<6000 { _ = try transaction.put(.string(long), for: KeyName("k\(number)"), ifRevision: nil) }
    }
    #expect(try store.history() == History(changes: [], completeAfter: 1))
  }

  @Test func `has a large commit whole, unless that is more than it keeps`() throws {
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
    historic.endChange()
    #expect(try store.history(of: "k17").changes.first?.new == .value(.string("\(long)172")))
    try store.setHistoryLimits(HistoryLimits(changes: 100))
    try store.transaction { transaction in
      for number in 0..<6000 { _ = try transaction.put(.int(0), for: KeyName("k\(number)"), ifRevision: nil) }
    }
    #expect(try store.history().changes.count <= 100)
    #expect(try store.history().completeAfter == 3)
  }

  @Test func `is limited by number, by key, by age and by bytes`() throws {
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

  @Test(arguments: [
    HistoryLimits(changes: 0), HistoryLimits(changesPerKey: 0), HistoryLimits(days: 0), HistoryLimits(bytes: 0),
  ])
  func `that is off has no revision but the present`(_ limits: HistoryLimits) throws {
    try set("key", .int(1))
    try store.setHistoryLimits(limits)
    for revision in 1...4 as ClosedRange<Revision> {
      #expect(try store.history() == History(changes: [], completeAfter: revision))
      for past in 0..<revision { #expect(code { _ = try store.snapshot(at: past) } == .absent, "\(past)") }
      #expect(try store.snapshot(at: revision).value(forKey: "key") == .int(Int64(revision)))
      #expect(code { try store.undo(revision: revision) } == .absent)
      try set("key", .int(Int64(revision) + 1))
    }
    let copy = try HistoricStore(in: folder, "copy").store
    try copy.setHistoryLimits(limits)
    _ = try copy.put(.int(1), for: KeyName("key"), ifRevision: nil)
    #expect(code { _ = try copy.snapshot(at: 0) } == .absent)
    copy.close()
    let again = try HistoricStore(in: folder, "copy").store
    #expect(code { _ = try again.snapshot(at: 0) } == .absent)
    try again.setHistoryLimits(HistoryLimits())
    #expect(try again.history() == History(changes: [], completeAfter: 1))
    again.close()
  }

  @Test func `keeps the newest commits whole`() throws {
    for number in 1...6 {
      try store.transaction { transaction in
        _ = try transaction.put(.int(Int64(number)), for: KeyName("z\(9 - number)"), ifRevision: nil)
        _ = try transaction.put(.int(Int64(number)), for: KeyName("a\(number)"), ifRevision: nil)
      }
    }
    historic.endChange()
    try store.setHistoryLimits(HistoryLimits(changes: 5))
    let history = try store.history()
    #expect(history.changes.map(\.key.text) == ["a6", "z3", "a5", "z4"])
    #expect(history.completeAfter == 4)
    try store.undo(revision: 5)
    #expect(code { try store.undo(revision: 4) } == .absent)
  }

  @Test func `forgets changes that are too old`() throws {
    try set("key", .int(1))
    historic.age(days: 90)
    try set("key", .int(2))
    historic.age(days: 2)
    try set("key", .int(3))
    #expect(try store.history().changes.map(\.revision) == [3, 2])
    #expect(try store.history().completeAfter == 1)
  }

  @Test func `is not forgotten by a clock that is ahead for less than a day`() throws {
    try set("key", .int(1))
    historic.age(days: 89)
    try set("key", .int(2))
    // To the clock that is right the two are 0 and 89 days old.
    historic.age(days: 200)
    try set("key", .int(3))
    try set("key", .int(4))
    #expect(try store.history().changes.map(\.revision) == [4, 3, 2, 1])
    // It is right again, and then ahead again.
    historic.age(days: -200)
    try set("key", .int(5))
    historic.age(days: 201)
    try set("key", .int(6))
    #expect(try store.history().changes.map(\.revision) == [6, 5, 4, 3, 2, 1])
    historic.age(days: 2)
    try set("key", .int(7))
    #expect(try store.history().changes.map(\.revision) == [7, 6, 5, 4, 3])
  }

  @Test func `of a store that is rarely used is forgotten by the time of its last changes`() throws {
    for number in 1...4 {
      try set("key", .int(Int64(number)))
      historic.age(days: 100)
    }
    try set("key", .int(5))
    #expect(try store.history().changes.map(\.revision) == [5, 4])
  }

  @Test func `is seen by readers without permission to write, and stays after closing`() throws {
    try set("key", .int(1), "tag")
    store.close()
    let again = try HistoricStore(in: folder).store
    #expect(try again.history().changes.map(\.tag) == ["tag"])
    again.close()
  }

  @Test func `is not kept in memory`() throws {
    let store = try Store.open("memory:")
    #expect(code { _ = try store.history() } == .unsupported)
    #expect(code { try store.undo(revision: 1) } == .unsupported)
    #expect(code { try store.setHistoryLimits(.off) } == .unsupported)
  }

  @Test func `of a closed store is refused`() throws {
    store.close()
    #expect(code { _ = try store.history() } == .closed)
    #expect(code { try store.undo(revision: 1) } == .closed)
  }
}
