// Every byte of the database, of its log and of the journal changed in turn, after all processes were killed: each key
// has its value, or reading says `corrupt`, or the opening says that the store was salvaged.

import Foundation
@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite struct `When any byte changed` {
  private let folder: TemporaryFolder
  private let path: String
  private static let keys = 40
  /// So many commits reach around the ring.
  private static let settled = 3900
  /// How many bytes of each file; scripts/torture takes all of them.
  private static let count = ProcessInfo.processInfo.environment["KEPT_FLIPS"].flatMap(Int.init) ?? 60
  private static let seed = ProcessInfo.processInfo.environment["KEPT_SEED"].flatMap(Int.init) ?? 1
  private static let names = ["values.sqlite", "values.sqlite-wal", "journal", "pulse"]

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/store"
  }

  @Test(arguments: ["values.sqlite", "values.sqlite-wal", "journal"])
  func `nothing is read that was not written, and nothing is missing in silence`(name: String) throws {
    let (files, values) = try makeFiles()
    let bytes = try #require(files[name])
    // The ring is full of frames that are settled: a part of them is enough.
    let places = name == "journal" ? try usedPlaces(bytes) : Array(0..<bytes.count)
    let step = max(1, places.count / Self.count)
    var salvages = 0
    for index in stride(from: Self.seed % step, to: places.count, by: step) {
      var changed = bytes
      changed[places[index]] ^= 1 << UInt8((places[index] + Self.seed) % 8)
      try place(files.merging([name: changed]) { $1 })
      if try isToldOrRight(values, "byte \(places[index]) of \(name)") { salvages += 1 }
    }
    print("\(name): \(places.count / step) of \(places.count) bytes, \(salvages) salvages")
  }

  @Test(arguments: ["values.sqlite", "values.sqlite-wal", "journal"])
  func `a store that may only be read says so too`(name: String) throws {
    let (files, values) = try makeFiles()
    let bytes = try #require(files[name])
    let places = name == "journal" ? try usedPlaces(bytes) : Array(0..<bytes.count)
    for index in stride(from: Self.seed % 97, to: places.count, by: max(1, 3 * places.count / Self.count)) {
      var changed = bytes
      changed[places[index]] ^= 1 << UInt8((places[index] + Self.seed) % 8)
      try place(files.merging([name: changed]) { $1 })
      let database = ReadOnlyDatabase(folder: StoreFolder(path: path))
      do throws(StoreError) {
        let end = MonotonicTime.milliseconds + 200
        let reader = try database.copy(until: { MonotonicTime.milliseconds > end }).reader
        for (key, value) in values {
          var none: Allowance?
          let found = try reader.row(for: KeyName(key), &none)?.entry().value
          #expect(found == value, "byte \(places[index]): \(key) is \(found?.json.prefix(20) ?? "gone")")
        }
      } catch {
        #expect([.corrupt, .unsupported].contains(error.code), "byte \(places[index]): \(error)")
      }
    }
  }

  @Test func `each bit of the database's head counts`() throws {
    let storage = try LocalStorage(path: path)
    var values: [String: Value] = [:]
    for (name, count) in [("small", 1), ("large", 500)] {
      let value = Value.string(String(repeating: "\(name)-", count: count))
      try storage.commit(key(name), .set(value))
      values[name] = value
    }
    storage.close()
    var files: [String: Data] = [:]
    // Without the pulse and the ring nothing completes the database.
    for name in ["values.sqlite", "journal"] {
      files[name] = try Data(contentsOf: URL(fileURLWithPath: path + "/" + name))
    }
    // In an ordinary run those that say what SQLite may do.
    for bit in Self.count > 1000 ? 0..<800 : 128..<192 {
      var changed = try #require(files["values.sqlite"])
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      try place(files.merging(["values.sqlite": changed]) { $1 })
      _ = try isToldOrRight(values, "bit \(bit % 8) of byte \(bit / 8)")
    }
  }

  @Test func `nothing is read from pages in each other's places`() throws {
    let (files, values) = try makeFiles()
    let bytes = try #require(files["values.sqlite"])
    for page in stride(from: 4096, to: bytes.count - 8192, by: 4096) {
      var changed = bytes
      changed.replaceSubrange(page..<page + 4096, with: bytes[page + 4096..<page + 8192])
      changed.replaceSubrange(page + 4096..<page + 8192, with: bytes[page..<page + 4096])
      try place(files.merging(["values.sqlite": changed]) { $1 })
      _ = try isToldOrRight(values, "page \(page / 4096)")
    }
  }

  @Test(arguments: [0, 32, 33, 1000, 5000]) func `a log that was cut is noticed`(length: Int) throws {
    let (files, values) = try makeFiles()
    try place(files.merging(["values.sqlite-wal": files["values.sqlite-wal"]?.prefix(length) ?? Data()]) { $1 })
    #expect(try isToldOrRight(values, "\(length) bytes of the log"))
  }

  @Test func `an older database with a newer journal is noticed`() throws {
    let (files, values) = try makeFiles()
    try place(files)
    try LocalStorage(path: path).close()
    let older = try Data(contentsOf: URL(fileURLWithPath: path + "/values.sqlite"))
    let storage = try LocalStorage(path: path)
    for number in 0..<5000 { try storage.commit(key("k1"), .set(.string("\(number) k1-"))) }
    storage.close()
    try older.write(to: URL(fileURLWithPath: path + "/values.sqlite"))
    #expect(try isToldOrRight(values, "an older database"))
  }

  @Test(arguments: [true, false]) func `an older journal with a newer database is noticed`(hasPulse: Bool) throws {
    let (files, _) = try makeFiles()
    try place(files)
    try LocalStorage(path: path).close()
    let older = try Data(contentsOf: URL(fileURLWithPath: path + "/journal"))
    let storage = try LocalStorage(path: path)
    try storage.commit(key("k1"), .set("settled"))
    // Closing settles.
    storage.close()
    try older.write(to: URL(fileURLWithPath: path + "/journal"))
    if !hasPulse { try FileManager.default.removeItem(atPath: path + "/pulse") }
    let opened = try LocalStorage(path: path)
    defer { opened.close() }
    #expect(try opened.salvaged() != nil)
    #expect(try opened.value(key("k1")) == "settled")
  }

  @Test func `a change that is not in its pages' checksums is found by verify`() throws {
    let storage = try LocalStorage(path: path)
    for index in 0..<2000 { try storage.commit(key("k\(index)"), .set("value")) }
    storage.close()
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path + "/values.sqlite"))
    let place = try #require(bytes.range(of: Data("k150stringvalue".utf8))).upperBound - 1
    bytes[place] ^= 1
    try bytes.write(to: URL(fileURLWithPath: path + "/values.sqlite"))
    let opened = try LocalStorage(path: path)
    #expect(try opened.damage()?.code == .corrupt)
    #expect(code { try opened.value(key("k150")) } == .corrupt)
    opened.close()
    let salvaged = try LocalStorage(path: path)
    #expect(try salvaged.salvaged() != nil)
    #expect(try salvaged.keys(prefix: "").count > 1500)
    #expect(try salvaged.damage() == nil)
  }

  @Test func `the sqlite3 shell reads a log that is left, and may bring it into the database`() throws {
    try LocalStorage(path: path).close()
    let connection = try SQLiteConnection(path: path + "/values.sqlite", busyTimeoutMilliseconds: 0)
    try connection.run("PRAGMA wal_autocheckpoint = 0")
    // Pages are written before the commit, and again.
    try connection.run("PRAGMA cache_size = 20")
    try connection.write { () throws(StoreError) in
      try connection.run(
        """
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
          INSERT INTO entry SELECT 'k' || i, 'string', hex(randomblob(20)), NULL, 1 FROM n;
        UPDATE entry SET value = hex(randomblob(30)) WHERE length(key) = 4;
        SAVEPOINT half; DELETE FROM entry WHERE key < 'k3'; ROLLBACK TO half;
        UPDATE entry SET value = 'last';
        """)
    }
    let log = try Data(contentsOf: URL(fileURLWithPath: path + "/values.sqlite-wal"))
    let database = try Data(contentsOf: URL(fileURLWithPath: path + "/values.sqlite"))
    withExtendedLifetime(connection) {}
    try place(["values.sqlite": database, "values.sqlite-wal": log])
    let query = "select count(*) from entry where value = 'last'; pragma integrity_check"
    #expect(try run("/usr/bin/sqlite3", path + "/values.sqlite", query) == "5000\nok\n")
    #expect(!FileManager.default.fileExists(atPath: path + "/values.sqlite-wal"))
    let copy = try SQLiteConnection(path: path + "/values.sqlite", busyTimeoutMilliseconds: 0)
    #expect(try copy.damage() == nil)
    #expect(try copy.integer("SELECT count(*) FROM entry WHERE value = 'last'") == 5000)
  }

  // MARK: -

  private typealias Image = (files: [String: Data], values: [String: Value])

  private func makeFiles() throws -> Image { try Self.image.get() }

  /// The files of a store whose processes were killed: some values only in the log, where the ring was overwritten
  /// since, and some only in the ring.
  private static let image = Result {
    let folder = try TemporaryFolder()
    let path = folder.path + "/store"
    let storage = try LocalStorage(path: path)
    var values: [String: Value] = [:]
    func set(_ index: Int, _ number: Int) throws {
      let value = Value.string("\(number) " + String(repeating: "k\(index)-", count: index % 10 == 0 ? 500 : 10))
      try storage.commit(key("k\(index)"), .set(value))
      values["k\(index)"] = value
    }
    for number in 0..<settled {
      try set(number % keys, number)
      // A ring that is lapped too soon would be replaced by a larger one.
      if number % 300 == 299 { try storage.commitPath.settle() }
    }
    for number in settled..<settled + 12 { try set(number % keys, number) }
    var files: [String: Data] = [:]
    for name in names { files[name] = try Data(contentsOf: URL(fileURLWithPath: path + "/" + name)) }
    storage.close()
    return Image(files, values)
  }

  /// The head, the mark, the unsettled frames, and one of 64 of the others.
  private func usedPlaces(_ journal: Data) throws -> [Int] {
    let last = try #require(journal.range(of: Data("\(Self.settled + 11) k".utf8))).upperBound
    try #require(last < journal.count / 2, "the ring was not lapped")
    let unsettled = last - 8000..<last + 200
    return Array(0..<128) + Array(unsettled) + Array(stride(from: unsettled.upperBound, to: journal.count, by: 64))
  }

  private func place(_ files: [String: Data]) throws {
    try? FileManager.default.removeItem(atPath: path)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    for (name, bytes) in files { try bytes.write(to: URL(fileURLWithPath: path + "/" + name)) }
  }

  /// Returns whether the opening said that the store was salvaged.
  ///
  /// It opens twice, because the first may only meet the damage.
  private func isToldOrRight(_ values: [String: Value], _ what: String) throws -> Bool {
    var isTold = false
    for _ in 0..<2 {
      let storage: LocalStorage
      do throws(StoreError) { storage = try LocalStorage(path: path) } catch {
        #expect([.corrupt, .unsupported].contains(error.code), "\(what): \(error)")
        continue
      }
      defer { storage.close() }
      isTold = try storage.salvaged() != nil
      for (name, value) in values {
        do throws(StoreError) {
          let found = try storage.entry(for: KeyName(name))?.value
          #expect(found == value || isTold, "\(what): \(name) is \(found?.json.prefix(20) ?? "gone")")
          if found != value, case .string(let text)? = found {
            // After a salvage, a value of another time.
            #expect(text.contains("\(name)-"), "\(what): \(name) is \(text.prefix(20))")
          }
        } catch {
          #expect(error.code == .corrupt, "\(what): \(error)")
        }
      }
    }
    return isTold
  }
}
