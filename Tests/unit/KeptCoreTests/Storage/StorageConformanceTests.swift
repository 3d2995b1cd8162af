// The storage contract, as tests that every storage must pass.

import KeptCore
@testable import KeptSchema
@testable import KeptValues
import Testing

@Suite struct `Every storage` {
  let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  @Test(arguments: StorageUnderTest.allCases)
  func `has no value for a key that was never set`(_ kind: StorageUnderTest) throws {
    let storage = try kind.open(in: folder)
    #expect(try storage.entry(for: key("never")) == nil)
    if kind.abilities.contains(.listsKeys) { #expect(try storage.keys(prefix: "") == []) }
    #expect(try storage.revision() == 0)
  }

  @Test(arguments: StorageUnderTest.allCases)
  func `keeps a value of every kind, bit for bit`(_ kind: StorageUnderTest) throws {
    let storage = try kind.open(in: folder)
    for (index, value) in Value.oneOfEachKind.enumerated() {
      let name = try key("kind.\(index)")
      try storage.commit(name, .set(value))
      #expect(try storage.value(name) == value, "\(value.kind) \(value)")
    }
  }

  @Test(arguments: StorageUnderTest.allCases)
  func `replaces a value of any kind by one of any other`(_ kind: StorageUnderTest) throws {
    let storage = try kind.open(in: folder)
    let name = try key("changing")
    for value in Value.oneOfEachKind + Value.oneOfEachKind.reversed() {
      try storage.commit(name, .set(value))
      #expect(try storage.value(name) == value)
    }
  }

  @Test(arguments: StorageUnderTest.allCases)
  func `removes a key`(_ kind: StorageUnderTest) throws {
    let storage = try kind.open(in: folder)
    try storage.commit(key("a"), .set(1))
    let removal = try storage.commit(key("a"), .remove)
    let (old, new) = (Entry(value: 1, revision: 1), Entry(value: nil, revision: 2))
    #expect(removal.changes == [StoredChange(key: try key("a"), old: old, new: new)])
    #expect(try storage.entry(for: key("a")) == nil)
    if kind.abilities.contains(.listsKeys) { #expect(try storage.keys(prefix: "") == []) }
  }

  @Test(arguments: StorageUnderTest.able(.listsKeys))
  func `lists keys by prefix in the order of their bytes`(_ kind: StorageUnderTest) throws {
    let storage = try kind.open(in: folder)
    let composed = "caf\u{E9}"
    let decomposed = "cafe\u{301}"
    for name in ["b", "a.b", "a", "a.a", "Z", "a\u{1F3B5}", "a~", composed, decomposed, "%_", "a%b"] {
      try storage.commit(key(name), .set(true))
    }
    #expect(
      try storage.keys(prefix: "").map(\.text)
        == ["%_", "Z", "a", "a%b", "a.a", "a.b", "a~", "a\u{1F3B5}", "b", decomposed, composed])
    #expect(try storage.keys(prefix: "a.").map(\.text) == ["a.a", "a.b"])
    #expect(try storage.keys(prefix: "a%").map(\.text) == ["a%b"])
    #expect(try storage.keys(prefix: "caf\u{E9}").map(\.text) == [composed])
    #expect(try storage.keys(prefix: "zz").isEmpty)
  }

  @Test(arguments: StorageUnderTest.allCases)
  func `distinguishes composed and decomposed keys`(_ kind: StorageUnderTest) throws {
    let storage = try kind.open(in: folder)
    try storage.commit(key("\u{E9}"), .set(1))
    try storage.commit(key("e\u{301}"), .set(2))
    #expect(try storage.value(key("\u{E9}")) == 1)
    #expect(try storage.value(key("e\u{301}")) == 2)
  }

  @Test(arguments: StorageUnderTest.able(.revisions))
  func `counts one revision for each commit that changes something`(_ kind: StorageUnderTest) throws {
    let storage = try kind.open(in: folder)
    #expect(try storage.commit(key("a"), .set(1)).revision == 1)
    #expect(try storage.commit(key("a"), .set(1)) == Commit(revision: 1, changes: []), "the same again changes nothing")
    #expect(try storage.commit(key("none"), .remove) == Commit(revision: 1, changes: []))
    #expect(try storage.commit(key("b"), .set(3)).revision == 2)
    #expect(try storage.entry(for: key("a"))?.revision == 1)
    #expect(try storage.entry(for: key("b"))?.revision == 2)
    #expect(try storage.revision() == 2)
  }

  @Test(arguments: StorageUnderTest.able(.atomicBatch))
  func `counts one revision for a batch`(_ kind: StorageUnderTest) throws {
    let storage = try kind.open(in: folder)
    var batch = Batch()
    batch.edit(try key("a"), .set(1))
    batch.edit(try key("b"), .set(2))
    #expect(try storage.commit(batch).revision == 1)
    #expect(try storage.commit(batch) == Commit(revision: 1, changes: []), "the same again changes nothing")
    try storage.commit(key("c"), .set(1))
    batch.edit(try key("b"), .remove)
    #expect(try storage.commit(batch).revision == 3)
    guard case .changed(let delta) = try storage.changes(after: 0) else {
      Issue.record("too old")
      return
    }
    #expect(delta.entries.map(\.key.text) == ["a", "c", "b"] && delta.entries.map(\.entry.revision) == [1, 2, 3])
  }

  @Test(arguments: StorageUnderTest.allCases)
  func `takes another bit pattern for a change`(_ kind: StorageUnderTest) throws {
    let storage = try kind.open(in: folder)
    for value: Value in [0.0, -0.0, 0, .double(.nan), "\u{E9}", "e\u{301}", 1, 1.0, true] {
      #expect(try storage.commit(key("a"), .set(value)).changes.count == 1, "\(value)")
      #expect(try storage.commit(key("a"), .set(value)).changes.isEmpty, "\(value) again")
    }
  }

  @Test(arguments: StorageUnderTest.able(.atomicBatch))
  func `applies a batch whole or not at all`(_ kind: StorageUnderTest) throws {
    let storage = try kind.open(in: folder)
    try storage.commit(key("a"), .set(1))
    var batch = Batch()
    batch.edit(try key("a"), .set(2))
    batch.edit(try key("b"), .set(2))
    batch.conditions = [.revision(try key("c"), 7)]
    #expect(throws: StoreError.self) { try storage.commit(batch) }
    #expect(try storage.value(key("a")) == 1)
    #expect(try storage.entry(for: key("b")) == nil)
    batch.conditions = []
    let commit = try storage.commit(batch)
    #expect(commit.changes.map(\.key.text) == ["a", "b"])
    #expect(try storage.entry(for: key("a"))?.revision == storage.entry(for: key("b"))?.revision)
  }

  @Test(arguments: StorageUnderTest.able(.revisions))
  func `compares and sets by revision`(_ kind: StorageUnderTest) throws {
    let storage = try kind.open(in: folder)
    let a = try key("a")
    #expect(conflict { try storage.commit(a, .set(1), .revision(a, 1)) }, "absent, expected at revision 1")
    try storage.commit(a, .set(1), .revision(a, 0))
    #expect(conflict { try storage.commit(a, .set(2), .revision(a, 0)) }, "there, expected absent")
    #expect(try storage.commit(a, .set(2), .revision(a, 1)).revision == 2)
    #expect(conflict { try storage.commit(a, .set(3), .revision(a, 1)) }, "an old revision")
    try storage.commit(a, .remove, .revision(a, 2))
    #expect(try storage.commit(a, .set(4), .revision(a, 0)).revision == 4, "removed is absent")
    #expect(try storage.value(a) == 4)
  }

  @Test(arguments: StorageUnderTest.able([.revisions, .listsKeys]))
  func `notices what changed under a condition`(_ kind: StorageUnderTest) throws {
    let storage = try kind.open(in: folder)
    let (a, b) = (try key("p.a"), try key("p.b"))
    let base = try storage.commit(a, .set(1)).revision
    try storage.commit(key("q"), .set(1), .unchanged(a, after: base), .unchangedPrefix("p.", after: base))
    try storage.commit(b, .set(1))
    #expect(conflict { try storage.commit(a, .set(2), .unchangedPrefix("p.", after: base)) }, "a key was added")
    try storage.commit(a, .set(2), .unchanged(a, after: base))
    #expect(conflict { try storage.commit(b, .set(2), .unchanged(a, after: base)) })
    let later = try storage.revision()
    try storage.commit(b, .remove)
    #expect(conflict { try storage.commit(a, .set(3), .unchanged(b, after: later)) }, "a removal is a change")
    #expect(conflict { try storage.commit(a, .set(3), .unchangedPrefix("p.", after: later)) })
    #expect(try storage.value(a) == 2)
  }

  @Test(arguments: StorageUnderTest.able(.revisions))
  func `says what changed after a revision`(_ kind: StorageUnderTest) throws {
    let storage = try kind.open(in: folder)
    try storage.commit(key("a"), .set(1))
    try storage.commit(key("b"), .set(2))
    try storage.commit(key("c"), .set(2))
    try storage.commit(key("c"), .remove)
    guard case .changed(let delta) = try storage.changes(after: 1) else {
      throw StoreError(.failed, "the changes are forgotten")
    }
    #expect(delta.upTo == 4)
    #expect(
      delta.entries == [
        KeyedEntry(key: try key("b"), entry: Entry(value: 2, revision: 2)),
        KeyedEntry(key: try key("c"), entry: Entry(value: nil, revision: 4)),
      ])
    #expect(try storage.changes(after: 4) == .changed(Delta([], upTo: 4)))
    #expect(try storage.changes(after: 5) == .tooOld, "a revision that this store does not have")
  }

