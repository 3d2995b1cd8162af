// A damaged store on the engine: what its storage lists, and how it names what a salvage has lost.

import Foundation
import KeptEngine
@testable import KeptSchema
import KeptValues
import Testing

@testable import KeptCore

@Suite struct DamageTests {
  private let folder: LocalFolder
  private let keys: [KeyName]

  /// A store whose checkpoint has several blocks of records.
  init() throws {
    folder = try LocalFolder()
    keys = try (100..<300).map { try KeyName("key.\($0)") }
    let storage = try folder.open()
    var batch = Batch()
    for key in keys {
      batch.edit(key, .set(.string(String(repeating: "x", count: 50))))
      batch.declare(key, try Declaration(json: #"{"type":"string"}"#))
    }
    _ = try storage.commit(batch)
    try storage.engine.checkpoint()
    storage.close()
  }

  /// Changes the value of a key in the checkpoint.
  private func damage(_ key: KeyName) throws {
    let file = URL(filePath: folder.path + "/values")
    var bytes = try Data(contentsOf: file)
    bytes[try #require(bytes.range(of: Data(key.text.utf8))).upperBound] ^= 1
    try bytes.write(to: file)
  }

  @Test func `declarations outside a damaged block are listed`() throws {
    try damage(keys[0])
    let storage = try folder.open()
    let listed = try storage.declarations(prefix: "")
    #expect(listed.count > 100 && listed.count < keys.count)
    #expect(listed.map(\.key) == keys.suffix(listed.count))
    #expect(listed.allSatisfy { $0.declaration.type == .string })
    #expect(throws: StoreError.self) { try storage.value(keys[0]) }
    #expect(try ReadOnlyStorage(StoreFolder(path: folder.path)).declarations(prefix: "").count == listed.count)
  }

  @Test func `a value whose declaration may be lost with its record counts as a secret`() throws {
    let first = try folder.open()
    for key in keys[7...8] { try first.commit(key, .set(.string("value of \(key)"))) }
    first.close()
    try damage(keys[7])
    let found = try folder.open()
    #expect(try found.entry(for: keys[7])?.declaration == .lost, "also before the salvage")
    found.close()
    let storage = try folder.open()
    let store = Store(storage: storage)
    #expect(try storage.entry(for: keys[7])?.declaration == .lost)
    #expect(try store.value(forKey: keys[7].text) == .string("value of \(keys[7])"), "programs go on reading it")
    let export = try store.export()
    #expect(!export.contains("value of \(keys[7])") && export.contains("value of \(keys[8])"))
    try store.set("new value", forKey: keys[7].text)
    #expect(try !store.export().contains("new value"))
    #expect(try store.undeclare(keys[7].text) && store.export().contains("new value"))
  }

  @Test func `a key whose record is lost can be set, removed and declared before the salvage`() throws {
    try damage(keys[7])
    let storage = try folder.open()
    let store = Store(storage: storage)
    let (first, second, third) = (keys[7].text, keys[8].text, keys[9].text)
    for key in [first, second, third] { #expect(code { try store.value(forKey: key) } == .corrupt) }
    try store.set(5, forKey: first)
    try store.remove(second)
    try store.transaction { try $0.set("x", forKey: third) }
    let other = Store(storage: try folder.open())
    for store in [store, other] {
      #expect(try store.value(forKey: first) == .int(5) && store.value(forKey: second) == nil)
      #expect(try store.value(forKey: third) == .string("x"))
      for key in [first, second, third] { #expect(try store.declaration(forKey: key) == .lost) }
    }
    try other.set("again", forKey: second)
    for store in [store, other] {
      #expect(try store.value(forKey: second) == .string("again"))
      #expect(try store.declaration(forKey: second) == .lost, "what was removed may have been a secret")
    }
    try store.declare(Declaration(json: #"{"type":"integer"}"#), forKey: first)
    #expect(try store.declaration(forKey: first)?.type == .integer)
    #expect(code { try store.set("text", forKey: first) } == .wrongType)
  }

  @Test func `a salvage names the lost keys until it is acknowledged`() throws {
    for key in [keys[7], keys[199]] { try damage(key) }
    let found = try folder.open()
    #expect(throws: StoreError.self) { try found.value(keys[7]) }
    #expect(try found.salvaged() == nil)
    found.close()
    let storage = try folder.open()
    let note = try #require(try storage.salvaged())
    #expect(note.lostKeys == [keys[7], keys[199]])
    #expect(FileManager.default.fileExists(atPath: note.quarantine + "/values"))
    for key in keys { #expect(try (storage.value(key) == nil) == note.lostKeys.contains(key)) }
    try storage.commit(keys[7], .set("again"))
    try storage.engine.checkpoint()
    storage.close()
    let again = try folder.open()
    #expect(try again.salvaged()?.lostKeys == note.lostKeys)
    try again.acknowledgeSalvage()
    #expect(try again.salvaged() == nil)
    again.close()
    #expect(try folder.open().salvaged() == nil)
  }
}
