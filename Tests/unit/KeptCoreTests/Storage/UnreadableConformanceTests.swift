// Values that a storage holds and cannot read: their keys are listed, and never reported as absent.

import Foundation
import KeptEngine
@testable import KeptSchema
@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite struct `A value that cannot be read` {
  let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  @Test(arguments: StorageUnderTest.spoilable)
  func `is named with the entries of its scope, and the reason`(_ kind: StorageUnderTest) throws {
    let fill = { (storage: any Storage) in
      for name in ["p.good", "p.bad", "q.bad", "r"] { try storage.commit(key(name), .set("x")) }
    }
    let storage = try kind.open(in: folder, filledBy: fill, spoiling: ["p.bad", "q.bad"])
    for scopes in [[Scope.prefix("p.")], [.prefix("p.b"), .prefix("p.")]] {
      let found = try storage.entries(in: scopes)
      #expect(found.entries.map(\.key.text) == ["p.good"])
      #expect(found.unreadable.map(\.key.text) == ["p.bad"], "once")
      #expect(found.unreadable.allSatisfy { $0.reason.code == .corrupt && $0.reason.key == "p.bad" })
    }
    let all = try storage.entries(in: [.prefix("")])
    #expect(Set(all.unreadable.map(\.key.text)) == ["p.bad", "q.bad"])
    #expect(Set(all.entries.map(\.key.text)) == ["p.good", "r"])
  }

  @Test(arguments: StorageUnderTest.withLocations)
  func `does not hide other keys, when each is a scope of its own`(_ kind: StorageUnderTest) throws {
    let fill = { (storage: any Storage) in
      for name in ["good", "bad"] { try storage.commit(key(name), .set("x")) }
    }
    let storage = try kind.open(in: folder, filledBy: fill, spoiling: ["bad"])
    let found = try storage.entries(in: ["bad", "good", "bad"].map { .key(try key($0)) })
    #expect(found.entries.map(\.key.text) == ["good"])
    #expect(found.unreadable.map(\.key.text) == ["bad"])
    #expect(found.unreadable.allSatisfy { $0.reason.code == .corrupt && $0.reason.key == "bad" })
  }

  @Test(arguments: StorageUnderTest.spoilable)
  func `is an entry again once it is set anew`(_ kind: StorageUnderTest) throws {
    let storage = try kind.open(in: folder, filledBy: { try $0.commit(key("a"), .set(1)) }, spoiling: ["a"])
    #expect(try storage.entries(in: [.prefix("")]).unreadable.count == 1)
    try kind.repair("a", storage, in: folder)
    let found = try storage.entries(in: [.prefix("")])
    #expect(found.unreadable.isEmpty && found.entries.map(\.entry.value) == [2])
  }

  @Test(arguments: StorageUnderTest.withLocations)
  func `keeps its revision and its declaration`(_ kind: StorageUnderTest) throws {
    let fill = { (storage: any Storage) in
      let store = Store(storage: storage)
      try store.declare(Declaration(json: #"{"type":"integer","default":4}"#), forKey: "a")
      try store.set(5, forKey: "a")
    }
    let storage = try kind.open(in: folder, filledBy: fill, spoiling: ["a"])
    let found = try storage.entries(in: [.prefix("")])
    #expect(found.entries.isEmpty, "as an entry it would read as its default")
    #expect(found.unreadable.first?.revision == 2 && found.unreadable.first?.declaration?.type == .integer)
  }

  @Test(arguments: StorageUnderTest.withLocations)
  func `does not hide declarations`(_ kind: StorageUnderTest) throws {
    let fill = { (storage: any Storage) in
      let store = Store(storage: storage)
      for name in ["a", "b"] {
        try store.declare(Declaration(json: #"{"type":"integer"}"#), forKey: name)
        try store.set(1, forKey: name)
      }
    }
    let storage = try kind.open(in: folder, filledBy: fill, spoiling: ["a"])
    let found = try storage.declarations(prefix: "")
    #expect(found.map(\.key.text) == ["a", "b"])
    #expect(found.allSatisfy { $0.declaration.type == .integer })
  }

  @Test func `is not removed for observers whose past is forgotten`() throws {
    let local = StorageUnderTest.local
    let store = Store(
      storage: try local.open(in: folder, filledBy: { try $0.commit(key("a"), .set(1)) }, spoiling: ["a"]))
    let removed = Monitor<[String]>([])
    let isOver = Monitor(false)
    let subscription = try store.observe(.prefix("")) { notice in
      removed.update { $0 += notice.changes.filter { $0.new == nil }.map(\.key.text) }
      if notice.changes.contains(where: { $0.key.text == "end" }) { isOver.update { $0 = true } }
    }
    defer { subscription.cancel() }
    let others = try local.open(in: folder)
    try others.forgetCommits()
    try others.commit(key("end"), .set(true))
    isOver.wait { $0 ? () : nil }
    #expect(removed.read(\.self) == [])
  }
}

extension StorageUnderTest {
  /// The storages whose values can be made unreadable from outside.
  static let spoilable: [StorageUnderTest] = [.local, .directory]

  /// Opens a storage that was filled, closed, and has values since that cannot be read.
  func open(
    in folder: TemporaryFolder, filledBy fill: (any Storage) throws -> Void, spoiling keys: [String]
  ) throws -> any Storage {
    let storage = try open(in: folder)
    try fill(storage)
    storage.close()
    try spoil(keys, in: folder)
    return try open(in: folder)
  }

  /// The storage is closed.
  func spoil(_ keys: [String], in folder: TemporaryFolder) throws {
    if self == .directory {
      for key in keys { try Data("{".utf8).write(to: URL(fileURLWithPath: path(in: folder) + "/\(key).json")) }
    } else {
      try plant(in: path(in: folder)) { if keys.contains($0.name) { $0.value = .unreadable } }
    }
  }

  /// A broken file must be repaired by a user; a broken record is replaced by the next write.
  fileprivate func repair(_ name: String, _ storage: any Storage, in folder: TemporaryFolder) throws {
    if self == .directory {
      try Data("2".utf8).write(to: URL(fileURLWithPath: path(in: folder) + "/\(name).json"))
    } else {
      try storage.commit(key(name), .set(2))
    }
  }
}
