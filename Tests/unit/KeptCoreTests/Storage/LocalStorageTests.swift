// The parts specific to LocalStorage: its folder, its file, other handles, other processes, and databases of other
// programs.

import Foundation
@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite struct `A LocalStorage` {
  let folder: TemporaryFolder
  let path: String
  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/deep/er/store"
  }

  @Test func `does not sleep where it was woken after it looked for a reason to stay awake`() throws {
    let storage = try LocalStorage(path: path)
    let journal = storage.loader.journal
    let (seen, wakes) = (journal.published, journal.wakes)
    journal.wake()
    let begun = MonotonicTime.milliseconds
    journal.sleep(seen: seen, wakes: wakes, milliseconds: 120_000)
    #expect(MonotonicTime.milliseconds - begun < 60_000)
  }

  @Test func `wakes its own sleepers alone when it is interrupted`() throws {
    let storage = try LocalStorage(path: path)
    var other = try LocalStorage(path: path)
    // There are 32 groups.
    while other.loader.journal.sleepers == storage.loader.journal.sleepers { other = try LocalStorage(path: path) }
    let journal = other.loader.journal
    let (isDone, hasEnded) = (Monitor(false), Monitor(false))
    Thread.detachNewThread {
      while true {
        let wakes = journal.wakes
        if isDone.read(\.self) { break }
        journal.sleep(seen: journal.published, wakes: wakes, milliseconds: 120_000)
      }
      hasEnded.update { $0 = true }
    }
    var (own, others) = (0, 0)
    while own < 100, others == 0 {
      others += storage.loader.journal.wakeOwn()
      own += journal.wakeOwn()
    }
    #expect(others == 0)
    isDone.update { $0 = true }
    journal.wakeOwn()
    let _: Bool = hasEnded.wait { $0 ? true : nil }
  }

  @Test func `makes its folder for its owner alone`() throws {
    let storage = try LocalStorage(path: path)
    try storage.commit(key("a"), .set(1))
    #expect(try mode(folder.path + "/deep") == 0o700)
    #expect(try mode(path) == 0o700)
    #expect(try mode(path + "/values.sqlite") == 0o600)
    #expect(try mode(path + "/journal") == 0o600)
    #expect(try mode(path + "/pulse") == 0o600)
    #expect(try mode(path + "/values.sqlite-wal") == 0o600)
    #expect(try mode(path + "/values.sqlite-shm") == 0o600)
  }

  @Test func `leaves nothing but the database, the journal and the pulse when it is closed`() throws {
    let storage = try LocalStorage(path: path)
    try storage.commit(key("a"), .set(1))
    storage.close()
    let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    #expect(names == ["journal", "pulse", "values.sqlite"])
  }

  @Test func `finds its values again after closing`() throws {
    let first = try LocalStorage(path: path)
    for (index, value) in Value.oneOfEachKind.enumerated() { try first.commit(key("k\(index)"), .set(value)) }
    try first.commit(key("k0"), .remove)
    let revision = try first.revision()
    first.close()
    let second = try LocalStorage(path: path)
    #expect(try second.revision() == revision)
    #expect(try second.entry(for: key("k0")) == nil)
    for (index, value) in Value.oneOfEachKind.enumerated().dropFirst() {
      #expect(try second.value(key("k\(index)")) == value)
    }
  }

  @Test func `shows two handles in one process the same values`() throws {
    let one = try LocalStorage(path: path)
    let other = try LocalStorage(path: path)
    try one.commit(key("a"), .set(1))
    #expect(try other.value(key("a")) == 1)
    #expect(try other.commit(key("a"), .set(2)).revision == 2)
    #expect(try one.value(key("a")) == 2)
    one.close()
    #expect(try other.value(key("a")) == 2)
  }

  @Test func `shows two processes the same values`() throws {
    let storage = try LocalStorage(path: path)
    try storage.commit(key("from parent"), .set("hello"))
    let child = try ChildProcess(opening: path)
    #expect(try child.ask("get", "from parent") == "\"hello\"")
    #expect(try child.ask("set", "from child", "[1,2.5]") == "ok")
    #expect(try storage.value(key("from child")) == [1, 2.5])
    #expect(try child.ask("remove", "from parent") == "ok")
    #expect(try storage.value(key("from parent")) == nil)
    #expect(conflict { try storage.commit(key("from parent"), .set(2), .unchanged(key("from parent"), after: 1)) })
    #expect(try child.ask("revision") == "3")
    try child.finish()
  }

  @Test func `opens once when many open it for the first time`() async throws {
    let path = path
    let storages = try await withThrowingTaskGroup(of: LocalStorage.self) { group in
      for _ in 0..<8 { group.addTask { try LocalStorage(path: path) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    for (index, storage) in storages.enumerated() { try storage.commit(key("k\(index)"), .set(true)) }
    for storage in storages { #expect(try storage.keys(prefix: "").count == 8) }
    let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    #expect(names == ["journal", "pulse", "values.sqlite", "values.sqlite-shm", "values.sqlite-wal"])
  }

  @Test func `loses no update of several writers`() async throws {
    let path = path
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<4 {
        group.addTask {
          let storage = try LocalStorage(path: path)
          for index in 0..<50 { try storage.commit(key("\(writer).\(index)"), .set(.int(Int64(index)))) }
        }
      }
      try await group.waitForAll()
    }
    let storage = try LocalStorage(path: path)
    #expect(try storage.keys(prefix: "").count == 200)
    #expect(try storage.revision() == 200)
  }

  @Test func `never treats an unreadable database as one without the key`() throws {
    let storage = try LocalStorage(path: path)
    try storage.commit(key("a"), .set(1))
    _ = try run("/usr/bin/sqlite3", path + "/values.sqlite", "drop table entry")
    for scope in [Scope.key(try key("a")), .prefix("")] {
      #expect(throws: StoreError.self, "\(scope)") { _ = try storage.entries(in: [scope]) }
      #expect(throws: StoreError.self, "\(scope)") { _ = try Store(storage: storage).observe(scope) { _ in } }
    }
  }

  @Test func `forgets old changes and says so, and knows still when each key was changed`() throws {
    let storage = try LocalStorage(path: path)
    try storage.commit(key("gone"), .set(1))
    let set = try storage.commit(key("gone"), .remove).revision - 1
    guard case .changed(let delta) = try storage.changes(after: set) else {
      Issue.record("the ring holds it")
      return
    }
    #expect(delta.entries == [KeyedEntry(key: try key("gone"), entry: Entry(value: nil, revision: set + 1))])
    try LocalStorage(path: path).overwriteTheRing()
    #expect(try storage.changes(after: set) == .tooOld)
    let last = try storage.revision()
    #expect(try storage.changes(after: last) == .changed(Delta([], upTo: last)))
    #expect(conflict { try storage.commit(key("x"), .set(1), .unchanged(key("gone"), after: set)) })
    #expect(conflict { try storage.commit(key("x"), .set(1), .unchangedPrefix("go", after: set)) })
    let conditions: [Condition] = [.unchanged(try key("gone"), after: set + 1), .unchangedPrefix("go", after: set + 1)]
    for condition in conditions { try storage.commit(key("x"), .set(.int(.random(in: 0 ... .max))), condition) }
  }

  @Test func `shows what a program has written that knows its checksums`() throws {
    let first = try LocalStorage(path: path)
    for name in ["a", "b", "c"] { try first.commit(key(name), .set(1)) }
    first.close()
    for statement in [
      "update entry set value = 2 where key = 'a'", "delete from entry where key = 'b'",
      "insert into entry (key, kind, value, revision) values ('d', 'string', 'new', 3)",
    ] { try shell(path + "/values.sqlite", statement) }
    let storage = try LocalStorage(path: path)
    #expect(try storage.keys(prefix: "").map(\.text) == ["a", "c", "d"])
    #expect(try storage.value(key("a")) == 2 && storage.value(key("d")) == "new")
    #expect(try storage.commit(key("a"), .set(3)).revision == 4)
  }

  @Test(arguments: [false, true]) func `does not write into a copy that has taken its place`(closes: Bool) throws {
    let first = try LocalStorage(path: path)
    try first.commit(key("a"), .set(1))
    first.close()
    let (copy, gone) = (folder.path + "/copy", folder.path + "/gone")
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    let storage = try LocalStorage(path: path)
    try storage.commit(key("a"), .set(2))
    try FileManager.default.moveItem(atPath: path, toPath: gone)
    try FileManager.default.moveItem(atPath: copy, toPath: path)
    let before = try contents(of: path)
    if !closes {
      storage.commitPath.stayInPlace()
      #expect(throws: StoreError.self) { try storage.commitPath.settle() }
      #expect(throws: StoreError.self) { try storage.value(key("a")) }
      #expect(throws: StoreError.self) { try storage.acknowledgeSalvage() }
      #expect(throws: StoreError.self) { try storage.copy(into: folder.path + "/draft") }
    }
    storage.close()
    #expect(try contents(of: path) == before)
    #expect(try LocalStorage(path: path).value(key("a")) == 1)
    #expect(try LocalStorage(path: gone).value(key("a")) == 2)
  }

  private func contents(of folder: String) throws -> [String: Data] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    return try Dictionary(
      uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: URL(fileURLWithPath: folder + "/" + $0))) })
  }

  @Test func `grows by nothing that was refused`() throws {
    let store = Store(storage: try LocalStorage(path: path))
    let large = Value.string(String(repeating: "x", count: 300_000))
    for _ in 0..<100 {
      #expect(throws: StoreError.self) { try store.set(large, forKey: "a", ifRevision: 7) }
    }
    // A commit of very many keys.
    let transaction = try store.begin()
    for number in 0..<40 { try transaction.set(.string(String(repeating: "x", count: 120_000)), forKey: "b\(number)") }
    _ = try transaction.value(forKey: "c")
    try store.set(1, forKey: "c")
    #expect(throws: StoreError.self) { try transaction.commit() }
    store.close()
    let size = try #require(FileStatus(of: path + "/values.sqlite")).size
    #expect(size < 8_000_000)
  }

  @Test func `copies its log into the database when that has 1,000 pages`() throws {
    let storage = try LocalStorage(path: path)
    for number in 1...64 {
      try storage.commit(key("key\(number)"), .set(.string(String(repeating: "x", count: 100_000))))
      try storage.commitPath.settle()
    }
    let log = try #require(FileStatus(of: path + "/values.sqlite-wal"))
    #expect((4_000_000...5_000_000).contains(log.size))
  }

  @Test func `goes on with the revisions of the store that was copied`() throws {
    let memory = try Store.open("memory:")
    for value in 1...3 { try memory.set(.int(Int64(value)), forKey: "a") }
    try memory.backup(to: path + "/")
    let storage = try LocalStorage(path: path)
    #expect(try storage.revision() == 3)
    #expect(try storage.changes(after: 2) == .tooOld, "the copy has no frames")
    #expect(try storage.changes(after: 3) == .changed(Delta([], upTo: 3)))
    #expect(try storage.commit(key("a"), .set(4)).revision == 4)
  }

  @Test func `shows every value readably to the sqlite3 shell`() throws {
    let storage = try LocalStorage(path: path)
    var batch = Batch()
    let date = try Timestamp(seconds: 1, nanoseconds: 250_000_000)
    for (name, value): (String, Value) in [
      ("bool", true), ("bytes", .bytes([0xCA, 0xFE])), ("date", .date(date)), ("double", 1.5),
      ("int", -5), ("list", [1, "x"]), ("nan", .double(.nan)), ("string", "h\u{E9}"), ("uint", .uint(.max)),
    ] { batch.edit(try key(name), .set(value)) }
    try #require(storage.commit(batch).revision == 1)
    storage.close()
    let query = "select key, kind, quote(value), revision from entry order by key"
    let shown = try run("/usr/bin/sqlite3", path + "/values.sqlite", query)
    #expect(
      shown == """
        bool|bool|1|1
        bytes|bytes|X'CAFE'|1
        date|date|'1970-01-01T00:00:01.25Z'|1
        double|double|1.5|1
        int|int|-5|1
        list|array|'[1,"x"]'|1
        nan|double|'NaN'|1
        string|string|'h\u{E9}'|1
        uint|uint|'18446744073709551615'|1

        """)
  }

  @Test func `calls a row corrupt that does not hold what it says, and leaves the others alone`() throws {
    let storage = try LocalStorage(path: path)
    for name in ["a", "b", "c", "d", "e", "f"] { try storage.commit(key(name), .set(1)) }
    storage.close()
    let damages = [
      ("a", "kind = 'colour'"), ("b", "kind = 'bool', value = 2"), ("c", "kind = 'array', value = '[1,'"),
      ("d", "kind = 'date', value = 'yesterday'"), ("e", "kind = 'string', value = cast(x'FF' as text)"),
    ]
    for (name, damage) in damages {
      try shell(path + "/values.sqlite", "update entry set \(damage) where key = '\(name)'")
    }
    let reader = try LocalStorage(path: path)
    for (name, damage) in damages {
      #expect(code { try reader.value(key(name)) } == .corrupt, "\(damage)")
    }
    #expect(try reader.value(key("f")) == 1)
    try reader.commit(key("a"), .set(2))
    #expect(try reader.value(key("a")) == 2, "writing repairs a damaged row")
  }
}

func mode(_ path: String) throws -> Int {
  try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
}

/// Runs a program to its end.
///
/// Returns its output.
func run(_ program: String, _ arguments: String...) throws -> String {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: program)
  process.arguments = arguments
  let output = Pipe()
  process.standardOutput = output
  try process.run()
  let printed = output.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  try #require(process.terminationStatus == 0)
  return String(decoding: printed, as: UTF8.self)
}
