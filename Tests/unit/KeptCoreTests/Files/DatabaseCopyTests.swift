// A database that is read as a copy has the contents that SQLite would show, wherever its log ends.

import Foundation
@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite struct `A copy of a database` {
  let folder: TemporaryFolder
  let path: String
  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/store"
  }

  @Test func `shows what SQLite shows, wherever the log was cut off or changed`() throws {
    let storage = try LocalStorage(path: path)
    try storage.commit(key("big"), .set(.string(String(repeating: "x", count: 20_000))))
    storage.close()
    let connection = try SQLiteConnection(path: path + "/values.sqlite", busyTimeoutMilliseconds: 0)
    // As a backup, which needs no journal: a store without its journal is damaged.
    try connection.write { () throws(StoreError) in try connection.run("UPDATE store SET journal = 0") }
    #expect(try connection.integer("PRAGMA wal_checkpoint(TRUNCATE)") == 0)
    for number in 1...20 {
      try connection.write { () throws(StoreError) in
        try connection.run("INSERT INTO entry VALUES ('k\(number)', 'int', \(number), NULL, \(number + 1))")
        try connection.run("UPDATE store SET revision = revision + 1")
      }
    }
    let database = try Data(contentsOf: URL(fileURLWithPath: path + "/values.sqlite"))
    let log = try Data(contentsOf: URL(fileURLWithPath: path + "/values.sqlite-wal"))
    withExtendedLifetime(connection) {}
    try #require(log.count > 20_000)
    var revisions: Set<Revision> = []
    for number in 0..<60 {
      var changed = log.prefix(log.count * number / 59)
      if number % 3 == 0, !changed.isEmpty { changed[changed.count * 2 / 3] ^= 1 }
      let expected = try revisionSQLiteSees(database, changed, number)
      let place = try place(database, changed, "copy-\(number)")
      #expect(revision(asCopyIn: place) == expected, "with \(changed.count) bytes of the log")
      if let expected { revisions.insert(expected) }
    }
    #expect(revisions.count > 5)
  }

  @Test func `is refused where its log is gone and a part of it with that`() throws {
    let storage = try LocalStorage(path: path)
    try storage.commit(key("big"), .set(.string(String(repeating: "x", count: 20_000))))
    storage.close()
    let database = try Data(contentsOf: URL(fileURLWithPath: path + "/values.sqlite"))
    let place = try place(database.dropLast(4096), Data(), "copy")
    let end = MonotonicTime.milliseconds + 10_000
    let cut = ReadOnlyDatabase(folder: StoreFolder(path: place))
    #expect(code { _ = try cut.copy { MonotonicTime.milliseconds > end } } == .corrupt)
  }

  private func place(_ database: Data, _ log: Data, _ name: String) throws -> String {
    let place = folder.path + "/" + name
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
    for (ending, bytes) in [("", database), ("-wal", log)] {
      try bytes.write(to: URL(fileURLWithPath: place + "/values.sqlite" + ending))
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o600], ofItemAtPath: place + "/values.sqlite" + ending)
    }
    return place
  }

  private func revisionSQLiteSees(_ database: Data, _ log: Data, _ number: Int) throws -> Revision? {
    let place = try place(database, log, "sqlite-\(number)")
    let connection = try SQLiteConnection(path: place + "/values.sqlite", busyTimeoutMilliseconds: 0)
    defer { withExtendedLifetime(connection) {} }
    return try? SettledPlace.read(connection).revision
  }

  private func revision(asCopyIn place: String) -> Revision? {
    let end = MonotonicTime.milliseconds + 10_000
    let copy = try? ReadOnlyDatabase(folder: StoreFolder(path: place)).copy { MonotonicTime.milliseconds > end }
    return try? copy.map { copy throws(StoreError) in try SettledPlace.read(copy.reader.reader.connection).revision }
  }
}