  @Test(arguments: StorageUnderTest.able(.listsKeys))
  func `gives the entries in some scopes, of one revision`(_ kind: StorageUnderTest) throws {
    let storage = try kind.open(in: folder)
    for name in ["a", "p.a", "p.b", "q", "p"] { try storage.commit(key(name), .set(.string(name))) }
    try storage.commit(key("p.b"), .remove)
    let scopes: [Scope] = [.prefix("p."), .key(try key("q")), .key(try key("none")), .prefix("p.a")]
    let stored = try storage.entries(in: scopes)
    let (entries, revision) = (stored.entries, stored.revision)
    #expect(revision == 6)
    #expect(Set(entries.map(\.key.text)) == ["p.a", "q"])
    #expect(entries.allSatisfy { $0.entry.value == .string($0.key.text) && $0.entry.revision < 6 })
  }

  @Test(arguments: StorageUnderTest.allCases)
  func `has an unmoved even generation only while nothing was committed`(_ kind: StorageUnderTest) throws {
    let storage = try kind.open(in: folder)
    let before = storage.generation
    try storage.commit(key("a"), .set(1))
    let after = storage.generation
    #expect(after % 2 == 1 || after != before)
  }

  @Test(arguments: StorageUnderTest.allCases)
  func `wakes waiting threads, or says that it cannot`(_ kind: StorageUnderTest) throws {
    let storage = try kind.open(in: folder)
    try storage.commit(key("a"), .set(1))
    guard storage.abilities.contains(.pushesChanges) else {
      #expect(code { try storage.wait(after: 0) } == .unsupported)
      return
    }
    #expect(try storage.wait(after: 0), "there is something newer already")
    storage.interruptWaiting()
    #expect(try storage.wait(after: 1) == false, "interrupted")
    storage.close()
    #expect(try storage.wait(after: 1) == false, "closed")
  }

