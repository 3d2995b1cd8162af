// What users rely on when they undo: exactly what a commit changed is restored, or nothing is, and the reason is said.

@testable import KeptSchema
@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite struct `Undoing a commit` {
  private let folder: TemporaryFolder
  private let historic: HistoricStore
  private var store: Store { historic.store }

  init() throws {
    folder = try TemporaryFolder()
    historic = try HistoricStore(in: folder)
  }

  /// Sets keys in one commit, which is a change of its own; nil removes the key.
  private func set(_ values: KeyValuePairs<String, Int64?>) throws {
    try historic.set(values.map { key, number in (key, number.map { .int($0) } ?? .null) })
  }

  private func value(_ key: String) throws -> Value? { try store.entry(for: KeyName(key))?.value }

  @Test func `restores what it changed and nothing else, as one commit`() throws {
    try set(["a": 1, "b": 1, "gone": 1])
    try set(["a": 2, "gone": nil, "new": 1])
    try set(["b": 3])
    #expect(try store.undo(revision: 2) == ["a", "gone", "new"])
    #expect(try value("a") == .int(1))
    #expect(try value("gone") == .int(1))
    #expect(try value("new") == nil)
    #expect(try value("b") == .int(3))
    #expect(try store.currentRevision() == 4)
  }

  @Test func `can be undone, and that too`() throws {
    try set(["key": 1])
    try set(["key": 2])
    try store.undo(revision: 2, tag: "undo")
    #expect(try store.history().changes.first?.tag == "undo")
    try store.undo(revision: 3)
    #expect(try value("key") == .int(2))
    try store.undo(revision: 4)
    #expect(try value("key") == .int(1))
  }

  @Test func `is refused with a list if keys have changed since`() throws {
    try set(["a": 1, "b": 1, "c": 1])
    try set(["a": 2, "c": nil])
    let error = #expect(throws: StoreError.self) { try store.undo(revision: 1) }
    #expect(error?.code == .conflict)
    #expect(error?.message.contains("these keys have changed since: a, c") == true)
    #expect(try store.currentRevision() == 2)
  }

  @Test func `is refused if a key was removed and set again to the same value`() throws {
    try set(["a": 1])
    try set(["a": nil])
    try set(["a": 1])
    #expect(code { try store.undo(revision: 1) } == .conflict)
    #expect(code { try store.undo(revision: 2) } == .conflict)
  }

  @Test(arguments: [0, 7, UInt64.max])
  func `of a revision that is not in the history is refused`(_ revision: UInt64) throws {
    try set(["a": 1])
    let error = #expect(throws: StoreError.self) { try store.undo(revision: revision) }
    #expect(error?.code == .absent)
    #expect(error?.message.contains("the history has revisions 1 to 1") == true)
  }

  @Test func `whose rows were partly forgotten is refused`() throws {
    try set(["a": 1, "b": 1])
    try set(["c": 1])
    try store.setHistoryLimits(HistoryLimits(changes: 2))
    #expect(code { try store.undo(revision: 1) } == .absent)
    try store.undo(revision: 2)
  }

  @Test func `with a key that has changed too often since is refused`() throws {
    try set(["often": 1, "rare": 1])
    for number in 2...9 { try set(["often": Int64(number)]) }
    try store.setHistoryLimits(HistoryLimits(changesPerKey: 3))
    #expect(code { try store.undo(revision: 1) } == .conflict)
    #expect(try value("rare") == .int(1))
  }

  @Test func `of a secret is refused, with nothing changed`() throws {
    try store.keepSecretsPlain()
    try store.declare(Declaration(json: #"{"type":"integer","secret":true}"#), forKey: "pin")
    try set(["pin": 1, "a": 1])
    try set(["pin": 2, "a": 2])
    let error = #expect(throws: StoreError.self) { try store.undo(revision: 3) }
    #expect(error?.code == .unsupported)
    #expect(error?.key == "pin")
    #expect(try value("a") == .int(2))
  }

  @Test func `whose old value does not fit the declaration any more is refused`() throws {
    try set(["size": 100])
    try set(["size": 5])
    try store.declare(Declaration(json: #"{"type":"integer","maximum":10}"#), forKey: "size")
    let error = #expect(throws: StoreError.self) { try store.undo(revision: 2) }
    #expect(error?.code == .invalid)
    #expect(try value("size") == .int(5))
  }

  /// Makes commits at the same time; each sets keys to its number.
  private func together(_ commits: [[String]]) throws {
    for (index, keys) in commits.enumerated() {
      let transaction = try store.begin()
      for key in keys { _ = try transaction.put(.int(Int64(index)), for: KeyName(key), ifRevision: nil) }
      _ = try transaction.commit()
    }
  }

  @Test func `with one key that was changed again at once is refused, until that is undone`() throws {
    try set(["from": 100, "to": 100])
    try together([["from", "to"], ["from"]])
    let error = #expect(throws: StoreError.self) { try store.undo(revision: 2) }
    #expect(error?.code == .conflict)
    #expect(error?.message.contains("changed since: from;") == true)
    #expect(try value("to") == .int(0))
    #expect(try store.undo(revision: 3) == ["from"])
    #expect(try value("from") == .int(0))
    #expect(try store.history().changes.first?.old == .value(.int(1)))
  }

  @Test func `that is a part of a change is refused, and the change restores all of it`() throws {
    try set(["from": 100, "to": 100])
    try together([["from", "to"], ["to", "from"], ["from", "to"]])
    for revision: Revision in 2...3 {
      let error = #expect(throws: StoreError.self) { try store.undo(revision: revision) }
      #expect(error?.code == .absent)
      #expect(error?.message.contains("has revisions 2 to 4 as one change; undo 4") == true)
    }
    #expect(try store.undo(revision: 4) == ["from", "to"])
    #expect(try value("from") == .int(100))
    #expect(try value("to") == .int(100))
  }

  @Test func `that restored an old value is possible, and is a change since`() throws {
    try set(["a": 1])
    try together([["a"], ["a"]])
    #expect(try value("a") == .int(1))
    #expect(code { try store.undo(revision: 1) } == .conflict)
    #expect(try store.undo(revision: 3) == ["a"])
    #expect(try value("a") == .int(0))
  }

  @Test func `of a large commit restores all of it`() throws {
    let transaction = try store.begin()
    for number in 0..<5000 { _ = try transaction.put(.int(1), for: KeyName("k\(number)"), ifRevision: nil) }
    _ = try transaction.commit()
    historic.endChange()
    let second = try store.begin()
    for number in 0..<5000 { _ = try second.put(.int(2), for: KeyName("k\(number)"), ifRevision: nil) }
    _ = try second.commit()
    #expect(try store.history(of: "k4999").changes.map(\.old) == [.value(.int(1)), .absent])
    #expect(try store.undo(revision: 2).count == 5000)
    #expect(try value("k4999") == .int(1))
  }
}
