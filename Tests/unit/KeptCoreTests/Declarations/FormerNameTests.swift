// Values under the former name of a key, next to a value of the key.

import Foundation
@testable import KeptSchema
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite struct `A value under a former name` {
  private let folder: TemporaryFolder
  private let store: Store
  private let list = #"{"properties":{"new":{"type":"integer","renamedFrom":"old"}}}"#

  init() throws {
    folder = try TemporaryFolder()
    store = try Store.open(folder.path + "/store")
  }

  private func declare() throws { #expect(try store.declare(listJSON: list).isEmpty) }

  private func stored() throws -> [String: Value] {
    try Dictionary(uniqueKeysWithValues: store.keys().map { ($0, try #require(try store.value(forKey: $0))) })
  }

  @Test func `is removed if the key has a newer one, and moved if the key was reset`() throws {
    try declare()
    try store.set(10, forKey: "old")
    try store.set(70, forKey: "new")
    try declare()
    #expect(try stored() == ["new": 70])
    try store.set(20, forKey: "old")
    #expect(try store.remove("new"))
    try declare()
    #expect(try stored() == ["new": 20])
    #expect(try store.remove("new"))
    try declare()
    #expect(try stored() == [:])
  }

  /// Each of these removes the key's value: its removal is newer than the value that is put back or stays.
  @Test(arguments: ["restore", "older restore", "import", "undo"])
  func `is moved after the value of the key was taken back`(by way: String) throws {
    if way != "older restore" { try declare() }
    try store.set(10, forKey: "old")
    let (backup, text) = (folder.path + "/backup", try store.export())
    try store.backup(to: backup)
    if way == "older restore" { try declare() }
    try store.set(70, forKey: "new")
    switch way {
    case "import": try store.import(text, ImportOptions(replaces: true))
    case "undo": try store.undo(revision: store.currentRevision())
    default: try store.restore(from: backup)
    }
    try declare()
    #expect(try stored() == ["new": 10])
  }

  @Test func `that does not fit is reported each time until the key has a value`() throws {
    try store.set("text", forKey: "old")
    try store.set(1, forKey: "new")
    try store.remove("new")
    for _ in 1...3 {
      #expect(try store.declare(listJSON: list).map(\.key) == ["new"])
      #expect(try stored() == ["old": "text"])
    }
    try store.set(1, forKey: "new")
    try declare()
    #expect(try stored() == ["new": 1])
  }

  @Test func `of a key that has the key as its former name is not lost`() throws {
    try declare()
    try store.declare(listJSON: #"{"properties":{"old":{"type":"integer","renamedFrom":"new"}}}"#)
    #expect(try store.declaration(forKey: "new")?.formerName == nil)
    try store.set(1, forKey: "new")
    try store.set(2, forKey: "old")
    let text = try store.export()
    try store.backup(to: folder.path + "/backup")
    try store.import(text, ImportOptions(replaces: true))
    #expect(try stored() == ["old": 2])
    try store.restore(from: folder.path + "/backup")
    try declare()
    #expect(try stored() == ["new": 2])
  }

  @Test func `does not come back by an undo, and replaces no value of the key`() throws {
    try declare()
    try store.set(10, forKey: "old")
    try store.set(70, forKey: "new")
    try declare()
    #expect(try store.undo(revision: store.currentRevision()) == ["old"])
    try declare()
    #expect(try stored() == ["new": 70])
    // A move is undone.
    try store.set(20, forKey: "old")
    try declare()
    #expect(try stored() == ["new": 20])
    try store.undo(revision: store.currentRevision())
    try declare()
    #expect(try stored() == ["new": 70])
    try store.remove("new")
    try store.set(30, forKey: "old")
    try declare()
    try store.undo(revision: store.currentRevision())
    #expect(try stored() == ["old": 30])
  }

  @Test func `does not come back by a restore, unless it was newer`() throws {
    try declare()
    try store.set(10, forKey: "old")
    try store.set(70, forKey: "new")
    try store.backup(to: folder.path + "/older")
    try store.set(20, forKey: "old")
    try store.backup(to: folder.path + "/newer")
    try store.set(30, forKey: "old")
    try store.restore(from: folder.path + "/older")
    try declare()
    #expect(try stored() == ["new": 70])
    try store.restore(from: folder.path + "/newer")
    try declare()
    #expect(try stored() == ["new": 20])
  }

  @Test func `is restored for the key with an older value, and next to a newer one of another key`() throws {
    try store.declare(
      listJSON: #"""
        {"properties":{"b":{"type":"integer","renamedFrom":"old"},"c":{"type":"integer","renamedFrom":"old"}}}
        """#)
    try store.set(1, forKey: "b")
    try store.set(2, forKey: "old")
    try store.set(3, forKey: "c")
    try store.backup(to: folder.path + "/backup")
    try store.set(9, forKey: "b")
    try store.restore(from: folder.path + "/backup")
    #expect(try stored() == ["old": 2, "c": 3])
  }

  @Test func `is imported next to a value of the key if the import ends the renaming`() throws {
    try store.set(1, forKey: "new")
    try store.set(3, forKey: "old")
    let text = try store.export(ExportOptions(includesDeclarations: true))
    try declare()
    try store.import(text, ImportOptions(replaces: true, includesDeclarations: true))
    #expect(try stored() == ["new": 1, "old": 3])
  }

  @Test func `is not imported next to a value of the key`() throws {
    try declare()
    try store.set(10, forKey: "old")
    try store.set(70, forKey: "new")
    let text = try store.export()
    #expect(try store.remove("old"))
    let report = try store.import(text)
    #expect(report.notCarried.map(\.place) == ["old"] && report.changed.isEmpty)
    #expect(try stored() == ["new": 70])
    let older = Store(storage: MemoryStorage())
    try older.set(20, forKey: "old")
    try store.import(older.export())
    try declare()
    #expect(try stored() == ["new": 20])
  }

  @Test func `stays as long as one of its keys has not taken it`() throws {
    let both = #"""
      {"properties":{"a":{"type":"integer","renamedFrom":"old","maximum":100},
      "b":{"type":"integer","renamedFrom":"old"}}}
      """#
    try store.set(200, forKey: "old")
    for _ in 1...2 {
      #expect(try store.declare(listJSON: both).map(\.key) == ["a"])
      #expect(try stored() == ["old": 200, "b": 200])
    }
  }

  @Test func `is not declared by a rename to it, and is not read once it is a secret`() throws {
    try declare()
    try store.rename("new", to: "old")
    #expect(try store.declaration(forKey: "old")?.json == #"{"type":"integer"}"#)
    try declare()
    try store.drop("old")
    try store.declare(Declaration(json: #"{"type":"integer","secret":true}"#), forKey: "secret")
    try store.rename("secret", to: "old")
    #expect(try store.declaration(forKey: "new")?.formerName == nil)
  }
}
