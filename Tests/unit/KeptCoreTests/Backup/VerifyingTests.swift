// Verifying a store: damage is a result, with its key, and everything else is counted.

import Foundation
@testable import KeptEngine
@testable import KeptSchema
@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite struct `Verifying a store` {
  let folder: TemporaryFolder
  let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/store"
  }

  private func filled(_ count: Int = 3) throws -> Store {
    let store = try Store.open(path)
    for index in 0..<count { try store.set(.string(String(repeating: "x", count: 50)), forKey: "key.\(index)") }
    try store.declare(Declaration(json: #"{"default":50,"maximum":100,"type":"integer"}"#), forKey: "volume")
    return store
  }

  @Test func `counts what can be read`() throws {
    let store = try filled()
    try store.set(70, forKey: "volume")
    let found = try store.verify()
    #expect(found.isSound)
    #expect((found.values, found.declarations) == (4, 1))
    #expect(found.misfits == [])
    #expect(found.revision == (try store.snapshot().revision))
  }

  @Test func `names a value that cannot be read, and one that does not fit`() throws {
    let whole = try filled()
    try whole.set(70, forKey: "volume")
    try whole.declare(Declaration(json: #"{"maximum":10,"type":"integer"}"#), forKey: "volume")
    whole.close()
    try plant(in: path) { if $0.name == "key.1" { $0.value = .unreadable } }
    let store = try Store.open(path)
    let found = try store.verify()
    #expect(found.isSound == false)
    #expect(found.damage.map(\.key) == [nil, "key.1"])
    #expect(found.damage.allSatisfy { $0.code == .corrupt })
    #expect(found.misfits == ["volume"])
    #expect(found.values == 3)
    store.close()
    let salvaged = try Store.open(path)
    #expect(try salvaged.salvaged()?.lostKeys == [key("key.1")])
    #expect(try salvaged.verify().isSound)
  }

  @Test func `names a declaration that cannot be read`() throws {
    try filled().close()
    try Array("[1]".utf8).withUnsafeBytes { text in
      try plant(in: path) { if $0.name == "volume" { $0.declaration = text } }
    }
    let found = try Store.open(path).verify()
    #expect(found.damage.map(\.key) == [nil, "volume"])
    #expect(found.declarations == 0)
  }

  @Test func `reports damage of the checkpoint, which the next open salvages`() throws {
    let store = try filled(3000)
    try store.flush()
    store.close()
    let values = URL(fileURLWithPath: path + "/values")
    var bytes = try Data(contentsOf: values)
    let block = bytes.count / 8192 * 4096
    for index in block..<block + 4096 { bytes[index] = 0xAA }
    try bytes.write(to: values)
    let damaged = try Store.open(path)
    let found = try damaged.verify()
    #expect(found.isSound == false)
    #expect(found.damage.contains { $0.key == nil && $0.code == .corrupt })
    damaged.close()
    let salvaged = try Store.open(path)
    #expect(try salvaged.salvaged() != nil)
    #expect(try salvaged.verify().isSound)
  }

  @Test(arguments: [40, 600]) func `reports damage of the journal`(place: Int) throws {
    let store = try filled()
    defer { store.close() }
    let journal = try FileHandle(forUpdating: URL(fileURLWithPath: path + "/journal.0"))
    func flip() throws {
      try journal.seek(toOffset: UInt64(place))
      let byte = try #require(try journal.read(upToCount: 1)?.first)
      try journal.seek(toOffset: UInt64(place))
      try journal.write(contentsOf: Data([byte ^ 1]))
    }
    try flip()
    let found = try store.verify()
    #expect(found.damage.count == 1 && found.damage.allSatisfy { $0.code == .corrupt && $0.key == nil })
    try flip()
    #expect(try store.verify().isSound)
  }

  @Test func `reports its progress, and can be stopped`() throws {
    let store = try filled(250)
    let calls = Monitor<[Int]>([])
    _ = try store.verify { done, total in
      #expect(total == 251)
      calls.update { $0.append(done) }
      return true
    }
    #expect(calls.read { $0.first == 0 && $0.last == 251 && $0 == $0.sorted() })
    #expect { try store.verify { _, _ in false } } throws: { ($0 as? StoreError)?.code == .failed }
  }

  @Test func `is the same in memory and in a folder of files, and refused where keys cannot be listed`() throws {
    for location in ["memory:", "dir:" + folder.path + "/files"] {
      let store = try Store.open(location)
      try store.set(1, forKey: "a")
      let found = try store.verify()
      #expect(found.isSound && found.values == 1)
      store.close()
      #expect { try store.verify() } throws: { ($0 as? StoreError)?.code == .closed }
    }
    let store = Store(storage: SimpleStorageAdapter(Drawer()))
    #expect { try store.verify() } throws: { ($0 as? StoreError)?.code == .unsupported }
  }

  @Test func `never shows a secret`() throws {
    let store = try filled()
    try store.keepSecretsPlain()
    try store.declare(Declaration(json: #"{"secret":true,"type":"string"}"#), forKey: "token")
    try store.set("hunter2", forKey: "token")
    store.close()
    try plant(in: path) {
      if $0.name == "token" { $0.value = StoredValue(kind: 7, payload: $0.value.payload) }
    }
    let json = try Store.open(path).verify().json
    #expect(json.contains("token") && !json.contains("hunter2"))
  }
}
