// Backup and restore.

import Foundation
@testable import KeptEngine
@testable import KeptSchema
@testable import KeptValues
import Synchronization
import Testing

@testable import KeptCore

@Suite(.timeLimit(.minutes(30))) struct `A backup` {
  private let folder: TemporaryFolder
  private let settings: Store
  private let whole = #"{"maximum":100,"type":"integer"}"#

  init() throws {
    folder = try TemporaryFolder()
    settings = try Store.open(folder.path + "/store")
    try settings.declare(Declaration(json: whole), forKey: "volume")
    try settings.set(7, forKey: "volume")
    try settings.set(.dictionary(["b": 1.5, "a": .bytes([0, 255])]), forKey: "shape")
  }

  private func path(_ name: String) -> String { folder.path + "/" + name }
  private func names(in name: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path(name)).sorted()
  }
  private func mode(_ name: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path(name))[.posixPermissions] as? Int
  }

  @Test func `is a private file, and nothing else is left`() throws {
    #expect(try settings.backup(to: path("copy")) == 3)
    #expect(try mode("copy") == 0o600)
    #expect(try names(in: "") == ["copy", "store"])
  }

  @Test func `removes the drafts next to it that killed processes have left`() throws {
    let dayBefore = Date(timeIntervalSinceNow: -100_000)
    for (name, file) in [(".new-1-1", "draft"), (".new-new", "draft"), (".new-3", "mine")] {
      try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: false)
      try Data().write(to: URL(fileURLWithPath: path("\(name)/\(file)")))
      guard name != ".new-new" else { continue }
      try FileManager.default.setAttributes([.modificationDate: dayBefore], ofItemAtPath: path(name))
    }
    try Data().write(to: URL(fileURLWithPath: path(".new-file")))
    try FileManager.default.setAttributes([.modificationDate: dayBefore], ofItemAtPath: path(".new-file"))
    try settings.backup(to: path("copy"))
    #expect(try names(in: "") == [".new-3", ".new-file", ".new-new", "copy", "store"])
    #expect(try names(in: ".new-3") == ["mine"], "other programs have files there, too")
  }

  @Test func `goes into the folder that its path names, also before a combining mark`() throws {
    let name = "\u{301}folder"
    try Store.open(path("\(name)/\(name)/store")).close()
    try settings.backup(to: path("\(name)/\u{301}copy"))
    #expect(try names(in: name) == ["\u{301}copy", name])
    #expect(try names(in: "") == ["store", name])
    let copy = try Store.open("memory:")
    try copy.restore(from: path("\(name)/\u{301}copy"))
    #expect(try copy.value(forKey: "volume") == 7)
  }

  @Test(arguments: ["copy/", "empty"])
  func `into a folder is a store that can be opened`(_ name: String) throws {
    try FileManager.default.createDirectory(atPath: path("empty"), withIntermediateDirectories: false)
    try settings.backup(to: path(name))
    let copy = try Store.open(path(name))
    #expect(try copy.value(forKey: "volume") == 7 && copy.declaration(forKey: "volume")?.json == whole)
    #expect(try copy.revision(of: "volume") == 2 && copy.currentRevision() == 3)
    try copy.set(8, forKey: "volume")
    #expect(try settings.value(forKey: "volume") == 7, "it is a store of its own")
    #expect(code { try settings.backup(to: path(name)) } == .invalid)
    #expect(code { try settings.backup(to: path(name), replacing: true) } == .invalid, "others may have it open")
  }

  @Test func `shows one revision while others write`() async throws {
    let writer = try Store.open(path("store"))
    let isDone = Atomic<Bool>(false)
    let thread = Thread {
      var number: Int64 = 0
      while !isDone.load(ordering: .relaxed) {
        number += 1
        let next = Value.int(number)
        try? writer.transaction { for key in ["x", "y", "z"] { try $0.set(next, forKey: key) } }
      }
    }
    thread.start()
    defer { isDone.store(true, ordering: .relaxed) }
    for round in 1...20 {
      try settings.backup(to: path("copy-\(round)/"))
      let copy = try Store.open(path("copy-\(round)"))
      let values = try ["x", "y", "z"].map { try copy.value(forKey: $0) }
      #expect(Set(values).count == 1, "\(values)")
    }
  }

  @Test func `of a store in memory is one too`() throws {
    let memory = try Store.open("memory:")
    try memory.declare(Declaration(json: whole), forKey: "volume")
    try memory.set(7, forKey: "volume")
    try memory.migrate([Migration(to: 3, "nothing") { _ in }])
    #expect(try memory.backup(to: path("copy/")) == 2)
    let copy = try Store.open(path("copy"))
    #expect(try copy.value(forKey: "volume") == 7 && copy.schemaVersion() == 3 && copy.currentRevision() == 2)
    #expect(try copy.declaration(forKey: "volume")?.json == whole)
  }

  @Test func `needs a place`() throws {
    for bad in ["", "x\0y", path("none/copy")] {
      #expect(throws: StoreError.self, "\(bad)") { try settings.backup(to: bad) }
    }
    #expect(code { try settings.backup(to: path("none/copy")) } == .unavailable)
    settings.close()
    #expect(code { try settings.backup(to: path("copy")) } == .closed)
    #expect(try names(in: "") == ["store"])
  }

  @Test func `does not go into a folder with other files, nor next to the files of a store`() throws {
    try FileManager.default.createDirectory(atPath: path("full"), withIntermediateDirectories: false)
    try Data().write(to: URL(filePath: path("full/other")))
    for target in ["full", "full/"] {
      let error = #expect(throws: StoreError.self) { try settings.backup(to: path(target)) }
      #expect(error?.code == .invalid && error?.message.contains("is not empty") == true)
    }
    #expect(try names(in: "full") == ["other"])
    let error = #expect(throws: StoreError.self) {
      try settings.backup(to: path("store/values"), replacing: true)
    }
    #expect(error?.code == .invalid && error?.message.contains("in the folder of a store") == true)
  }

  // MARK: - Restoring

  @Test(arguments: ["copy", "copy/"])
  func `restores values, declarations and version, in one commit`(_ name: String) throws {
    try settings.migrate([Migration(to: 2, "nothing") { _ in }])
    try settings.backup(to: path(name))
    try settings.undeclare("volume")
    try settings.set("loud", forKey: "volume")
    try settings.declare(Declaration(json: #"{"type":"string"}"#), forKey: "volume")
    try settings.set(1, forKey: "new")
    try settings.declare(Declaration(json: whole), forKey: "newly declared")
    try settings.migrate([Migration(to: 5, "nothing") { _ in }])
    let before = try settings.currentRevision()
    let restored = try settings.restore(from: path(name))
    #expect(restored.revision == before + 1)
    #expect(try settings.keys() == ["shape", "volume"] && settings.value(forKey: "volume") == 7)
    #expect(try settings.declarations().declarations.map(\.key.text) == ["volume"])
    #expect(try settings.declaration(forKey: "volume")?.json == whole && settings.schemaVersion() == 2)
    #expect(try settings.restore(from: path(name)).revision == before + 1, "the same again changes nothing")
  }

  @Test func `sets the previous contents aside, and they can be restored too`() throws {
    try settings.backup(to: path("copy"))
    try settings.set(99, forKey: "volume")
    let aside = try #require(try settings.restore(from: path("copy")).quarantine)
    #expect(aside.hasPrefix(path("store/quarantine/")))
    #expect(try settings.value(forKey: "volume") == 7)
    try settings.restore(from: aside)
    #expect(try settings.value(forKey: "volume") == 99)
  }

  @Test func `restores into a store that did not exist`() throws {
    try settings.backup(to: path("copy"))
    let neighbour = try Store.open(path("neighbour"))
    #expect(try neighbour.restore(from: path("copy")).quarantine == nil)
    #expect(try neighbour.value(forKey: "volume") == 7 && neighbour.keys() == settings.keys())
    let memory = try Store.open("memory:")
    try memory.restore(from: path("copy"))
    #expect(try memory.keys() == settings.keys())
  }

  @Test func `keeps a value that does not fit its declaration any more`() throws {
    try settings.set(90, forKey: "volume")
    try settings.declare(Declaration(json: #"{"maximum":50,"type":"integer"}"#), forKey: "volume")
    try settings.backup(to: path("copy"))
    try settings.remove("volume")
    try settings.restore(from: path("copy"))
    #expect(try settings.value(forKey: "volume") == nil)
    try settings.declare(Declaration(json: whole), forKey: "volume")
    #expect(try settings.value(forKey: "volume") == 90)
  }

  @Test func `of a store that is open elsewhere includes its journal`() throws {
    let other = try Store.open(path("other"))
    try other.set("in the journal", forKey: "a")
    try settings.restore(from: path("other"))
    #expect(try settings.keys() == ["a"])
  }

  @Test func `is not set aside through a symbolic link`() throws {
    try settings.backup(to: path("whole"))
    try FileManager.default.createDirectory(atPath: path("elsewhere"), withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      atPath: path("store/quarantine"), withDestinationPath: path("elsewhere"))
    #expect(code { try settings.restore(from: path("whole")) } == .unavailable)
    #expect(try FileManager.default.contentsOfDirectory(atPath: path("elsewhere")) == [])
  }

  @Test func `that is invalid changes nothing`() throws {
    try settings.backup(to: path("whole"))
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path("whole")))
    var files: [(String, Data, StoreError.Code)] = [
      ("empty", Data(), .unsupported), ("text", Data("no backup at all".utf8), .unsupported),
      ("short", bytes.prefix(3000), .corrupt),
    ]
    var damaged = bytes
    for index in 4100..<4130 { damaged[index] = 0xAA }
    files.append(("damaged", damaged, .corrupt))
    files.append(("with a damaged first header", Data(repeating: 0, count: 4096) + bytes.dropFirst(4096), .corrupt))
    files.append(("of a store", try Data(contentsOf: URL(fileURLWithPath: path("store/values"))), .unsupported))
    for (name, content, expected) in files {
      try content.write(to: URL(fileURLWithPath: path(name)))
      #expect(code { try settings.restore(from: path(name)) } == expected, "\(name)")
      #expect(try Data(contentsOf: URL(fileURLWithPath: path(name))) == content, "\(name)")
    }
    #expect(code { try settings.restore(from: path("none")) } == .unavailable)
    #expect(code { try settings.restore(from: folder.path) } == .unavailable, "a folder without a store")
    #expect(try settings.currentRevision() == 3)
    #expect(!FileManager.default.fileExists(atPath: path("store/quarantine")))
  }

  @Test(arguments: [0, 2, 9] as [UInt8]) func `of another format is refused with its number`(format: UInt8) throws {
    try settings.backup(to: path("whole"))
    var content = try Data(contentsOf: URL(fileURLWithPath: path("whole")))
    content[8] = format
    let sum = (content[..<12] + content[16..<4096]).withUnsafeBytes { $0.checksum }
    withUnsafeBytes(of: sum.littleEndian) { content.replaceSubrange(12..<16, with: $0) }
    try content.write(to: URL(fileURLWithPath: path("other")))
    let error = #expect(throws: StoreError.self) { try settings.restore(from: path("other")) }
    #expect(error?.code == .unsupported)
    #expect(error?.message.contains("has format \(format), but this version of Kept knows format 1") == true)
    #expect(error?.message.contains("open it with the version that wrote it") == true)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path("other"))) == content)
    #expect(try settings.currentRevision() == 3)
    #expect(!FileManager.default.fileExists(atPath: path("store/quarantine")))
  }
}