  @Test(arguments: StorageUnderTest.allCases)
  func `commits durably and flushes`(_ kind: StorageUnderTest) throws {
    let storage = try kind.open(in: folder)
    var batch = Batch(durability: .durable)
    batch.edit(try key("a"), .set(1))
    #expect(try storage.commit(batch).revision == 1)
    #expect(try storage.commit(batch).changes.isEmpty, "a durable batch without a change is fine")
    try storage.flush()
    #expect(try storage.value(key("a")) == 1)
  }

  @Test(arguments: StorageUnderTest.allCases)
  func `declares what it can do`(_ kind: StorageUnderTest) throws {
    #expect(try kind.open(in: folder).abilities == kind.abilities)
  }

  @Test(arguments: StorageUnderTest.unable(.atomicBatch))
  func `refuses a batch of several keys where it could be applied by halves`(_ kind: StorageUnderTest) throws {
    let storage = try kind.open(in: folder)
    var batch = Batch()
    batch.edit(try key("a"), .set(1))
    batch.edit(try key("b"), .set(2))
    #expect(code { try storage.commit(batch) } == .unsupported)
    #expect(try storage.entry(for: key("a")) == nil && storage.entry(for: key("b")) == nil)
  }

  @Test(arguments: StorageUnderTest.unable(.listsKeys))
  func `lists nothing where it does not know its keys`(_ kind: StorageUnderTest) throws {
    let storage = try kind.open(in: folder)
    try storage.commit(key("a"), .set(1))
    #expect(code { try storage.keys(prefix: "") } == .unsupported)
    #expect(code { try storage.entries(in: [.prefix("a")]) } == .unsupported)
    #expect(code { try storage.commit(key("a"), .set(2), .unchangedPrefix("a", after: 1)) } == .unsupported)
    #expect(try storage.entries(in: [.key(key("a"))]).entries.map(\.entry.value) == [1])
  }

