// A store that may be read and not written, because of its permissions, by a user whom permissions restrict.

import Foundation
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite struct `A store without write permission` {
  let folder: TemporaryFolder
  let path: String
  init() throws {
    folder = try TemporaryFolder()
    // A path that must be escaped in a URI.
    path = folder.path + "/st?o%re #1"
  }

  private func openReadOnly() throws -> ReadOnlyStorage {
    try ReadOnlyStorage(StoreFolder(path: path), because: .request)
  }

  @Test func `is read, and refuses writes as denied`() throws {
    let storage = try LocalStorage(path: path)
    try storage.commit(key("a"), .set([1, "x"]))
    storage.close()
    try protect()
    let child = try ChildProcess(opening: path, asNobody: true)
    #expect(try child.ask("get", "a") == "[1,\"x\"]")
    #expect(try child.ask("get", "b") == "absent")
    #expect(try child.ask("revision") == "1")
    #expect(try child.ask("set", "a", "2").contains("readable but not writable"))
    #expect(try child.ask("remove", "a").contains("readable but not writable"))
    #expect(try child.ask("get", "a") == "[1,\"x\"]")
    try child.finish()
    let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    #expect(names == ["journal.0", "pulse", "values"])
    try unprotect()
    #expect(try LocalStorage(path: path).commit(key("a"), .set(2)).revision == 2)
  }

  @Test func `shows commits of a writer with permission, during and after its life`() throws {
    let first = try LocalStorage(path: path)
    try first.commit(key("a"), .set(1))
    first.close()
    try protect()
    let child = try ChildProcess(opening: path, asNobody: true)
    #expect(try child.ask("get", "a") == "1")
    try unprotect()
    let storage = try LocalStorage(path: path)
    try storage.commit(key("a"), .set(2))
    try share()
    #expect(try child.ask("get", "a") == "2")
    try storage.commit(key("a"), .set(3))
    #expect(try child.ask("get", "a") == "3")
    storage.close()
    #expect(try child.ask("get", "a") == "3")
    try child.finish()
  }

  @Test(arguments: [1, 4096]) func `says corrupt of one that was cut off`(bytes: Int) throws {
    let first = try LocalStorage(path: path)
    try first.commit(key("a"), .set(.string(String(repeating: "x", count: 5000))))
    first.close()
    let values = URL(fileURLWithPath: path + "/values")
    try Data(contentsOf: values).dropLast(bytes).write(to: values)
    #expect(code { _ = try openReadOnly() } == .corrupt)
  }

  @Test func `returns closed after closing, and a waiting thread ends`() async throws {
    try LocalStorage(path: path).close()
    let storage = try openReadOnly()
    async let isNews = storage.wait(after: 0)
    storage.interruptWaiting()
    #expect(try await isNews == false)
    #expect(code { try storage.commit(key("a"), .set(1)) } == .denied)
    storage.close()
    #expect(code { try storage.revision() } == .closed)
    #expect(code { try storage.commit(key("a"), .set(1)) } == .closed)
  }

  @Test func `is read while and after others write, and keeps no file from them`() throws {
    #expect(code { _ = try openReadOnly() } == .unavailable)
    let writer = try LocalStorage(path: path)
    let storage = try openReadOnly()
    #expect(try storage.revision() == 0)
    for number in 1...2000 {
      let value: Value = .string("\(number)" + String(repeating: "x", count: 500))
      try writer.commit(key("a.\(number % 7)"), .set(value))
      if number % 100 == 0 { #expect(try storage.value(key("a.\(number % 7)")) == value) }
    }
    #expect(try storage.revision() == 2000 && storage.keys(prefix: "a.").count == 7)
    guard case .changed(let delta) = try storage.changes(after: 2000) else { return #expect(Bool(false)) }
    #expect(delta.entries.isEmpty && delta.upTo == 2000)
    writer.close()
    #expect(try storage.revision() == 2000)
    let limits = try HistoryLimits(json: #"{"changes":3}"#)
    #expect(code { try storage.set(limits) } == .denied)
  }

  @Test func `of another user is read if only that user writes to it`() throws {
    try #require(geteuid() == 0)
    let writer = try LocalStorage(path: path)
    try writer.commit(key("a"), .set(1))
    writer.close()
    let files = [path] + (try FileManager.default.contentsOfDirectory(atPath: path).map { path + "/" + $0 })
    for file in files { try #require(lchown(file, 12345, 12345) == 0) }
    let before = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    #expect(try openReadOnly().value(key("a")) == 1)
    #expect(try FileManager.default.contentsOfDirectory(atPath: path).sorted() == before)
    for file in files {
      let mode = file == path ? 0o700 : 0o600
      try FileManager.default.setAttributes([.posixPermissions: mode | 0o022], ofItemAtPath: file)
      #expect(code { try openReadOnly().value(key("a")) } == .denied, "\(file)")
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
    }
    try #require(lchown(files[1], 54321, 12345) == 0)
    #expect(code { try openReadOnly().value(key("a")) } == .denied, "\(files[1])")
  }

  /// Makes the store readable and not writable.
  ///
  /// Permissions do not restrict root, so the test's child must not be root.
  private func protect() throws {
    try share()
    try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: path)
  }

  private func share() throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: path) {
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path + "/" + name)
    }
  }

  private func unprotect() throws {
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
  }
}
