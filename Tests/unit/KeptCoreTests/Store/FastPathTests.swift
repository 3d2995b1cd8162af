// The fast path of commits must leave the same store as the path of groups, and leave to that what it cannot do.

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
    // A group makes the writer and the index.
    for key in ["a", "b", "c"] { try store.set(1, forKey: key) }
  }

  private func batch(_ edits: [String: Batch.Edit], if conditions: [Condition] = []) throws -> Batch {
    var batch = Batch()
    for (key, edit) in edits { batch.edit(try KeyName(key), edit) }
    batch.conditions = conditions
    return batch
  }

  /// Commits on the fast path; nil if that needs a group.
  private func put(_ edits: [String: Batch.Edit], if conditions: [Condition] = []) throws -> Revision? {
    let batch = try batch(edits, if: conditions)
    let before = try store.currentRevision()
    let revision = store.fast?.put(batch)
    if revision == nil { #expect(try store.currentRevision() == before) }
    return revision
  }

  @Test func `changes several keys in one revision, and skips equal values`() throws {
    #expect(try put(["a": .set(2), "b": .set(1), "c": .remove]) == 4)
    #expect(try store.entry(for: KeyName("a")) == Entry(value: 2, revision: 4))
    #expect(try store.revision(of: "b") == 2)
    #expect(try store.contains("c") == false)
    #expect(try put(["c": .set(3)]) == 5)
    #expect(try put(["a": .set(2), "c": .set(3)]) == 5, "nothing has changed")
    #expect(try ChildProcess(opening: folder.path + "/store").ask("get", "c") == "3")
  }

  @Test func `leaves to groups what needs more`() throws {
    #expect(try put(["a": .set(2), "unknown": .set(1)]) == nil)
    #expect(try put(["a": .set(.bytes(Array(repeating: 0, count: JournalWriter.mostInline + 1)))]) == nil)
    try store.declare(Declaration(json: #"{"type":"integer","maximum":9}"#), forKey: "a")
    try store.declare(Declaration(json: #"{"type":"integer","secret":true}"#), forKey: "b")
    try store.declare(Declaration(json: #"{"type":"integer","deprecated":true}"#), forKey: "c")
    #expect(try put(["a": .set(10)]) == nil)
    #expect(try put(["a": .set("text")]) == nil)
    #expect(try put(["b": .set(2)]) == nil)
    #expect(try put(["b": .remove]) == nil)
    #expect(try put(["c": .set(2)]) == nil)
    #expect(try put(["a": .set(9)]) == 7)
    var batch = try batch(["a": .set(3)])
    batch.declare(try KeyName("a"), nil)
    #expect(store.fast?.put(batch) == nil)
    let subscription = try store.observe(.key(KeyName("c"))) { _ in }
    #expect(try put(["a": .set(4)]) == nil)
    subscription.cancel()
  }

  @Test func `commits only if its conditions hold`() throws {
    let (a, unknown) = (try KeyName("a"), try KeyName("unknown"))
    #expect(try put(["b": .set(2)], if: [.revision(a, 2)]) == nil)
    #expect(try put(["b": .set(2)], if: [.revision(a, 0)]) == nil)
    #expect(try put(["b": .set(2)], if: [.unchanged(a, after: 0)]) == nil)
    #expect(try put(["b": .set(2)], if: [.unchanged(unknown, after: 3)]) == nil)
    #expect(try put(["b": .set(2)], if: [.unchangedPrefix("a", after: 3)]) == nil)
    #expect(try put(["b": .set(2)], if: [.revision(a, 1), .unchanged(a, after: 1)]) == 4)
    #expect(try put(["a": .remove]) == 5)
    #expect(try put(["b": .set(3)], if: [.revision(a, 1)]) == nil)
    #expect(try put(["b": .set(3)], if: [.revision(a, 0), .unchanged(a, after: 5)]) == 6)
  }

  @Test func `commits a transaction that is too long for a frame, too`() throws {
    let keys = (0..<300).map { "key.\($0)" }
    for round in 0..<2 {
      try store.transaction { transaction in
        for key in keys { try transaction.set(.string(String(repeating: "\(round)", count: 10_000)), forKey: key) }
      }
      #expect(try store.currentRevision() == Revision(4 + round))
      #expect(try store.value(forKey: "key.299") == .string(String(repeating: "\(round)", count: 10_000)))
    }
  }

  @Test func `leaves the same store as groups`() throws {
    let paths = ["/fast", "/observed"].map { folder.path + $0 }
    let stores = try paths.map { try Store.open($0) }
    let subscription = try stores[1].observe(.prefix("")) { _ in }
    let long = Value.string(String(repeating: "l", count: JournalWriter.mostInline + 1))
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
