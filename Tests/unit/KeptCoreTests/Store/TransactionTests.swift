// Many keys change together or not at all, based on the values read and on nothing older.

import Foundation
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite struct `A transaction` {
  let folder: TemporaryFolder
  let store: Store
  init() throws {
    folder = try TemporaryFolder()
    store = try Store.open(folder.path + "/store")
  }

  @Test func `reads and lists its own writes`() throws {
    try store.set(1, forKey: "p.a")
    try store.set(1, forKey: "p.b")
    try store.transaction { transaction in
      try transaction.set(2, forKey: "p.a")
      try transaction.set(2, forKey: "p.c")
      #expect(try transaction.remove("p.b"))
      #expect(try transaction.remove("p.b") == false)
      #expect(try transaction.value(forKey: "p.a") == 2)
      #expect(try transaction.value(forKey: "p.b") == nil)
      #expect(try transaction.keys(prefix: "p.") == ["p.a", "p.c"])
      #expect(try transaction.revision(of: "p.a") == 0, "not yet committed")
    }
    #expect(try store.keys() == ["p.a", "p.c"])
  }

  @Test func `is forgotten when its closure throws`() throws {
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try store.transaction { transaction in
        try transaction.set(1, forKey: "a")
        throw Stop()
      }
    }
    #expect(try store.keys().isEmpty)
    #expect(try store.currentRevision() == 0)
  }

  @Test func `is retried when another writer changes what it read`() throws {
    try store.set(1, forKey: "a")
    var runs = 0
    try store.transaction { transaction in
      runs += 1
      let read = try transaction.value(forKey: "a")
      if runs == 1 { try store.set(10, forKey: "a") }
      try transaction.set([read ?? .null], forKey: "copy")
    }
    #expect(runs == 2)
    #expect(try store.value(forKey: "copy") == [10])
  }

  @Test func `is retried when another writer adds to what it listed`() throws {
    var runs = 0
    try store.transaction { transaction in
      runs += 1
      let count = try transaction.keys(prefix: "p.").count
      if runs == 1 { try store.set(1, forKey: "p.new") }
      try transaction.set(.int(Int64(count)), forKey: "count")
    }
    #expect(runs == 2)
    #expect(try store.value(forKey: "count") == 1)
  }

  @Test func `is not retried for keys that it neither read nor listed`() throws {
    var runs = 0
    try store.transaction { transaction in
      runs += 1
      try transaction.set(1, forKey: "a")
      try store.set(2, forKey: "b")
    }
    #expect(runs == 1)
  }

  @Test func `throws a refused revision instead of retrying`() throws {
    try store.set(1, forKey: "a")
    var runs = 0
    #expect(
      conflict {
        try store.transaction { transaction in
          runs += 1
          try transaction.set(2, forKey: "a", ifRevision: 7)
        }
      })
    #expect(runs == 1)
    try store.transaction { try $0.set(2, forKey: "a", ifRevision: 1) }
    #expect(try store.value(forKey: "a") == 2)
  }

  @Test func `updates a counter from many threads without losing any`() async throws {
    let path = folder.path + "/store"
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          let mine = try Store.open(path)
          for _ in 0..<25 { try mine.updateValue("count") { $0 = .int(($0?.asInt64 ?? 0) + 1) } }
        }
      }
      try await group.waitForAll()
    }
    #expect(try store.value(forKey: "count") == 100)
  }

  @Test func `an update can remove, and refuses what cannot be stored`() throws {
    try store.updateValue("a") { $0 = 1 }
    #expect(code { try store.updateValue("a") { $0 = .string(String(repeating: "x", count: 1 << 25)) } } == .tooLarge)
    #expect(try store.value(forKey: "a") == 1)
    try store.updateValue("a") { $0 = nil }
    #expect(try store.contains("a") == false)
  }
}
