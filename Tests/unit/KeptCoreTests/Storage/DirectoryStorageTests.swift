// One file for each key: edits of the files by users and other programs, in addition to the requirements on every
// storage.

import Foundation
@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite(.timeLimit(.minutes(30))) struct `A directory storage` {
  private let folder: TemporaryFolder
  private let path: String
  private let storage: SimpleStorageAdapter

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/files"
    storage = SimpleStorageAdapter(try DirectoryStorage(path: path))
  }

  private func write(_ text: String, _ name: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
  }

  private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path).sorted()) ?? [] }

  // MARK: - Names

  @Test(arguments: [
    ("audio.volume", "audio.volume.json"), (".", "%2e.json"), ("..", "%2e..json"), (".hidden", "%2ehidden.json"),
    ("a/b", "a%2fb.json"), ("../x", "%2e.%2fx.json"), ("Volume", "%56olume.json"), ("volume", "volume.json"),
    ("a b%", "a%20b%25.json"), ("caf\u{E9}", "caf%c3%a9.json"), ("cafe\u{301}", "cafe%cc%81.json"),
    ("x.json", "x.json.json"), ("\n\\", "%0a%5c.json"), ("con", "con.json"), ("\u{1F3B5}", "%f0%9f%8e%b5.json"),
  ])
  func `names a file for every key, and finds the key in the name`(_ text: String, _ name: String) throws {
    #expect(KeyFileName.path(of: try key(text)) == name)
    #expect(KeyFileName.key(at: name) == (try key(text)))
    try storage.commit(key(text), .set(1))
    #expect(FileManager.default.fileExists(atPath: "\(path)/\(name)"))
    #expect(try storage.keys(prefix: "") == [key(text)])
  }

  @Test(arguments: ["x", "X", ".", "/", "\u{E9}", "a."])
  func `keeps the longest keys in folders, and takes those away with them`(_ unit: String) throws {
    var keys: [KeyName] = []
    for length in [199, 200, 201, 255, 256, 400, 1024] {
      keys.append(try key(String(repeating: unit, count: length / unit.utf8.count)))
    }
    keys = Set(keys).sorted()
    for (number, key) in keys.enumerated() { try storage.commit(key, .set(.int(Int64(number)))) }
    for (number, key) in keys.enumerated() {
      #expect(try storage.value(key) == .int(Int64(number)))
      let pieces = KeyFileName.path(of: key).split(separator: "/")
      #expect(pieces.allSatisfy { $0.utf8.count <= 255 && !$0.hasPrefix(".") })
    }
    #expect(try storage.keys(prefix: "") == keys)
    for key in keys { try storage.commit(key, .remove) }
    #expect(names == [".kept-lock"])
  }

  @Test(arguments: [
    "Volume.json", "a%2Fb.json", "%61.json", "a%.json", "a%2.json", ".a.json", "a.txt", "%ff.json", ".json",
  ])
  func `ignores files that belong to no key`(_ name: String) throws {
    try write("1", name)
    #expect(try storage.keys(prefix: "") == [])
    try storage.commit(key("other"), .set(1))
    #expect(names.contains(name))
  }

  // MARK: - Edits by users

  @Test func `keeps a value as a line of JSON that people can edit`() throws {
    try storage.commit(key("a"), .set(["size": [1, 2.5]]))
    #expect(try String(contentsOfFile: path + "/a.json", encoding: .utf8) == "{\"size\":[1,2.5]}\n")
    try write("\n {\"size\" : [3] }\n\n", "a.json")
    #expect(try storage.value(key("a")) == ["size": [3]])
    #expect(try storage.revision() == 2, "an edit is a commit")
  }

  @Test(arguments: ["", "\n", "{", "1 2", "nul", "null", "{\"a\":1,\"a\":2}", "\u{0}", "NaN"])
  func `treats a file without a value as an error, and does not overwrite it`(_ text: String) throws {
    try write(text, "a.json")
    try storage.commit(key("b"), .set(1))
    for body in [
      { _ = try storage.entry(for: key("a")) }, { _ = try storage.entries(in: [.key(key("a"))]) },
    ] {
      let error = #expect(throws: StoreError.self) { try body() }
      #expect(error?.code == .corrupt && error?.key == "a" && error?.message.contains(path + "/a.json") == true)
    }
    #expect(try String(contentsOfFile: path + "/a.json", encoding: .utf8) == text)
    #expect(try storage.keys(prefix: "").map(\.text) == ["a", "b"], "it is there")
    #expect(try storage.entries(in: [.prefix("")]).entries.map(\.key.text) == ["b"], "the others are read")
    #expect(try storage.value(key("b")) == 1, "the others can be read")
    try write("7", "a.json")
    #expect(try storage.value(key("a")) == 7, "once repaired it is as before")
    try write(text, "a.json")
    try storage.commit(key("a"), .set(1))
    #expect(try storage.value(key("a")) == 1, "an edit replaces it")
    try write(text, "a.json")
    #expect(try storage.commit(key("a"), .remove).changes.count == 1)
    #expect(try storage.keys(prefix: "").map(\.text) == ["b"])
  }

  @Test func `treats bytes that are not UTF-8 as an error`() throws {
    try Data([0x22, 0xFF, 0x22]).write(to: URL(fileURLWithPath: path + "/a.json"))
    #expect(code { try storage.entry(for: key("a")) } == .corrupt)
  }

  @Test func `refuses links, FIFOs and folders in the place of a file`() throws {
    try write("1", "target")
    try FileManager.default.createSymbolicLink(atPath: path + "/link.json", withDestinationPath: path + "/target")
    try FileManager.default.createSymbolicLink(atPath: path + "/lost.json", withDestinationPath: path + "/nowhere")
    try #require(mkfifo(path + "/fifo.json", 0o600) == 0)
    try FileManager.default.createDirectory(atPath: path + "/folder.json", withIntermediateDirectories: false)
    for name in ["link", "lost", "fifo", "folder"] {
      #expect(code { try storage.entry(for: key(name)) } == .unavailable, "\(name)")
      #expect(code { try storage.commit(key(name), .set(2)) } == .unavailable, "\(name)")
    }
    #expect(try String(contentsOfFile: path + "/target", encoding: .utf8) == "1")
  }

  @Test func `refuses a link in the place of a long key's folder`() throws {
    let long = try key(String(repeating: "x", count: 300))
    let piece = String(repeating: "x", count: 200) + "%"
    try FileManager.default.createSymbolicLink(atPath: "\(path)/\(piece)", withDestinationPath: folder.path)
    #expect(code { try storage.entry(for: long) } == .unavailable)
    #expect(code { try storage.commit(long, .set(1)) } == .unavailable)
    #expect(try storage.keys(prefix: "") == [])
  }

  @Test func `treats an unreadable file as an error, not as absent`() throws {
    try storage.commit(key("a"), .set(1))
    chmod(folder.path, 0o755)
    chmod(path + "/a.json", 0)
    chmod(path, 0o555)
    let child = try ChildProcess(opening: "dir:" + path, asNobody: true)
    defer {
      child.kill()
      chmod(path, 0o700)
    }
    #expect(try child.ask("get", "a").contains("ermission denied"))
    let refused = try child.ask("set", "b", "1")
    #expect(refused.contains("ermission denied") || refused.contains("belongs to"), "\(refused)")
    #expect(try child.ask("get", "b") == "absent")
  }

  @Test func `treats a missing folder as an error, not as absent`() throws {
    try storage.commit(key("a"), .set(1))
    rename(path, path + "-moved")
    #expect(code { try storage.entry(for: key("a")) } == .unavailable)
    #expect(code { try storage.entry(for: key(String(repeating: "x", count: 300))) } == .unavailable)
    #expect(code { try storage.keys(prefix: "") } == .unavailable)
    #expect(code { try storage.commit(key("a"), .set(2)) } == .unavailable)
    rename(path + "-moved", path)
    #expect(try storage.value(key("a")) == 1)
  }

  // MARK: - Other programs

  @Test func `notices files that are edited in place, replaced or removed`() throws {
    try storage.commit(key("a"), .set(1))
    let store = Store(storage: storage)
    let received = Monitor<[String]>([])
    let subscription = try store.observe(.prefix("")) { notice in
      received.update { $0 += notice.changes.map { "\($0.key)=\($0.new?.json ?? "-")" } }
    }
    func awaitLast(_ text: String) { let _: Bool = received.wait { $0.last == text ? true : nil } }
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path + "/a.json"))
    try file.write(contentsOf: Data("2".utf8))
    try file.close()
    awaitLast("a=2")
    try write("3", "draft")
    rename(path + "/draft", path + "/a.json")
    awaitLast("a=3")
    try write("4", "new.json")
    awaitLast("new=4")
    unlink(path + "/a.json")
    awaitLast("a=-")
    subscription.cancel()
    store.close()
  }

  @Test func `lets no other process write between comparing and setting`() throws {
    let child = try ChildProcess(opening: "dir:" + path)
    let store = Store(storage: storage)
    #expect(try child.ask("set", "n", "1") == "ok")
    let revision = try #require(try store.entry(for: key("n"))?.revision)
    #expect(try child.ask("set", "n", "2") == "ok")
    #expect(conflict { try storage.commit(key("n"), .set(3), .revision(key("n"), revision)) })
    try store.setJSON("4", forKey: "n")
    #expect(try child.ask("get", "n") == "4")
    try child.finish()
  }

  @Test func `leaves nothing behind after a write that came too late`() throws {
    let long = try key(String(repeating: "x", count: 300))
    try storage.commit(key("a"), .set(1))
    #expect(conflict { try storage.commit(long, .set(1), .revision(key("a"), 7)) })
    #expect(names == [".kept-lock", "a.json"])
  }

  // MARK: - Kills

  @Test func `is intact after its writers were killed, and removes their leftovers`() throws {
    let name = try key("big")
    try write("half", DirectoryStorage.draftPrefix + "1-1")
    for _ in 1...5 {
      let child = try ChildProcess(opening: "dir:" + path)
      #expect(try child.ask("churn", "big") == "ok")
      var seen: Set<Value> = []
      while seen.count < 5 {
        if let value = try storage.value(name) { seen.insert(value) }
      }
      child.kill()
      guard case .array(let numbers)? = try storage.value(name) else {
        Issue.record("there is no array")
        return
      }
      #expect(numbers.count == 20_000 && Set(numbers).count == 1)
      #expect(try storage.keys(prefix: "") == [name], "a draft is not a key")
    }
    let later = SimpleStorageAdapter(try DirectoryStorage(path: path))
    try later.commit(name, .set(1))
    #expect(names == [".kept-lock", "big.json"])
  }

  @Test func `looks into no folder that is deeper than those of the longest key`() throws {
    try storage.commit(key(String(repeating: "A", count: 1024)), .set(1))
    let deep = path + String(repeating: "/%", count: 100)
    try FileManager.default.createDirectory(atPath: deep, withIntermediateDirectories: true)
    try write("1", String(repeating: "%/", count: 100) + "a.json")
    var visited: [String] = []
    try FolderListing.visit(path) { visited.append($0) }
    #expect(visited.compactMap(KeyFileName.key) == [try key(String(repeating: "A", count: 1024))])
    #expect(visited.count == 1)
  }

  @Test func `refuses a folder that is a file`() throws {
    try write("1", "plain")
    #expect(code { try DirectoryStorage(path: path + "/plain") } == .unavailable)
  }
}
