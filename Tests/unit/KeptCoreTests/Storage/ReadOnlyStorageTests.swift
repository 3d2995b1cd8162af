// A store that may be read and not written, because of its permissions, by a user whom permissions restrict.

import Foundation
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

  @Test func `is read, and refuses writes as denied`() throws {
    let storage = try LocalStorage(path: path)
    try storage.commit(key("a"), .set([1, "x"]))
    storage.close()
    try protect()
    let child = try ChildProcess(opening: path, asNobody: true)
    #expect(try child.ask("get", "a") == "[1,\"x\"]")
    #expect(try child.ask("get", "b") == "absent")
    #expect(try child.ask("revision") == "1")
    #expect(try child.ask("set", "a", "2").contains("may be read but not written"))
    #expect(try child.ask("remove", "a").contains("may be read but not written"))
    #expect(try child.ask("get", "a") == "[1,\"x\"]")
    try child.finish()
    let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    #expect(names == ["journal", "pulse", "values.sqlite"])
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
    let database = URL(fileURLWithPath: path + "/values.sqlite")
    try Data(contentsOf: database).dropLast(bytes).write(to: database)
    #expect(code { _ = try ReadOnlyStorage(StoreFolder(path: path)) } == .corrupt)
  }

  @Test func `returns closed after closing, and a waiting thread ends`() async throws {
    try LocalStorage(path: path).close()
    let storage = try ReadOnlyStorage(StoreFolder(path: path))
    async let isNews = storage.wait(after: 0)
    storage.interruptWaiting()
    #expect(try await isNews == false)
    #expect(code { try storage.commit(key("a"), .set(1)) } == .denied)
    storage.close()
    #expect(code { try storage.revision() } == .closed)
    #expect(code { try storage.commit(key("a"), .set(1)) } == .closed)
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
