// SQLite's log of another database next to a database, as a copy of the one without the other leaves it: its pages have
// another salt.

import CSQLite
import Foundation
@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite struct `The log of another database` {
  private let folder: TemporaryFolder
  private let path: String
  private static let keys = (0..<200).map { "k\($0)" }

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/store"
  }

  @Test(arguments: [true, false], [true, false])
  func `is set aside, and the database keeps its values`(isOwnFirst: Bool, hasJournal: Bool) throws {
    let names = isOwnFirst ? ["own", "other"] : ["other", "own"]
    let files = try Dictionary(uniqueKeysWithValues: names.map { ($0, try self.files(of: $0)) })
    var own = try #require(files["own"]?.closed)
    let log = try #require(files["other"]?.open["values.sqlite-wal"])
    try #require(log.count > 20_000)
    own["values.sqlite-wal"] = log
    if !hasJournal { own["journal"] = nil }
    try place(own)
    let storage = try LocalStorage(path: path)
    let note = try #require(try storage.salvaged())
    for name in Self.keys { #expect(try storage.value(key(name)) == .string("own \(name)")) }
    #expect(try storage.damage() == nil)
    #expect(try Data(contentsOf: URL(fileURLWithPath: note.quarantine + "/values.sqlite-wal")) == log)
  }

  @Test func `that stood there before a backup was copied over it is set aside`() throws {
    let storage = try LocalStorage(path: path)
    try fill(storage, "before")
    let backup = folder.path + "/backup"
    try back(storage, upTo: backup)
    try fill(storage, "after")
    try storage.commitPath.settle()
    var files = try read()
    storage.close()
    files["values.sqlite"] = try Data(contentsOf: URL(fileURLWithPath: backup))
    try place(files)
    let restored = try LocalStorage(path: path)
    #expect(try restored.salvaged() != nil)
    for name in Self.keys { #expect(try restored.value(key(name)) == .string("before \(name)")) }
  }

  @Test func `stays while another program writes`() throws {
    var files = try files(of: "own").closed
    files["values.sqlite-wal"] = try self.files(of: "other").open["values.sqlite-wal"]
    try place(files)
    var other: SQLiteConnection? = try SQLiteConnection(path: path + "/values.sqlite", busyTimeoutMilliseconds: 0)
    other?.leaveLog()
    try other?.ignoringChecksums { () throws(StoreError) in try other?.begin() }
    #expect(code { try LocalStorage(path: path, busyTimeoutMilliseconds: 20) } == .busy)
    #expect(try read()["values.sqlite-wal"] == files["values.sqlite-wal"])
    #expect(!FileManager.default.fileExists(atPath: path + "/quarantine"))
    other = nil
    #expect(try LocalStorage(path: path).salvaged() != nil)
  }

  @Test func `is corrupt where the store may only be read`() throws {
    let (own, other) = (try files(of: "own").closed, try files(of: "other", isRebuilt: true).open)
    try place(own.merging(["values.sqlite-wal": try #require(other["values.sqlite-wal"])]) { $1 })
    let database = ReadOnlyDatabase(folder: StoreFolder(path: path))
    #expect(code { _ = try database.copy(until: { true }) } == .corrupt)
  }

  @Test(arguments: [4096, 1024]) func `is corrupt for a connection, also with another page size`(size: Int) throws {
    let (own, other) = (path + "/values.sqlite", folder.path + "/other")
    try LocalStorage(path: path).close()
    let log = try Self.log(of: other, pageSize: size)
    try log.write(to: URL(fileURLWithPath: own + "-wal"))
    let connection = try SQLiteConnection(path: own, busyTimeoutMilliseconds: 0)
    connection.leaveLog()
    #expect(code { _ = try connection.integer("SELECT count(*) FROM entry") } == .corrupt)
    #expect(code { _ = try connection.integer("SELECT position FROM store") } == .corrupt)
    #expect(try connection.isLogForeign())
    #expect(code { try connection.copyLog() } == .corrupt)
  }

  // MARK: - Salts

  @Test func `has another salt, which all pages of its own database have`() throws {
    let files = try ["own", "other"].map { try self.files(of: $0, isRebuilt: $0 == "other") }
    let found: [Set<UInt32>] = files.map { salts(in: $0.open).union(salts(in: $0.closed)) }
    #expect(found.map { $0.count } == [1, 1])
    #expect(found[0] != found[1])
    // A copy is a database of its own.
    try place(files[0].closed)
    let storage = try LocalStorage(path: path)
    let copy = folder.path + "/copy"
    try back(storage, upTo: copy)
    let salt = salts(in: ["values.sqlite": try Data(contentsOf: URL(fileURLWithPath: copy))])
    #expect(salt.count == 1 && salt != found[0])
  }

  @Test func `is not one written by a connection that was opened before the database was made`() throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    let database = path + "/values.sqlite"
    try StoreFolder.makeFile(database)
    let one = try SQLiteConnection(path: database, busyTimeoutMilliseconds: 0)
    let other = try SQLiteConnection(path: database, busyTimeoutMilliseconds: 0)
    try LocalSchema.create(on: one)
    try one.run("UPDATE store SET revision = 1")
    try other.run("UPDATE store SET revision = revision + 1")
    #expect(try one.integer("SELECT revision FROM store") == 2)
    #expect(salts(in: try read()).count == 1)
  }

  @Test func `is recognised although the first page of the database is damaged`() throws {
    var own = try files(of: "own").closed
    // Its own content is in the journal too.
    own["values.sqlite"]?[4090] ^= 1
    own["values.sqlite-wal"] = try files(of: "other", isRebuilt: true).open["values.sqlite-wal"]
    try place(own)
    let storage = try LocalStorage(path: path)
    #expect(try storage.salvaged() != nil)
    for name in Self.keys { #expect(try storage.value(key(name)) == .string("own \(name)")) }
  }

  // MARK: -

  private typealias Files = [String: Data]

  /// The files of a new store, while it is open, with everything settled, and after it was closed.
  private func files(of name: String, isRebuilt: Bool = false) throws -> (open: Files, closed: Files) {
    let place = folder.path + "/" + name
    let storage = try LocalStorage(path: place)
    try fill(storage, name)
    try storage.commitPath.settle()
    if isRebuilt {
      // Then every page is in the log.
      let connection = try SQLiteConnection(path: place + "/values.sqlite", busyTimeoutMilliseconds: 0)
      try connection.run("VACUUM")
    }
    let open = try read(place)
    storage.close()
    return (open, try read(place))
  }

  private func back(_ storage: LocalStorage, upTo path: String) throws {
    _ = try DatabaseDraft.place(at: FileTarget(path)) { draft throws(StoreError) in try storage.copy(into: draft) }
  }

  private func fill(_ storage: LocalStorage, _ text: String) throws {
    for name in Self.keys { try storage.commit(key(name), .set(.string("\(text) \(name)"))) }
  }

  private func read(_ place: String? = nil) throws -> Files {
    var files: Files = [:]
    for name in ["values.sqlite", "values.sqlite-wal", "journal"] {
      files[name] = try? Data(contentsOf: URL(fileURLWithPath: (place ?? path) + "/" + name))
    }
    return files
  }

  private func place(_ files: Files) throws {
    try? FileManager.default.removeItem(atPath: path)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    for (name, bytes) in files { try bytes.write(to: URL(fileURLWithPath: path + "/" + name)) }
  }

  /// The log of a new database with an empty store's tables.
  private static func log(of database: String, pageSize: Int) throws -> Data {
    try StoreFolder.makeFile(database)
    let connection = try SQLiteConnection(path: database, busyTimeoutMilliseconds: 0)
    try connection.run("PRAGMA page_size = \(pageSize)")
    connection.addChecksums()
    try connection.run("PRAGMA journal_mode = WAL")
    try connection.write { () throws(StoreError) in try connection.run(LocalSchema.creation) }
    return try withExtendedLifetime(connection) { try Data(contentsOf: URL(fileURLWithPath: database + "-wal")) }
  }

  /// The salts in the pages of 4 KiB of a database and its log.
  private func salts(in files: Files) -> Set<UInt32> {
    func salts(_ bytes: Data?, after start: Int, _ step: Int) -> [UInt32] {
      guard let bytes else { return [] }
      return stride(from: start + step, through: bytes.count, by: step).map { end in
        bytes[end - 8..<end - 4].reduce(0) { $0 << 8 | UInt32($1) }
      }
    }
    return Set(salts(files["values.sqlite"], after: 0, 4096) + salts(files["values.sqlite-wal"], after: 32, 4096 + 24))
  }
}
