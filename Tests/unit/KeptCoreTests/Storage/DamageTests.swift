// Damaged databases are set aside unchanged, readable values are salvaged, and the damage is reported.

import Foundation
@testable import KeptSchema
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite struct `A damaged store` {
  let folder: TemporaryFolder
  let path: String
  let database: URL
  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/store"
    database = URL(fileURLWithPath: path + "/values.sqlite")
  }

  @Test func `gives what can be read, and keeps the rest in quarantine`() throws {
    try fill(300)
    let damaged = try damage { bytes in
      // A page in the middle, filled with values.
      let page = bytes.count / 4096 / 2 * 4096
      for index in page..<page + 4096 { bytes[index] = 0xAA }
    }
    let marked = try LocalStorage(path: path)
    for index in 0..<300 { _ = try? marked.value(key("k\(index)")) }
    marked.close()
    let storage = try LocalStorage(path: path)
    let note = try #require(try storage.salvaged())
    let keys = try storage.keys(prefix: "")
    #expect((50..<300).contains(keys.count), "some were lost, others not")
    for key in keys { #expect(try storage.value(key) == .string(String(repeating: key.text, count: 20))) }
    #expect(try Data(contentsOf: URL(fileURLWithPath: "\(note.quarantine)/values.sqlite")) == damaged)
    #expect(try storage.commit(key("new"), .set(1)).revision > 1 << 40, "far above any that was given out")
    #expect(try storage.changes(after: 300) == .tooOld)
  }

  /// A changed byte leaves the keys on its page readable; the history names those on a page that is overwritten.
  @Test(arguments: [true, false]) func `names the keys whose values are lost`(isByte: Bool) throws {
    try fill(300)
    try damage { bytes in
      let place = try #require(bytes.range(of: Data("k7stringk7k7k7".utf8))).upperBound
      let page = place / 4096 * 4096
      for index in isByte ? place - 1..<place : page..<page + 4096 { bytes[index] ^= 0x55 }
    }
    try Data().write(to: URL(fileURLWithPath: path + "/damaged"))
    let storage = try LocalStorage(path: path)
    let note = try #require(try storage.salvaged())
    let found = Set(try storage.keys(prefix: ""))
    let lost = try (0..<300).map { try key("k\($0)") }.filter { !found.contains($0) }
    #expect(lost.contains(try key("k7")) && lost.count < 100)
    #expect(note.lostKeys == lost.sorted())
    #expect(FileManager.default.fileExists(atPath: note.quarantine + "/values.sqlite"))
  }

  @Test func `names no keys where the values are in the journal, or where nothing names them`() throws {
    let storage = try LocalStorage(path: path)
    for index in 0..<30 { try storage.commit(key("k\(index)"), .set(.int(Int64(index)))) }
    storage.close()
    try damage { bytes in bytes[4096 + 4000] ^= 1 }
    let salvaged = try LocalStorage(path: path)
    #expect(try salvaged.salvaged()?.lostKeys == [])
    #expect(try salvaged.keys(prefix: "").count == 30)
    salvaged.close()
    try forgetFrames()
    try damage { bytes in bytes = Data(repeating: 0xAA, count: bytes.count) }
    let empty = try LocalStorage(path: path)
    #expect(try empty.salvaged()?.lostKeys == [])
    #expect(try empty.keys(prefix: "") == [])
  }

  /// Every tenth page, or a single one: the values on the others are recovered.
  @Test(arguments: [1, 2, 15]) func `loses the values on its damaged pages and no more`(count: Int) throws {
    try fill(5000)
    var onDamaged: Set<Int> = []
    try damage { bytes in
      let keys = Dictionary(uniqueKeysWithValues: (0..<5000).map { (Data("k\($0)stringk\($0)k".utf8), $0) })
      let leaves = stride(from: 4096, to: bytes.count, by: 4096).filter { bytes[$0] == 0x0A }
      for number in 1...count {
        let page = leaves[leaves.count * number / (count + 1)]
        for (text, key) in keys where bytes[page..<page + 4096].range(of: text) != nil { onDamaged.insert(key) }
        for index in page..<page + 4096 { bytes[index] = 0xAA }
      }
    }
    try Data().write(to: URL(fileURLWithPath: path + "/damaged"))
    let storage = try LocalStorage(path: path)
    #expect(try storage.salvaged() != nil)
    let found = Set(try storage.keys(prefix: "").map(\.text))
    let lost = (0..<5000).filter { !found.contains("k\($0)") }
    #expect(lost.isEmpty == false)
    // A row of the page above, between two damaged pages, is found only by chance.
    let sorted = (0..<5000).sorted { "k\($0)" < "k\($1)" }
    let isAlone = Set(
      sorted.indices.dropFirst().dropLast().filter {
        onDamaged.contains(sorted[$0 - 1]) && onDamaged.contains(sorted[$0 + 1])
      }.map { sorted[$0] })
    #expect(lost.filter { !onDamaged.contains($0) && !isAlone.contains($0) } == [])
    for key in found { #expect(try storage.value(KeyName(key)) == .string(String(repeating: key, count: 20))) }
  }

  @Test func `loses no value where its id and its place in the journal are damaged`() throws {
    try fill(200)
    try damage { bytes in
      // Leaf pages of tables with row ids, apart from the schema.
      for page in stride(from: 4096, to: bytes.count, by: 4096) where bytes[page] == 0x0D {
        if bytes[page..<page + 4096].range(of: Data("CREATE ".utf8)) != nil { continue }
        for index in page..<page + 4096 { bytes[index] = 0xAA }
      }
    }
    let storage = try LocalStorage(path: path)
    #expect(try storage.salvaged() != nil)
    #expect(try storage.keys(prefix: "").count == 200)
    #expect(try storage.commit(key("new"), .set(1)).revision > 1 << 40)
  }

  /// One word of each: the column, the type, the name.
  @Test(arguments: ["value ANY", "TABLE entry", "TABLE store", "TABLE removed", "quarantine TEXT", "CHECK (id = 1"])
  func `loses no value where only the text of a table is damaged`(word: String) throws {
    try fill(200)
    try damage { bytes in
      let text = try #require(bytes.range(of: Data(word.utf8)))
      bytes[text.upperBound - 1] ^= 1
    }
    let storage = try LocalStorage(path: path)
    #expect(try storage.salvaged() != nil)
    #expect(try storage.keys(prefix: "").count == 200)
  }

  @Test func `loses no value where a byte of the header, or of the head of its first page, is changed`() throws {
    try fill(100)
    let whole = try Data(contentsOf: database)
    // Of each part of the header: the name, sizes and versions, counts, the encoding, and the head of the page.
    for place in [0, 3, 9, 16, 18, 19, 20, 21, 28, 31, 32, 40, 47, 52, 56, 59, 64, 96, 100, 101, 103, 105, 107] {
      try damage { bytes in
        bytes = whole
        bytes[place] ^= 0x41
      }
      let storage = try LocalStorage(path: path)
      #expect(try storage.salvaged() != nil, "\(place)")
      #expect(try storage.keys(prefix: "").count == 100, "byte \(place)")
      storage.close()
    }
  }

  @Test func `loses no value where its pages have no checksums`() throws {
    // As the sqlite3 shell makes it of a dump.
    try LocalStorage(path: path).close()
    for name in ["values.sqlite", "journal", "pulse"] { try FileManager.default.removeItem(atPath: "\(path)/\(name)") }
    try StoreFolder.makeFile(database.path)
    let connection = try SQLiteConnection(path: database.path, busyTimeoutMilliseconds: 0)
    try connection.run("PRAGMA journal_mode = WAL")
    try connection.run(LocalSchema.creation)
    try connection.run("INSERT INTO entry VALUES ('k', 'int', 7, NULL, 1)")
    try connection.copyLog()
    let storage = try LocalStorage(path: path)
    #expect(try storage.salvaged() != nil)
    #expect(try storage.value(key("k")) == .int(7))
  }

  @Test func `loses no value where the first page is overwritten`() throws {
    try fill(2000)
    try damage { bytes in bytes.replaceSubrange(0..<4096, with: Data(repeating: 0xAA, count: 4096)) }
    let storage = try LocalStorage(path: path)
    #expect(try storage.salvaged() != nil)
    #expect(try storage.keys(prefix: "").count == 2000)
  }

  @Test func `gives the values before the place where it was cut off`() throws {
    try fill(5000)
    try damage { bytes in bytes = bytes.prefix(bytes.count / 5 * 4) }
    let storage = try LocalStorage(path: path)
    #expect(try storage.salvaged() != nil)
    let found = try storage.keys(prefix: "")
    #expect((2000..<5000).contains(found.count), "\(found.count)")
    for key in found { #expect(try storage.value(key) == .string(String(repeating: key.text, count: 20))) }
  }

  @Test func `loses the values below a damaged page that leads to others, and no more`() throws {
    // With long keys, several pages lead to others.
    try fill(5000) { ("k\($0)-" + String(repeating: "x", count: 150), 1) }
    try damage { bytes in
      // The first of them is the root, which leads to all others.
      let pages = stride(from: 4096, to: bytes.count, by: 4096).filter { bytes[$0] == 0x02 }
      let page = pages[pages.count / 2]
      for index in page..<page + 4096 { bytes[index] = 0xAA }
    }
    try Data().write(to: URL(fileURLWithPath: path + "/damaged"))
    let storage = try LocalStorage(path: path)
    #expect(try storage.salvaged() != nil)
    #expect((4000..<5000).contains(try storage.keys(prefix: "").count))
  }

  @Test func `loses one value where that goes on in a damaged page`() throws {
    let storage = try LocalStorage(path: path)
    for index in 0..<20 {
      try storage.commit(key("k\(index)"), .set(.string(String(repeating: "k\(index)-", count: 900))))
    }
    var version = Batch()
    version.schemaVersion = 4
    _ = try storage.commit(version)
    storage.close()
    try forgetFrames()
    try damage { bytes in
      // The second overflow page of k7 names the next one; the test replaces it by a page number that does not exist.
      let page = try #require(bytes.range(of: Data(String(repeating: "k7-", count: 300).utf8))).lowerBound / 1024 * 1024
      for index in page..<page + 4 { bytes[index] = 0xAA }
    }
    try Data().write(to: URL(fileURLWithPath: path + "/damaged"))
    let salvaged = try LocalStorage(path: path)
    #expect(try salvaged.salvaged() != nil)
    #expect(try salvaged.schemaVersion() == 4)
    let found = Set(try salvaged.keys(prefix: "").map(\.text))
    #expect((0..<20).filter { !found.contains("k\($0)") } == [7])
    #expect(try salvaged.value(key("k7")) == nil)
  }

  @Test func `is quarantined byte for byte, with its log, and never written again`() throws {
    try fill(50)
    let log = try writeIntoLog()
    let damaged = try damage { bytes in bytes.replaceSubrange(0..<16, with: Data(count: 16)) }
    try Data().write(to: URL(fileURLWithPath: path + "/damaged"))
    let files = try filesInQuarantine(after: { try $0.commit(key("new"), .set(1)) })
    #expect(files["values.sqlite"] == damaged && files["values.sqlite-wal"] == log && files["journal"] != nil)
    for round in 0..<3 {
      let storage = try LocalStorage(path: path)
      for index in 0..<100 { try storage.commit(key("k\(index)"), .set(.int(Int64(round)))) }
      storage.close()
    }
    #expect(try filesInQuarantine(after: { try $0.flush() }) == files)
  }

  @Test func `is reported to every opener until it is acknowledged`() throws {
    try fill(3)
    try damage { bytes in bytes[0] = 0 }
    let one = try LocalStorage(path: path)
    let other = try LocalStorage(path: path)
    #expect(try one.salvaged() != nil)
    #expect(try other.salvaged() == one.salvaged())
    try other.acknowledgeSalvage()
    #expect(try one.salvaged() == nil)
    one.close()
    other.close()
    #expect(try LocalStorage(path: path).salvaged() == nil)
    #expect(try FileManager.default.contentsOfDirectory(atPath: path + "/quarantine").count == 1)
  }

  @Test func `is left alone while a process has it open`() throws {
    try fill(3)
    let open = try LocalStorage(path: path)
    let damaged = try damage { bytes in bytes[0] = 0 }
    let error = #expect(throws: StoreError.self) { try LocalStorage(path: path, busyTimeoutMilliseconds: 10) }
    #expect(error?.code == .corrupt)
    #expect(error?.message.contains("other programs have it open") == true)
    #expect(try Data(contentsOf: database) == damaged)
    open.close()
    #expect(try LocalStorage(path: path).salvaged() != nil)
  }

  @Test func `is salvaged where the last process closes it in between`() throws {
    try fill(3)
    for _ in 0..<10 {
      let open = try LocalStorage(path: path)
      try damage { bytes in bytes[0] = 0 }
      // A task might not begin while others wait: there are as many of their threads as processors.
      Thread { open.close() }.start()
      let salvaged = try LocalStorage(path: path, busyTimeoutMilliseconds: 60_000)
      #expect(try salvaged.salvaged() != nil)
      salvaged.close()
    }
  }

  @Test(arguments: [0, 1, 100, 4095, 4096, 5000]) func `is one that was cut off`(length: Int) throws {
    try fill(300)
    try damage { bytes in bytes = bytes.prefix(length) }
    let storage = try LocalStorage(path: path)
    #expect(try storage.salvaged() != nil)
    #expect(try storage.commit(key("new"), .set(1)).revision > 1 << 40)
  }

  @Test(arguments: [false, true]) func `is one whose database was removed`(hasLog: Bool) throws {
    let storage = try LocalStorage(path: path)
    for index in 0..<30 { try storage.commit(key("k\(index)"), .set(.int(Int64(index)))) }
    storage.close()
    if hasLog { try writeIntoLog().write(to: URL(fileURLWithPath: database.path + "-wal")) }
    try FileManager.default.removeItem(at: database)
    let files = try filesInQuarantine { (storage: LocalStorage) throws in
      for index in 0..<30 { #expect(try storage.value(key("k\(index)")) == .int(Int64(index))) }
    }
    #expect(files["journal"] != nil)
  }

  /// None of these exists before the database and the journal of a store do.
  @Test(arguments: ["pulse", "quarantine", "damaged"])
  func `is one whose database and journal were removed`(left: String) throws {
    try fill(3)
    for name in try FileManager.default.contentsOfDirectory(atPath: path) where name != left {
      try FileManager.default.removeItem(atPath: "\(path)/\(name)")
    }
    if left == "quarantine" {
      try FileManager.default.createDirectory(atPath: path + "/quarantine", withIntermediateDirectories: false)
    } else if left == "damaged" {
      try Data().write(to: URL(fileURLWithPath: path + "/damaged"))
    }
    let storage = try LocalStorage(path: path)
    #expect(try storage.salvaged() != nil)
    #expect(try storage.keys(prefix: "") == [])
    #expect(try storage.commit(key("new"), .set(1)).revision > 1 << 40, "no revision is given out twice")
  }

  @Test(arguments: [1, 4096, 200_000])
  func `keeps the commits in a journal that was cut off behind them`(cut: Int) throws {
    let storage = try LocalStorage(path: path)
    for index in 0..<30 { try storage.commit(key("k\(index)"), .set(.int(Int64(index)))) }
    // As after a kill: closing would put them into the database.
    let copy = folder.path + "/copy"
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    storage.close()
    let journal = try FileHandle(forUpdating: URL(fileURLWithPath: copy + "/journal"))
    try journal.truncate(atOffset: try journal.seekToEnd() - UInt64(cut))
    try journal.close()
    let salvaged = try LocalStorage(path: copy)
    #expect(try salvaged.salvaged() != nil)
    for index in 0..<30 { #expect(try salvaged.value(key("k\(index)")) == .int(Int64(index))) }
  }

  @Test func `shows no value whose declaration may be lost`() throws {
    let declared = try Declaration(json: #"{"type":"string","secret":true}"#)
    let whole = try Store.open(path)
    for name in ["b", "m"] { try whole.declare(declared, forKey: name) }
    for name in ["a", "b", "m", "z"] { try whole.setJSON("\"value of \(name)\"", forKey: name) }
    whole.close()
    try forgetFrames()
    try damage { bytes in
      let text = try #require(bytes.range(of: Data(declared.json.utf8)))
      let page = text.lowerBound / 4096 * 4096
      for index in page..<page + 4096 { bytes[index] = 0xAA }
    }
    try Data().write(to: URL(fileURLWithPath: path + "/damaged"))
    let store = try Store.open(path)
    #expect(try store.salvaged() != nil)
    #expect(try store.json(forKey: "m") == #""value of m""#, "programs go on reading it")
    #expect(try !store.export().contains("value of"))
    try store.setJSON(#""new value of m""#, forKey: "m")
    #expect(try store.json(forKey: "m") == #""new value of m""#)
    #expect(try !store.export().contains("value of"))
    try store.declare(declared, forKey: "m")
    #expect(try store.undeclare("a"))
    #expect(try store.export().contains("value of a"))
  }

  @Test func `is not one that was only marked`() throws {
    try fill(3)
    try Data().write(to: URL(fileURLWithPath: path + "/damaged"))
    let storage = try LocalStorage(path: path)
    #expect(try storage.salvaged() == nil)
    #expect(try storage.revision() == 3)
    #expect(!FileManager.default.fileExists(atPath: path + "/damaged"))
  }

  @Test func `is finished after a kill in the middle, and never meets the old log`() throws {
    // The new database was complete, but neither the old log nor the old database had been moved.
    try fill(3)
    let new = folder.path + "/new"
    let salvaged = try LocalStorage(path: new)
    try salvaged.commit(key("salvaged"), .set(1))
    salvaged.close()
    _ = try writeIntoLog()
    try FileManager.default.moveItem(atPath: new + "/values.sqlite", toPath: path + "/salvaged.sqlite")
    let storage = try LocalStorage(path: path)
    #expect(try storage.keys(prefix: "").map(\.text) == ["salvaged"])
    #expect(!FileManager.default.fileExists(atPath: path + "/salvaged.sqlite"))
  }

  @Test func `is replaced by a finished salvage also where its database and journal were removed`() throws {
    let new = try LocalStorage(path: path)
    try new.commit(key("salvaged"), .set(1))
    new.close()
    try FileManager.default.moveItem(at: database, to: URL(fileURLWithPath: path + "/salvaged.sqlite"))
    for name in ["journal", "pulse"] { try FileManager.default.removeItem(atPath: "\(path)/\(name)") }
    #expect(try LocalStorage(path: path).keys(prefix: "").map(\.text) == ["salvaged"])
  }

  @Test(arguments: ["head", "whole"])
  func `says so where commits are lost with its journal`(part: String) throws {
    let storage = try LocalStorage(path: path)
    for index in 0..<3 { try storage.commit(key("k\(index)"), .set(1)) }
    let copy = folder.path + "/copy"
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    storage.close()
    let journal = URL(fileURLWithPath: copy + "/journal")
    if part == "head" {
      var bytes = try Data(contentsOf: journal)
      bytes[40] ^= 8
      try bytes.write(to: journal)
    } else {
      try FileManager.default.removeItem(at: journal)
    }
    let damaged = try LocalStorage(path: copy)
    #expect(try damaged.value(key("k2")) == 1 || damaged.salvaged() != nil)
    #expect(try damaged.commit(key("new"), .set(1)).revision > 3, "no revision is given out twice")
  }

  @Test func `is salvaged once when many open it at the same time`() async throws {
    try fill(100)
    try damage { bytes in bytes[0] = 0 }
    let path = path
    let storages = try await withThrowingTaskGroup(of: LocalStorage.self) { group in
      for _ in 0..<6 { group.addTask { try LocalStorage(path: path) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    for storage in storages { #expect(try storage.salvaged() != nil) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: path + "/quarantine").count == 1)
  }

  private func fill(
    _ count: Int,
    with entry: (Int) -> (String, Value) = { ("k\($0)", .string(String(repeating: "k\($0)", count: 20))) }
  ) throws {
    let storage = try LocalStorage(path: path)
    for index in 0..<count {
      let (name, value) = entry(index)
      try storage.commit(key(name), .set(value))
    }
    storage.close()
    try forgetFrames()
  }

  /// Overwrites the ring of the journal, from which a salvage would take everything.
  private func forgetFrames() throws {
    let journal = try FileHandle(forUpdating: URL(fileURLWithPath: path + "/journal"))
    let end = try journal.seekToEnd()
    try journal.seek(toOffset: UInt64(JournalHeader.ringOffset))
    try journal.write(contentsOf: Data(count: Int(end) - JournalHeader.ringOffset))
    try journal.close()
  }

  /// Changes a value in the log of the database; returns the log.
  private func writeIntoLog() throws -> Data {
    let connection = try SQLiteConnection(path: database.path, busyTimeoutMilliseconds: 0)
    try connection.run("UPDATE entry SET value = 'in the log' WHERE key = 'k0'")
    connection.leaveLog()
    return try withExtendedLifetime(connection) { try Data(contentsOf: URL(fileURLWithPath: database.path + "-wal")) }
  }

  /// The contents of the store's only quarantine entry, after it was opened and used.
  private func filesInQuarantine(after use: (LocalStorage) throws -> Void) throws -> [String: Data] {
    let storage = try LocalStorage(path: path)
    defer { storage.close() }
    try use(storage)
    let quarantine = URL(fileURLWithPath: try #require(try storage.salvaged()).quarantine)
    let names = try FileManager.default.contentsOfDirectory(atPath: quarantine.path)
    return try Dictionary(
      uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: quarantine.appendingPathComponent($0))) })
  }

  @discardableResult
  private func damage(_ body: (inout Data) throws -> Void) throws -> Data {
    var bytes = try Data(contentsOf: database)
    try body(&bytes)
    try bytes.write(to: database)
    return bytes
  }
}