  @Test(arguments: StorageUnderTest.unable(.declarations))
  func `refuses a declaration that it would not keep`(_ kind: StorageUnderTest) throws {
    let storage = try kind.open(in: folder)
    var batch = Batch()
    batch.declare(try key("a"), try Declaration(json: #"{"type":"integer"}"#))
    #expect(code { try storage.commit(batch) } == .unsupported)
    #expect(try storage.declarations(prefix: "").isEmpty)
  }

  @Test(arguments: StorageUnderTest.allCases)
  func `returns closed after close`(_ kind: StorageUnderTest) throws {
    let storage = try kind.open(in: folder)
    storage.close()
    storage.close()
    #expect(code { try storage.entry(for: key("a")) } == .closed)
    if kind.abilities.contains(.listsKeys) { #expect(code { try storage.keys(prefix: "") } == .closed) }
    #expect(code { try storage.revision() } == .closed)
    #expect(code { try storage.changes(after: 0) } == .closed)
    #expect(code { try storage.commit(key("a"), .set(1)) } == .closed)
    #expect(code { try storage.flush() } == .closed)
  }
}

/// The code of the error that `body` throws; nil if it throws none.
func code(_ body: () throws -> some Any) -> StoreError.Code? {
  do {
    _ = try body()
    return nil
  } catch {
    return (error as? StoreError)?.code ?? .failed
  }
}

func conflict(_ body: () throws -> some Any) -> Bool { code(body) == .conflict }

extension Value {
  /// One value of each kind, and those that are easily altered in storage.
  static let oneOfEachKind: [Value] = {
    let dates = [(0, 0), (-62_167_219_200, 0), (253_402_300_799, 999_999_999), (-1, 1), (1_795_216_441, 250_000_000)]
      .compactMap { try? Timestamp(seconds: $0.0, nanoseconds: Int32($0.1)) }
    return [
      true, false, 0, 1, -1, .int(.min), .int(.max), .uint(UInt64(Int64.max) + 1), .uint(.max),
      0.0, -0.0, 1.0, 0.1, .double(.leastNonzeroMagnitude), .double(.greatestFiniteMagnitude), .double(.infinity),
      .double(-.infinity),
      .double(.nan), "", "text", "with a NUL \u{0} inside", "\u{E9}", "e\u{301}", "\u{1F3B5}", "NaN", "removed",
      .bytes([]), .bytes([0]), .bytes(Array(0...255)), [], [:], [.null, true, [1, 1.0, ["": .bytes([1])]]],
      ["b": 1, "a": .null, "\u{E9}": 2, "e\u{301}": 3, "$dollar": [:]],
    ] + dates.map(Value.date)
  }()
}
