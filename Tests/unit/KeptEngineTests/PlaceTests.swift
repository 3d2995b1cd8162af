// Files that are moved, exchanged or overwritten while a store is open: a process that looks for them notices.

import CPlatform
import Foundation
@testable import KeptEngine
import KeptSystem
import KeptValues
import Testing

@Suite struct PlaceTests {
  private let folder: TestFolder
  private let engine: Engine

  /// A store with a checkpoint and a commit since.
  init() throws {
    folder = try TestFolder()
    engine = try Engine(try OpenFolder.own(folder.path))
    try engine.set("a", .int(1))
    try engine.checkpoint()
    try engine.set("b", .int(2))
  }

  private func path(_ name: String) -> String { folder.path + "/" + name }

  /// The error of the check that each durable commit makes.
  private func found() -> StoreError.Code? {
    do throws(StoreError) { try engine.checkPlace() } catch { return error.code }
    return nil
  }

  /// Replaces a file by another one with some bytes.
  private func replace(_ name: String, by bytes: [UInt8]) throws {
    try folder.write(bytes, to: ".other")
    #expect(chmod(path(".other"), 0o600) == 0 && rename(path(".other"), path(name)) == 0)
  }

  @Test(arguments: ["values", "journal.1"], [false, true])
  func `a file that was moved is missed, also with a copy at its name, until it is back`(
    name: String, isCopied: Bool
  ) throws {
    #expect(rename(path(name), path("moved")) == 0)
    if isCopied { try replace(name, by: folder.contents("moved")) }
    let wakes = engine.wakes
    _ = engine.maintain()
    #expect(engine.wakes != wakes, "threads that wait for commits must learn it")
    #expect(found() == .unavailable)
    #expect(throws: StoreError.self) { try engine.state(of: "a") }
    #expect(rename(path("moved"), path(name)) == 0)
    #expect(found() == nil)
    #expect(try engine.state(of: "a").value == .int(1))
  }

  @Test func `the checkpoint of another store, or an older one, is not taken for a newer one`() throws {
    let older = try folder.contents("values")
    try engine.checkpoint()
    try engine.set("b", .int(3))
    try replace("values", by: older)
    #expect(found() == .unavailable)
    let other = try TestFolder()
    let foreign = try Engine(try OpenFolder.own(other.path))
    for _ in 0..<5 {
      try foreign.set("a", .int(9))
      try foreign.checkpoint()
    }
    try replace("values", by: other.contents("values"))
    #expect(found() == .unavailable)
    withExtendedLifetime(foreign) {}
  }

  @Test func `a new time of a checkpoint changes nothing`() throws {
    for _ in 0..<2 {
      #expect(utimes(path("values"), nil) == 0)
      #expect(found() == nil)
    }
  }

  @Test(arguments: ["values", "journal.1"], [0, 540, nil])
  func `no commit is durable in a file that was truncated or overwritten`(name: String, length: Int?) throws {
    let file = folder.open(name)
    if let length {
      kept_engine_shorten(file.descriptor, Int64(length))
    } else {
      try file.writeZeros(from: 0, to: try file.size())
    }
    #expect(found() == .corrupt)
    // A later commit may make the file longer again.
    try engine.set("b", .int(4))
    #expect(found() == .corrupt)
    #expect(try engine.state(of: "a").value == .int(1), "it is in memory")
    engine.close()
    #expect(try Engine(try OpenFolder.own(folder.path)).read { $0.note } != "")
  }

  @Test func `a pulse that was truncated is the same error for who has the store open and for who joins`() throws {
    #expect(truncate(path("pulse"), 0) == 0)
    let own = #expect(throws: StoreError.self) { try engine.checkPlace() }
    let other = #expect(throws: StoreError.self) { try Engine(try OpenFolder.own(folder.path)) }
    #expect(own?.code == .unavailable && other?.code == .unavailable)
    #expect(own?.message == other?.message)
  }
}
