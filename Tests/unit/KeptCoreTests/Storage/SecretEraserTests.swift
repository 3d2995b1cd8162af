// A secret that was removed is in no file of the store.

import Foundation
@testable import KeptSchema
@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite(.timeLimit(.minutes(30))) struct `A secret that is removed or replaced` {
  let folder: TemporaryFolder
  let store: Store
  private var path: String { folder.path + "/store" }

  init() throws {
    folder = try TemporaryFolder()
    store = Store(storage: try LocalStorage(path: folder.path + "/store"))
  }

  /// The files that contain a text.
  private func files(with text: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).filter { name in
      (try? Data(contentsOf: URL(fileURLWithPath: path + "/" + name)))?.range(of: Data(text.utf8)) != nil
    }.sorted()
  }

  /// Moves all commits into the database, so that a reading of it holds them.
  private func settle() throws {
    _ = try LocalStorage(path: path).copy(into: folder.path + "/copy")
    try FileManager.default.removeItem(atPath: folder.path + "/copy")
  }

  private func declareSecret(_ key: String) throws {
    try store.declare(Declaration(json: #"{"type":"string","secret":true}"#), forKey: key)
  }

  private func secret(_ length: Int) -> String {
    "SECRET" + String(repeating: "s", count: length) + "TERCES"
  }

  @Test(arguments: [0, 150, 500, 5000], ["overwrite", "remove", "remove all", "reset"])
  func `is in no file, on a page and in overflow pages, among others`(_ length: Int, _ how: String) throws {
    for index in 0..<300 { try store.set(.string("value \(index)"), forKey: "k\(index)") }
    try declareSecret("k150.token")
    try store.set(.string(secret(length)), forKey: "k150.token")
    #expect(try files(with: "SECRET") != [], "it is there before")
    switch how {
    case "overwrite": try store.set("another", forKey: "k150.token")
    case "remove": try store.remove("k150.token")
    case "remove all": try store.removeAll(prefix: "k150.")
    default: try store.reset("k150.token")
    }
    #expect(try files(with: "SECRET") == [] && files(with: "TERCES") == [])
    #expect(try store.keys().count == 300 + (how == "overwrite" ? 1 : 0))
    let others = try LocalStorage(path: path)
    #expect(try others.entry(for: key("k299"))?.value == "value 299", "others go on reading")
  }

  @Test(arguments: ["condition", "declaration", "same"], [10, 300_000])
  func `is in no file if it was refused`(_ why: String, _ length: Int) throws {
    try store.declare(Declaration(json: #"{"type":"string","secret":true,"maxLength":400000}"#), forKey: "token")
    try store.set("first", forKey: "token")
    let transaction = try store.begin()
    switch why {
    case "condition":
      let refused = #expect(throws: StoreError.self) {
        try store.set(.string(secret(length)), forKey: "token", ifRevision: 77)
      }
      #expect(refused?.code == .conflict)
    case "declaration":
      let long = secret(400_000)
      #expect(throws: StoreError.self) { try store.set(.string(long), forKey: "token") }
    default:
      _ = try transaction.value(forKey: "token")
      try transaction.set(.string(secret(length)), forKey: "token")
      try store.set("second", forKey: "token")
      #expect(throws: StoreError.self) { try transaction.commit() }
    }
    #expect(try files(with: "SECRET") == [] && files(with: "TERCES") == [])
    try settle()
    #expect(try bodies() == 0)
  }

  @Test func `leaves nothing in the store where it is set again as it is`() throws {
    try declareSecret("token")
    for _ in 0..<3 { try store.set(.string(secret(10)), forKey: "token") }
    try settle()
    #expect(try bodies() == 0)
  }

  @Test func `is not in the journal as the default of a declaration, and in no file when that is gone`() throws {
    for _ in 0..<2 {
      try store.declare(
        Declaration(json: #"{"type":"string","secret":true,"default":"SECRETdefault"}"#), forKey: "token")
    }
    #expect(try store.value(forKey: "token") == "SECRETdefault")
    #expect(try !files(with: "SECRET").contains("journal"))
    try store.undeclare("token")
    #expect(try files(with: "SECRET") == [])
  }

  private func bodies() throws -> Int64 {
    let connection = try SQLiteConnection(path: path + "/values.sqlite", busyTimeoutMilliseconds: 5000)
    return try connection.integer("SELECT (SELECT count(*) FROM body) + (SELECT count(*) FROM large)")
  }

  @Test func `leaves no copy behind where pages were divided and joined in between`() throws {
    var random = SystemRandomNumberGenerator()
    try declareSecret("k0500")
    for round in 0..<12 {
      try store.set(.string("SECRET\(round)" + secret(Int.random(in: 0...200, using: &random))), forKey: "k0500")
      for _ in 0..<60 {
        let name = "k0" + String(Int.random(in: 100...999, using: &random))
        guard name != "k0500" else { continue }
        if Bool.random(using: &random) {
          try store.set(.string(String(repeating: "v", count: Int.random(in: 1...400, using: &random))), forKey: name)
        } else {
          try store.remove(name)
        }
      }
    }
    try store.remove("k0500")
    #expect(try files(with: "SECRET") == [] && files(with: "TERCES") == [])
  }

  @Test func `is erased once a reading that was in the way has ended`() throws {
    try declareSecret("token")
    try store.set(.string(secret(10)), forKey: "token")
    try settle()
    let reader = try SQLiteConnection(path: path + "/values.sqlite", busyTimeoutMilliseconds: 0)
    try reader.run("BEGIN")
    #expect(try reader.integer("SELECT count(*) FROM entry") == 1)
    try store.remove("token")
    #expect(try files(with: "SECRET") != [], "the reading still needs it")
    try reader.run("COMMIT")
    let deadline = MonotonicTime.milliseconds + 60_000
    let waiting = Monitor(())
    while try !files(with: "SECRET").isEmpty, MonotonicTime.milliseconds < deadline {
      let _: Void? = waiting.wait(milliseconds: 50) { _ in nil }
    }
    #expect(try files(with: "SECRET") == [])
  }

  @Test func `is erased as well when the key is declared later`() throws {
    try store.set(.string(secret(10)), forKey: "token")
    try store.set(.string("other"), forKey: "token")
    try declareSecret("token")
    #expect(try files(with: "SECRET") == [])
  }

  @Test func `is erased when the store is closed at the latest`() throws {
    try declareSecret("token")
    try store.set(.string(secret(10)), forKey: "token")
    try settle()
    let reader = try SQLiteConnection(path: path + "/values.sqlite", busyTimeoutMilliseconds: 0)
    try reader.run("BEGIN")
    _ = try reader.integer("SELECT count(*) FROM entry")
    try store.set("new", forKey: "token")
    try reader.run("COMMIT")
    store.close()
    #expect(try files(with: "SECRET") == [])
  }

  @Test func `costs nothing where no value of a secret goes`() throws {
    try store.declare(Declaration(json: #"{"type":"string"}"#), forKey: "open")
    try declareSecret("token")
    try store.set("x", forKey: "open")
    try store.set(.string(secret(10)), forKey: "token")
    try store.set("y", forKey: "open")
    let log = try FileManager.default.attributesOfItem(atPath: path + "/values.sqlite-wal")[.size] as? Int
    #expect(log ?? 0 > 0, "the log was left alone")
  }
}
