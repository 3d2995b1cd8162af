// A commit of one value at once must leave the same store as any other commit, and leave to those what it cannot do.

import Foundation
import KeptEngine
@testable import KeptSchema
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite struct `The fast path of a commit` {
  let folder: TemporaryFolder
  let store: Store
  init() throws {
    folder = try TemporaryFolder()
    store = try Store.open(folder.path + "/store")
    // Now the index knows them.
    for key in ["a", "b", "c"] { try store.set(1, forKey: key) }
  }

  /// Commits on the fast path; nil if that cannot do it.
  private func put(_ key: String, _ value: Value) throws -> Revision? {
    let before = try store.currentRevision()
    let revision = try KeyName(key).withPrepared { store.fast?.put(value, for: $0, .shared, tag: nil) }
    if revision == nil { #expect(try store.currentRevision() == before) }
    return revision
  }

  @Test func `sets a key, and makes no revision for an equal value`() throws {
    #expect(try put("a", 2) == 4)
    #expect(try store.entry(for: KeyName("a")) == Entry(value: 2, revision: 4))
    #expect(try put("a", 2) == 4)
    #expect(try ChildProcess(opening: folder.path + "/store").ask("get", "a") == "2")
  }

  @Test func `leaves a commit that a handle observes to others`() throws {
    func put(_ value: Value) throws -> Bool { try KeyName("a").withPrepared { store.putKnown(value, for: $0) } }
    let other = try Store.open(folder.path + "/store")
    let subscription = try other.observe(.key(KeyName("b"))) { _ in }
    #expect(try !put(2))
    #expect(try store.currentRevision() == 3)
    subscription.cancel()
    #expect(try put(2))
    #expect(try store.currentRevision() == 4)
  }

  @Test func `sets a key whose value is not in memory`() throws {
    func long(_ last: UInt8) -> Value { .bytes(Array(repeating: 0, count: 9000) + [last]) }
    #expect(try put("unknown", 1) == 4)
    #expect(try put("a", long(1)) == 5)
    #expect(try put("a", long(1)) == 5)
    #expect(try put("a", long(2)) == 6)
    #expect(try put("b", "") == 7)
    try #require(store.fast as? LocalStorage).engine.checkpoint()
    #expect(try put("unknown", 1) == 7)
    #expect(try put("a", long(2)) == 7)
    #expect(try put("unknown", 2) == 8)
    #expect(try put("a", long(3)) == 9)
    #expect(try put("a", .string(String(repeating: "l", count: 9001))) == 10)
    #expect(try put("a", 1) == 11)
    #expect(try store.entry(for: KeyName("a")) == Entry(value: 1, revision: 11))
    #expect(try store.entry(for: KeyName("unknown")) == Entry(value: 2, revision: 8))
  }

  @Test func `commits the edits of a transaction whose conditions hold`() throws {
    func commit(_ prepare: (inout Batch) throws -> Void) throws -> Revision? {
      var batch = Batch()
      try prepare(&batch)
      let before = try store.currentRevision()
      let revision = store.fast?.commitAtOnce(batch)
      if revision == nil { #expect(try store.currentRevision() == before) }
      return revision
    }
    let (a, b, long) = (try KeyName("a"), try KeyName("b"), Value.bytes(Array(repeating: 0, count: 9000)))
    let made = try commit { batch in
      batch.edit(b, .remove)
      batch.edit(a, .set(2))
      batch.edit(try KeyName("long"), .set(long))
      batch.conditions = [.unchanged(a, after: 3), .revision(b, 2)]
    }
    #expect(made == 4)
    #expect(try commit { $0.edit(try KeyName("long"), .remove) } == 5)
    #expect(try commit { $0.edit(b, .remove) } == 5)
    #expect(try commit { $0.conditions = [.unchanged(a, after: 4)] } == 5)
    #expect(try ChildProcess(opening: folder.path + "/store").ask("get", "a") == "2")
    let refused = try commit { batch in
      batch.edit(a, .set(3))
      batch.conditions = [.unchanged(a, after: 3)]
    }
    #expect(refused == nil)
    try store.declare(Declaration(json: #"{"type":"integer","maximum":5}"#), forKey: "a")
    #expect(try commit { $0.edit(a, .set(4)) } == 7)
    let parts: [(inout Batch) throws -> Void] = [
      { $0.edit(a, .set(6)) }, { $0.edit(a, .remove) }, { $0.schemaVersion = 1 }, { $0.isAdmittedAsItIs = true },
      { $0.declare(b, try Declaration(json: #"{"type":"integer"}"#)) },
    ]
    for part in parts {
      let revision = try commit { batch in
        batch.edit(b, .set(5))
        try part(&batch)
      }
      #expect(revision == nil)
    }
    #expect(try store.entry(for: a)?.value == 4)
    #expect(try store.entry(for: b) == nil && store.entry(for: KeyName("long")) == nil)
  }

  @Test func `leaves to others what needs more`() throws {
    let schemas = ["a": #""maximum":5"#, "b": #""secret":true"#, "d": #""deprecated":true"#]
    for (key, schema) in schemas {
      try store.declare(Declaration(json: #"{"type":"integer",\#(schema)}"#), forKey: key)
    }
    for (key, value) in [("a", 6), ("a", "text"), ("b", 2), ("d", 2)] as [(String, Value)] {
      #expect(try put(key, value) == nil)
    }
    #expect(try put("c", 2) == 7)
  }

  @Test func `stores a value in the form of its declaration`() throws {
    let declaration = try Declaration(json: #"{"type":"number","default":0}"#)
    try store.declare(declaration, forKey: "a")
    #expect(try put("a", 2) == 5)
    #expect(try put("a", 2.0) == 5)
    #expect(try store.entry(for: KeyName("a")) == Entry(value: 2.0, revision: 5, declaration: declaration))
    #expect(try ChildProcess(opening: folder.path + "/store").ask("get", "a") == "2.0")
    store.close()
    let again = try Store.open(folder.path + "/store")
    #expect(try again.entry(for: KeyName("a")) == Entry(value: 2.0, revision: 5, declaration: declaration))
  }

  @Test func `applies the declaration that another process has made last`() throws {
    let other = try LocalStorage(path: folder.path + "/store")
    defer { other.close() }
    func declare(_ schema: String?) throws {
      var batch = Batch()
      batch.declare(try KeyName("a"), try schema.map { try Declaration(json: $0) })
      _ = try other.commit(batch)
    }
    try declare(#"{"type":"integer","maximum":5}"#)
    try store.set(4, forKey: "a")
    #expect(try put("a", 5) != nil)
    try declare(#"{"type":"integer","maximum":3}"#)
    #expect(try put("a", 4) == nil)
    #expect(throws: StoreError.self) { try store.set(4, forKey: "a") }
    #expect(throws: StoreError.self) { try store.transaction { try $0.set(4, forKey: "a") } }
    try store.set(3, forKey: "a")
    let transaction = try store.begin()
    try transaction.set(2, forKey: "a")
    try declare(#"{"type":"integer","maximum":1}"#)
    #expect(throws: StoreError.self) { try transaction.commit() }
    try declare(nil)
    try store.set("text", forKey: "a")
    #expect(try store.value(forKey: "a") == "text")
  }

  @Test func `is followed by transactions of much more`() throws {
    let keys = (0..<300).map { "key.\($0)" }
    for round in 0..<2 {
      try store.transaction { transaction in
        for key in keys { try transaction.set(.string(String(repeating: "\(round)", count: 10_000)), forKey: key) }
      }
      #expect(try store.currentRevision() == Revision(4 + round))
      #expect(try store.value(forKey: "key.299") == .string(String(repeating: "\(round)", count: 10_000)))
    }
  }

  @Test func `leaves the same store as commits that are observed`() throws {
    let paths = ["/fast", "/observed"].map { folder.path + $0 }
    let stores = try paths.map { try Store.open($0) }
    let subscription = try stores[1].observe(.prefix("")) { _ in }
    let long = Value.string(String(repeating: "l", count: 5000))
    let values: [Value] = [1, 2, 1.5, "text", true, ["x"], ["k": 1], .bytes([1]), long]
    var random = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      let edits = (0..<Int.random(in: 1...12, using: &random)).map { _ in
        ("key.\(Int.random(in: 0..<20, using: &random))", Int.random(in: 0...values.count, using: &random))
      }
      let isDeclaring = Int.random(in: 0..<20, using: &random) == 0
      for store in stores {
        if isDeclaring { _ = try? store.declare(Declaration(json: #"{"type":"integer"}"#), forKey: edits[0].0) }
        _ = try? store.transaction { transaction in
          for (key, value) in edits {
            if value < values.count {
              try transaction.set(values[value], forKey: key)
            } else {
              try transaction.remove(key)
            }
          }
        }
      }
      #expect(try contents(of: stores[0]) == contents(of: stores[1]))
    }
    subscription.cancel()
    for store in stores { store.close() }
    let opened = try paths.map { try contents(of: Store.open($0)) }
    #expect(opened[0] == opened[1])
  }

  private func contents(of store: Store) throws -> [String: Entry] {
    var contents = ["": Entry(value: nil, revision: try store.currentRevision())]
    for number in 0..<20 { contents["key.\(number)"] = try store.entry(for: KeyName("key.\(number)")) }
    return contents
  }
}
