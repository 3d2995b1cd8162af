// A commit of one value at once must leave the same store as any other commit, and leave to those what it cannot do.

import Foundation
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

  @Test func `leaves to others what needs more`() throws {
    #expect(try put("unknown", 1) == nil)
    #expect(try put("a", .bytes(Array(repeating: 0, count: 4097))) == nil)
    let schemas = ["a": #""maximum":5"#, "b": #""secret":true"#, "d": #""deprecated":true"#]
    for (key, schema) in schemas {
      try store.declare(Declaration(json: #"{"type":"integer",\#(schema)}"#), forKey: key)
    }
    for (key, value) in [("a", 6), ("a", "text"), ("b", 2), ("d", 2)] as [(String, Value)] {
      #expect(try put(key, value) == nil)
    }
    #expect(try put("c", 2) == 7)
    let subscription = try store.observe(.key(KeyName("c"))) { _ in }
    #expect(try put("c", 3) == nil)
    subscription.cancel()
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
