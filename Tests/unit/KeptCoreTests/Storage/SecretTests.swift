// A secret that was removed or replaced is in no file of the store after it was closed, or a second later.

import Foundation
import KeptEngine
@testable import KeptSchema
import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite struct `A secret that is removed or replaced` {
  private let folder: LocalFolder
  private let storage: LocalStorage
  private let store: Store

  init() throws {
    folder = try LocalFolder()
    storage = try folder.open()
    store = Store(storage: storage)
    try store.keepSecretsPlain()
  }

  /// The files that contain a text.
  private func files(with text: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { name in
      try Data(contentsOf: URL(fileURLWithPath: folder.path + "/" + name)).range(of: Data(text.utf8)) != nil
    }
  }

  private func expectGone() throws { #expect(try files(with: "SECRET") == [] && files(with: "TERCES") == []) }

  private func declareSecret(_ key: String) throws {
    try store.declare(Declaration(json: #"{"type":"string","secret":true}"#), forKey: key)
  }

  private func secret(_ length: Int) -> String { "SECRET" + String(repeating: "s", count: length) + "TERCES" }

  @Test(arguments: [0, 5000], ["overwrite", "remove", "remove all", "reset"])
  func `is in no file, among others`(_ length: Int, _ how: String) throws {
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
    store.close()
    try expectGone()
    let others = try folder.open()
    #expect(try others.keys(prefix: "").count == 300 + (how == "overwrite" ? 1 : 0))
    #expect(try others.value(key("k299")) == "value 299")
  }

  @Test func `is in no file of an open store a second later`() throws {
    try declareSecret("token")
    try store.set(.string(secret(10)), forKey: "token")
    // In a checkpoint, and in its history.
    try store.set(.string("\(secret(10)) again"), forKey: "token")
    try storage.engine.checkpoint()
    #expect(try files(with: "SECRET") != [])
    try store.remove("token")
    storage.readers.maintenance.awaitIdle()
    try expectGone()
  }

  @Test(arguments: ["condition", "declaration", "transaction"], [10, 300_000])
  func `is in no file if it was refused`(_ why: String, _ length: Int) throws {
    try store.declare(Declaration(json: #"{"type":"string","secret":true,"maxLength":400000}"#), forKey: "token")
    try store.set("first", forKey: "token")
    switch why {
    case "condition":
      #expect(code { try store.set(.string(secret(length)), forKey: "token", ifRevision: 77) } == .conflict)
    case "declaration":
      #expect(throws: StoreError.self) { try store.set(.string(secret(400_000)), forKey: "token") }
    default:
      let transaction = try store.begin()
      _ = try transaction.value(forKey: "token")
      try transaction.set(.string(secret(length)), forKey: "token")
      try store.set("second", forKey: "token")
      #expect(throws: StoreError.self) { try transaction.commit() }
    }
    try expectGone()
  }

  @Test func `is in no file when its key is declared later`() throws {
    try store.set(.string(secret(10)), forKey: "token")
    try store.set("other", forKey: "token")
    try declareSecret("token")
    store.close()
    try expectGone()
  }

  private static let renamings = [
    "at once", "in a transaction", "later", "without a value", "by a migration", "along a chain",
  ]

  @Test(arguments: [#"{"type":"string","default":"none"}"#, nil], renamings)
  func `is in no file and not in the history when its key is renamed to a secret`(
    _ former: String?, _ how: String
  ) throws {
    if let former { try store.declare(Declaration(json: former), forKey: "pin") }
    try store.set(.string(secret(10)), forKey: "pin")
    try store.set(.string("\(secret(10)) again"), forKey: "pin")
    try storage.engine.checkpoint()
    let new = try Declaration(json: #"{"type":"string","secret":true,"renamedFrom":"pin"}"#)
    switch how {
    case "in a transaction": try store.transaction { try $0.declare(new, forKey: "code") }
    case "later":
      try store.declare(Declaration(json: #"{"type":"string","renamedFrom":"pin"}"#), forKey: "code")
      #expect(try store.value(forKey: "pin") == store.declaration(forKey: "pin")?.defaultValue)
      try store.declare(new, forKey: "code")
    case "without a value":
      try store.remove("pin")
      try store.undeclare("pin")
      try store.declare(new, forKey: "code")
    case "by a migration":
      try store.transaction { transaction in
        try transaction.rename("pin", to: "code")
        try transaction.undeclare("code")
        try transaction.declare(Declaration(json: #"{"type":"string","secret":true}"#), forKey: "code")
      }
      try store.declare(new, forKey: "code")
    case "along a chain":
      try store.declare(Declaration(json: #"{"type":"string","renamedFrom":"pin"}"#), forKey: "word")
      try store.undeclare("pin")
      try store.declare(Declaration(json: #"{"type":"string","secret":true,"renamedFrom":"word"}"#), forKey: "code")
    default: try store.declare(new, forKey: "code")
    }
    #expect(try store.declaration(forKey: "pin")?.isSecret == true)
    if how != "without a value" { #expect(try store.value(forKey: "code") == .string("\(secret(10)) again")) }
    let shown = try store.history(prefix: "").changes.map { "\($0.old) \($0.new)" }.joined()
    #expect(!shown.contains("SECRET") && !shown.isEmpty)
    try store.remove("code")
    store.close()
    try expectGone()
  }

  @Test func `is in no file when it was the default of a declaration that is gone`() throws {
    try store.declare(
      Declaration(json: #"{"type":"string","secret":true,"default":"SECRETdefault"}"#), forKey: "token")
    try storage.engine.checkpoint()
    #expect(try store.value(forKey: "token") == "SECRETdefault" && files(with: "SECRET") == ["values"])
    try store.undeclare("token")
    store.close()
    try expectGone()
  }

  @Test(arguments: ["rename", "reset and undeclare", "undeclare and reset"])
  func `is in no file and not in the history when its declaration is removed by the same commit`(_ how: String) throws {
    try declareSecret("token")
    try store.set(.string(secret(10)), forKey: "token")
    try storage.engine.checkpoint()
    let transaction = try store.begin()
    switch how {
    case "rename": try transaction.rename("token", to: "other.token")
    case "reset and undeclare":
      try transaction.reset("token")
      try transaction.undeclare("token")
    default:
      try transaction.undeclare("token")
      try transaction.reset("token")
    }
    _ = try transaction.commit()
    let changes = try store.history(of: "token").changes
    #expect(changes.count == 2 && !"\(changes)".contains("SECRET"))
    if how == "rename" { try store.remove("other.token") }
    store.close()
    try expectGone()
  }

  @Test func `costs nothing where no value of a secret goes`() throws {
    try declareSecret("token")
    try storage.engine.checkpoint()
    try store.set("x", forKey: "open")
    try store.set(.string(secret(10)), forKey: "token")
    try store.set("y", forKey: "open")
    store.close()
    #expect(FileManager.default.fileExists(atPath: folder.path + "/journal.1"), "there was no other checkpoint")
  }
}
