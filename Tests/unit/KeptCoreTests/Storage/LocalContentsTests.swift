// Snapshots and exports of a store on the engine, which read its files when a value is needed.

import Foundation
import KeptEngine
import KeptSchema
import KeptSystem
import KeptValues
import Testing

@testable import KeptCore

@Suite struct LocalContentsTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  /// Some values of each kind, keys and texts that JSON escapes, and declarations.
  private static func fill(_ store: Store) throws {
    for (index, value) in Value.oneOfEachKind.enumerated() { try store.set(value, forKey: "kind.\(index)") }
    for text in ["", "\"\\\u{1}\n", "é\u{301}", String(repeating: "long", count: 2000)] {
      try store.set(.string(text), forKey: "text.\(text.prefix(5))")
    }
    try store.set(true, forKey: "\"quoted\\\"")
    try store.declare(Declaration(json: #"{"type":"integer","default":4}"#), forKey: "volume")
    try store.declare(Declaration(json: #"{"type":"integer","default":4}"#), forKey: "volume.set")
    try store.set(7, forKey: "volume.set")
    if try store.storage() is LocalStorage { try store.keepSecretsPlain() }
    try store.declare(Declaration(json: #"{"type":"string","secret":true}"#), forKey: "token")
    try store.set("hush", forKey: "token")
    try store.set(1, forKey: "removed")
    _ = try store.delete(KeyName("removed"))
  }

  private func open() throws -> LocalStorage { try LocalStorage(path: StorageUnderTest.local.path(in: folder)) }

  private func entries(_ snapshot: Snapshot) throws -> [KeyName: Entry?] {
    var found: [KeyName: Entry?] = [:]
    for key in try snapshot.listedKeys(prefix: "") { found[key] = try snapshot.entry(for: key) }
    return found
  }

  @Test func `a snapshot stays as it was, also when the store is closed`() throws {
    let (model, engine) = (Store(storage: MemoryStorage()), try open())
    let store = Store(storage: engine)
    for store in [model, store] { try Self.fill(store) }
    let (snapshot, expected) = (try store.snapshot(), try model.snapshot())
    let part = try store.snapshot(prefix: "text.")
    func check() throws {
      #expect(try entries(snapshot) == entries(expected))
      #expect(try snapshot.storedKeys(prefix: "kind") == expected.storedKeys(prefix: "kind"))
      #expect(snapshot.revision == expected.revision)
      #expect(try part.storedKeys(prefix: "").count == 4)
      #expect(code { try part.value(forKey: "token") } == .invalid)
    }
    try check()
    for round in 0..<3 {
      for key in try snapshot.storedKeys(prefix: "kind") { try store.set(.int(Int64(round)), forKey: key.text) }
      try store.set("new", forKey: "new")
      try engine.engine.checkpoint()
      try check()
    }
    store.close()
    try check()
  }

  @Test func `an export has the same text as one of a copy`() throws {
    let (model, engine) = (Store(storage: MemoryStorage()), try open())
    let store = Store(storage: engine)
    for store in [model, store] { try Self.fill(store) }
    for _ in 0..<2 {
      for prefix in ["", "t", "volume", "none"] {
        for flags in 0..<4 {
          let counts = [Monitor<[Int]>([]), Monitor<[Int]>([])]
          let texts = try [model, store].enumerated().map { index, store in
            var options = ExportOptions(
              prefix: prefix, includesDeclarations: flags & 1 != 0, includesSecrets: flags & 2 != 0,
              leavesSecretsPlain: flags & 2 != 0)
            if flags == 0 {
              let seen = counts[index]
              options.progress = { done, total in
                seen.update { $0 += [done, total] }
                return true
              }
            }
            return try store.export(options)
          }
          #expect(texts[0] == texts[1])
          #expect(counts[0].read(\.self) == counts[1].read(\.self))
        }
      }
      let (path, expected) = (folder.path + "/export.json", try model.export())
      try store.export(to: path)
      #expect(try String(contentsOfFile: path, encoding: .utf8) == expected)
      // From records, instead of frames.
      try engine.engine.checkpoint()
    }
  }

  @Test func `an export of many values that were just committed has all of them`() throws {
    let engine = try open()
    let store = Store(storage: engine)
    var batch = Batch()
    for number in 0..<5000 { batch.edit(try KeyName("key.\(number)"), .set(.int(Int64(number)))) }
    _ = try engine.commit(batch)
    try store.set("changed", forKey: "key.77")
    try store.set("new", forKey: "key.77.new")
    let values = try Value(json: store.export()).asDictionary?["values"]?.asDictionary
    #expect(values?.count == 5001)
    #expect(values?["key.77"] == "changed" && values?["key.77.new"] == "new" && values?["key.4999"] == 4999)
  }
}
