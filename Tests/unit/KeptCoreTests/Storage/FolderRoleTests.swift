// What a storage in a folder can do beyond the contract: copy itself, verify its files, and notice that its folder was
// moved away.

import Foundation
@testable import KeptCore
@testable import KeptEngine
import KeptSchema
@testable import KeptSystem
@testable import KeptValues
import Testing

@Suite struct `A storage in a folder` {
  let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private func open() throws -> LocalStorage { try LocalStorage(path: path) }
  private var path: String { "\(folder.path)/store" }

  /// Copies a storage to a folder, where another one is opened.
  private func copy(_ storage: any CopyableStorage, to name: String) throws -> LocalStorage {
    let path = "\(folder.path)/\(name)"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    let draft = try OpenFolder.own(path).makeFile("values")
    #expect(try storage.copy(into: draft) == storage.revision())
    return try LocalStorage(path: path)
  }

  @Test func `is copied with its declarations, revisions, schema version and history`() throws {
    let storage = try open()
    for number in 1...300 as ClosedRange<Int64> {
      var batch = Batch()
      batch.author.tag = "\(number)"
      batch.edit(try key("a.\(number % 40)"), .set(.int(number)))
      batch.edit(try key("long"), .set(.bytes(Array(repeating: UInt8(number % 7), count: 5000))))
      if number % 50 == 0 { batch.declare(try key("a.0"), try Declaration(json: #"{"type":"integer"}"#)) }
      _ = try storage.commit(batch)
    }
    try storage.commit(key("a.1"), .remove)
    var batch = Batch()
    batch.schemaVersion = 7
    _ = try storage.commit(batch)
    let copied = try copy(storage, to: "copy")
    #expect(try copied.revision() == storage.revision() && copied.schemaVersion() == 7)
    let (found, expected) = (try copied.entries(in: [.prefix("")]), try storage.entries(in: [.prefix("")]))
    #expect(Set(found.entries) == Set(expected.entries) && found.unreadable.isEmpty)
    func past(_ storage: any Storage) throws -> [String] {
      let history = try #require(storage as? any HistoricalStorage).history(in: .prefix(""))
      return ["\(history.completeAfter)"] + history.changes.map { "\($0.key) \($0.revision) \($0.old) \($0.new)" }
    }
    #expect(try past(copied) == past(storage))
    #expect(try past(copied).count > 300)
    // The copy is a store of its own.
    try copied.commit(key("a.1"), .set("mine"))
    #expect(try storage.value(key("a.1")) == nil)
    let changes = try past(copied).count
    copied.close()
    let again = try LocalStorage(path: "\(folder.path)/copy")
    #expect(try again.value(key("a.1")) == "mine" && past(again).count == changes)
  }

  @Test func `is sound until a file of it is damaged`() throws {
    var storage = try open()
    for number in 1...200 as ClosedRange<Int64> {
      try storage.commit(key("a.\(number)"), .set(.bytes(Array(repeating: UInt8(number), count: 1000))))
    }
    #expect(try storage.damage() == nil)
    storage.close()
    storage = try open()
    #expect(try storage.damage() == nil)
    let path = URL(fileURLWithPath: path + "/values")
    var bytes = try Data(contentsOf: path)
    bytes[bytes.count / 2] ^= 1
    let handle = try FileHandle(forWritingTo: path)
    try handle.write(contentsOf: bytes)
    try handle.close()
    #expect(try storage.damage()?.code == .corrupt)
    storage.close()
    #expect(code { try storage.damage() } == .closed)
  }

  @Test(arguments: ["values", "journal.1", "history.1", "history.1 is lost"])
  func `finds damage in each file`(_ name: String) throws {
    let storage = try open()
    // No thread makes a checkpoint in between.
    storage.readers.maintenance.end()
    for number in 1...50 as ClosedRange<Int64> {
      if number == 40 { try storage.engine.checkpoint() }
      var batch = Batch()
      batch.author.tag = "\(number)"
      batch.edit(try key("a"), .set(.bytes(Array(repeating: UInt8(number), count: 3000))))
      _ = try storage.commit(batch)
    }
    #expect(try storage.damage() == nil)
    let path = URL(fileURLWithPath: "\(try storage.folder.path)/\(name.prefix(while: { $0 != " " }))")
    if name.contains("lost") {
      try FileManager.default.removeItem(at: path)
    } else {
      let handle = try FileHandle(forUpdating: path)
      try handle.seek(toOffset: name == "values" ? 4100 : 1000)
      let byte = try #require(handle.read(upToCount: 1)?.first)
      try handle.seek(toOffset: name == "values" ? 4100 : 1000)
      try handle.write(contentsOf: [byte ^ 1])
      try handle.close()
    }
    #expect(try storage.damage()?.code == .corrupt)
  }

  @Test func `that was moved away refuses everything until it is back`() async throws {
    let storage = try open()
    try storage.commit(key("a"), .set(1))
    async let isNews = code { try storage.wait(after: 1) }
    try FileManager.default.moveItem(atPath: path, toPath: path + "-away")
    storage.checkPlace()
    #expect(await isNews == .unavailable)
    #expect(code { try storage.entry(for: key("a")) } == .unavailable)
    #expect(code { try storage.commit(key("a"), .set(2)) } == .unavailable)
    #expect(code { try storage.flush() } == .unavailable)
    try FileManager.default.moveItem(atPath: path + "-away", toPath: path)
    #expect(try storage.value(key("a")) == 1)
    #expect(try storage.commit(key("a"), .set(3)).revision == 2)
    var batch = Batch(durability: .durable)
    batch.edit(try key("a"), .set(4))
    try FileManager.default.removeItem(atPath: path)
    #expect(code { try storage.commit(batch) } == .unavailable)
  }
}
