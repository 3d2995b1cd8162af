// Verifying a store: damage is a result, with its key, and everything else is counted.

import Foundation
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

  private func change(_ sql: String) throws {
    try SQLiteConnection(path: path + "/values.sqlite", busyTimeoutMilliseconds: 1000).run(sql)
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
    try filled().close()
    try change("UPDATE entry SET kind = 'sound' WHERE key = 'key.1'")
    try change("INSERT INTO entry (key, kind, value, revision) VALUES ('volume', 'int', 1000, 4)")
    let store = try Store.open(path)
    let found = try store.verify()
    #expect(found.isSound == false)
    #expect(found.damage.map(\.key) == ["key.1"])
    #expect(found.damage.allSatisfy { $0.code == .corrupt })
    #expect(found.misfits == ["volume"])
    #expect(found.values == 3)
    try store.set("sound", forKey: "key.1")
    #expect(try store.verify().isSound, "setting the value again mends it")
  }

  @Test func `names a declaration that cannot be read`() throws {
    try filled().close()
    try change("UPDATE declaration SET schema = '[1]' WHERE key = 'volume'")
    let found = try Store.open(path).verify()
    #expect(found.damage.map(\.key) == ["volume"])
    #expect(found.declarations == 0)
  }

  @Test func `reports damage of the database, which the next open salvages`() throws {
    let store = try filled(3000)
    try store.flush()
    store.close()
    let database = URL(fileURLWithPath: path + "/values.sqlite")
    var bytes = try Data(contentsOf: database)
    let page = bytes.count / 8192 * 4096
    for index in page..<page + 4096 { bytes[index] = 0xAA }
    try bytes.write(to: database)
    let damaged = try Store.open(path)
    let found = try damaged.verify()
    #expect(found.isSound == false)
    #expect(found.damage.contains { $0.key == nil && $0.code == .corrupt })
    damaged.close()
    let salvaged = try Store.open(path)
    #expect(try salvaged.salvaged() != nil)
    #expect(try salvaged.verify().isSound)
  }

  @Test(arguments: [40, JournalHeader.ringOffset + 100]) func `reports damage of the journal`(place: Int) throws {
    let store = try filled()
    defer { store.close() }
    let journal = try FileHandle(forUpdating: URL(fileURLWithPath: path + "/journal"))
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

  @Test func `names the processes whose locks the kernel lists, and no others`() {
    let list = """
      1: POSIX  ADVISORY  READ 4888 fe:00:77 128 128
      2: POSIX  ADVISORY  READ 4889 fe:00:77 124 124
      3: POSIX  ADVISORY  READ 4889 fe:00:77 125 125
      4: POSIX  ADVISORY  WRITE 4890 fe:00:77 123 123
      5: OFDLCK ADVISORY  READ -1 fe:00:77 123 EOF
      6: POSIX  ADVISORY  READ 4891 fe:00:177 123 123
      7: -> POSIX  ADVISORY  READ 4892 fe:00:77 123 123
      8: POSIX  ADVISORY  READ 1 00:1c:77 123 123
      9: POSIX  ADVISORY  READ 99999999999 fe:00:77 123 123
      """
    #expect(LogReaders.processes(in: Array(list.utf8), inode: 77, but: 1) == [4889])
    #expect(LogReaders.processes(in: Array(list.utf8), inode: 77, but: 4889) == [1])
    #expect(LogReaders.processes(in: Array(list.utf8), inode: 177, but: 1) == [4891])
    #expect(LogReaders.processes(in: Array("POSIX\n\n1: POSIX ADVISORY READ".utf8), inode: 77, but: 1) == [])
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
    try store.declare(Declaration(json: #"{"secret":true,"type":"string"}"#), forKey: "token")
    try store.set("hunter2", forKey: "token")
    store.close()
    try change("UPDATE entry SET kind = 'date' WHERE key = 'token'")
    let json = try Store.open(path).verify().json
    #expect(json.contains("token") && !json.contains("hunter2"))
  }
}
