// The parts specific to LocalStorage: its folder, its files, other handles, and other processes.

import Foundation
@testable import KeptEngine
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

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
  }

  @Test func `does not sleep where it was woken after it looked for a reason to stay awake`() throws {
    let storage = try LocalStorage(path: path)
    let engine = storage.engine
    let (seen, wakes) = (engine.published, engine.wakes)
    engine.wake()
    let begun = MonotonicTime.milliseconds
    engine.sleep(seen: seen, wakes: wakes, milliseconds: 120_000)
    #expect(MonotonicTime.milliseconds - begun < 60_000)
  }

  @Test func `makes its folder for its owner alone`() throws {
    let storage = try LocalStorage(path: path)
    try storage.commit(key("a"), .set(1))
    #expect(try mode(folder.path + "/deep") == 0o700)
    #expect(try mode(path) == 0o700)
    try storage.engine.checkpoint()
    for name in ["values", "journal.1", "history.1", "pulse"] { #expect(try mode("\(path)/\(name)") == 0o600) }
  }

  @Test func `has nothing but its values, a journal and the pulse, also when it is closed`() throws {
    let storage = try LocalStorage(path: path)
    try storage.commit(key("a"), .set(1))
    #expect(try names == ["journal.0", "pulse", "values"])
    storage.close()
    #expect(try names == ["journal.0", "pulse", "values"])
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
    #expect(try names == ["journal.0", "pulse", "values"])
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

  @Test func `forgets old commits and says so, and knows still when each key was changed`() throws {
    let storage = try LocalStorage(path: path)
    try storage.commit(key("gone"), .set(1))
    let set = try storage.commit(key("gone"), .remove).revision - 1
    let removed = KeyedEntry(key: try key("gone"), entry: Entry(value: nil, revision: set + 1))
    func changes(after revision: Revision) throws -> Delta? {
      if case .changed(let delta) = try storage.changes(after: revision) { delta } else { nil }
    }
    let known = try #require(try changes(after: set))
    #expect(known.entries == [removed] && !known.mayHaveMissed)
    let other = try LocalStorage(path: path)
    try other.forgetCommits()
    let left = try #require(try changes(after: set))
    #expect(left.entries.map(\.key.text) == ["gone", "forgotten"] && left.entries[0] == removed && left.mayHaveMissed)
    let last = try storage.revision()
    #expect(try storage.changes(after: last) == .changed(Delta([], upTo: last)))
    #expect(conflict { try storage.commit(key("x"), .set(1), .unchanged(key("gone"), after: set)) })
    #expect(conflict { try storage.commit(key("x"), .set(1), .unchangedPrefix("go", after: set)) })
    let conditions: [Condition] = [.unchanged(try key("gone"), after: set + 1), .unchangedPrefix("go", after: set + 1)]
    for condition in conditions { try storage.commit(key("x"), .set(.int(.random(in: 0 ... .max))), condition) }
    withExtendedLifetime(other) {}
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
      storage.checkPlace()
      #expect(code { try storage.value(key("a")) } == .unavailable)
      #expect(code { try storage.commit(key("a"), .set(3)) } == .unavailable)
      #expect(code { try storage.engine.checkpoint() } == .unavailable)
      #expect(code { try storage.acknowledgeSalvage() } == .unavailable)
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
    let sizes = try names.map { try #require(FileStatus(of: "\(path)/\($0)")).size }
    #expect(sizes.reduce(0, +) < 1_000_000)
  }

  @Test func `goes on with the revisions of the store that was copied`() throws {
    let memory = try Store.open("memory:")
    for value in 1...3 { try memory.set(.int(Int64(value)), forKey: "a") }
    try memory.backup(to: path + "/")
    let storage = try LocalStorage(path: path)
    #expect(try storage.revision() == 3)
    #expect(try storage.changes(after: 2) == .tooOld, "the copy has no journal")
    #expect(try storage.changes(after: 3) == .changed(Delta([], upTo: 3)))
    #expect(try storage.commit(key("a"), .set(4)).revision == 4)
  }

  @Test func `calls a value corrupt that is not what its kind says, and leaves the others alone`() throws {
    let storage = try LocalStorage(path: path)
    let damages: [(kind: UInt8, payload: [UInt8])] = [
      (1, [2]), (2, [1]), (7, [1, 2, 3]), (8, Array("[1,".utf8)), (5, [0xFF]),
    ]
    for number in 0...damages.count { try storage.commit(key("\(number)"), .set(1)) }
    storage.close()
    for (number, damage) in damages.enumerated() {
      try damage.payload.withUnsafeBytes { payload in
        try plant(in: path) { record in
          if record.name == "\(number)" { record.value = StoredValue(kind: damage.kind, payload: payload) }
        }
      }
    }
    let reader = try LocalStorage(path: path)
    for number in damages.indices { #expect(code { try reader.value(key("\(number)")) } == .corrupt, "\(number)") }
    #expect(try reader.value(key("\(damages.count)")) == 1)
    try reader.commit(key("0"), .set(2))
    #expect(try reader.value(key("0")) == 2, "writing repairs a damaged value")
  }
}

func mode(_ path: String) throws -> Int {
  try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
}
