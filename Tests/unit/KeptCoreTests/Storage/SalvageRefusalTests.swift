// Stores without damage: a store that is only marked is opened, or refused with the reason, and never replaced.

import CPlatform
import Foundation
@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite struct `A store that is marked as damaged` {
  let folder: TemporaryFolder
  let path: String
  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/store"
    let storage = try LocalStorage(path: path)
    var batch = Batch()
    for index in 0..<300 { try batch.edit(key("k\(index)"), .set(.int(Int64(index)))) }
    _ = try storage.commit(batch)
    storage.close()
    try mark()
  }

  private func mark() throws { try Data().write(to: URL(fileURLWithPath: path + "/damaged")) }

  private var names: Set<String> {
    get throws { Set(try FileManager.default.contentsOfDirectory(atPath: path)) }
  }

  @Test func `is not salvaged while another program has locked it`() throws {
    var other: SQLiteConnection? = try SQLiteConnection(path: path + "/values.sqlite", busyTimeoutMilliseconds: 0)
    try other?.run("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; DELETE FROM entry; ROLLBACK")
    let error = #expect(throws: StoreError.self) { try LocalStorage(path: path, busyTimeoutMilliseconds: 20) }
    #expect(error?.code == .busy, "\(error?.description ?? "")")
    #expect(try !names.contains("quarantine"))
    #expect(try names.contains("damaged"), "the next opening looks again")
    other = nil
    let storage = try LocalStorage(path: path)
    #expect(try storage.salvaged() == nil)
    #expect(try storage.keys(prefix: "").count == 300)
    #expect(try !names.contains("damaged"))
  }

  @Test func `and is damaged is not salvaged while another program writes`() throws {
    let database = URL(fileURLWithPath: path + "/values.sqlite")
    var bytes = try Data(contentsOf: database)
    let page = bytes.count / 4096 / 2 * 4096
    for index in page..<page + 4096 { bytes[index] = 0xAA }
    try bytes.write(to: database)
    var other: SQLiteConnection? = try SQLiteConnection(path: database.path, busyTimeoutMilliseconds: 0)
    try other?.begin()
    #expect(code { try LocalStorage(path: path, busyTimeoutMilliseconds: 20) } == .busy)
    #expect(try !names.contains("quarantine"))
    other?.rollBack()
    other = nil
    #expect(try LocalStorage(path: path).salvaged() != nil)
  }

  @Test func `opens at every step of another program's salvage`() throws {
    unlink(path + "/damaged")
    let steps = Monitor(0)
    let isOver = Monitor(false)
    // A salvage does this before it releases its lock, and undoes it if it replaces nothing.
    try LibraryThread.start { [path] in
      while !isOver.read(\.self) {
        _ = kept_make_folder(path + "/quarantine")
        if link(path + "/values.sqlite", path + "/quarantine/values.sqlite") == 0 { steps.update { $0 += 1 } }
        unlink(path + "/quarantine/values.sqlite")
        rmdir(path + "/quarantine")
      }
      steps.update { $0 = -1 }
    }
    defer {
      isOver.update { $0 = true }
      steps.wait { $0 < 0 ? () : nil }
    }
    steps.wait { $0 > 0 ? () : nil }
    let folder = StoreFolder(path: path)
    for _ in 0..<20_000 { try folder.prepare { _ in Issue.record("there is a database") } }
  }

  @Test func `is not salvaged where it has another format`() throws {
    try shell(path + "/values.sqlite", "pragma user_version = 99")
    #expect(code { try LocalStorage(path: path) } == .unsupported)
    #expect(try !names.contains("quarantine"))
    #expect(try run("/usr/bin/sqlite3", path + "/values.sqlite", "select count(*) from entry") == "300\n")
  }

  @Test func `is not salvaged where it is the database of another program`() throws {
    try shell(path + "/values.sqlite", "drop table entry; pragma application_id = 1")
    #expect(code { try LocalStorage(path: path) } == .unsupported)
    #expect(try !names.contains("quarantine"))
  }
}
