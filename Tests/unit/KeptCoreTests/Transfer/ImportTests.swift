// The effects of an import: one commit, with a report.

import Foundation
@testable import KeptSchema
@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite struct `An import` {
  private let folder: TemporaryFolder
  private let settings: Store

  init() throws {
    folder = try TemporaryFolder()
    settings = try Store.open(folder.path + "/store")
  }

  private func text(_ values: String, _ others: String = "") -> String { #"{"kept":1,"values":\#(values)\#(others)}"# }

  private func values(_ store: Store? = nil) throws -> String {
    let text = try (store ?? settings).export(ExportOptions(includesSecrets: true, leavesSecretsPlain: true))
    return String(text[try #require(text.range(of: "\"values\":")).upperBound...].dropLast())
  }

  @Test(arguments: 1...20) func `of an export makes another store the same`(_ seed: UInt64) throws {
    var generator = ValueGenerator(seed: seed)
    for number in 0..<30 { try settings.set(generator.storedValue(), forKey: "key \(number)") }
    for (index, value) in [Value.double(.nan), -0.0, .uint(.max), .double(-.infinity)].enumerated() {
      try settings.set(value, forKey: "edge \(index)")
    }
    let other = try Store.open("memory:")
    let export = try settings.export()
    let report = try other.import(export)
    #expect(report.changed.count == 34 && report.revision == 1 && report.unchanged == 0)
    #expect(try values(other) == values())
    let again = try other.import(export)
    #expect(again.changed.isEmpty && again.unchanged == 34 && again.revision == 1, "the same again changes nothing")
  }

  @Test func `reports the values before and after`() throws {
    try settings.import(text(#"{"a":1,"b":2,"c":3}"#))
    let report = try settings.import(text(#"{"a":1,"b":"two","d":4}"#))
    #expect(
      report.json == #"{"changed":[{"key":"b","new":"two","old":2},{"key":"d","new":4}],"declared":[],"#
        + #""notCarried":[],"refused":[],"removed":[],"revision":2,"unchanged":1}"#)
    #expect(try values() == #"{"a":1,"b":"two","c":3,"d":4}"#)
  }

  // MARK: - Replacing

  @Test(arguments: [("p.", ""), ("", "p."), ("p.", "p.")])
  func `of a part replaces no more than the part`(_ exported: String, _ imported: String) throws {
    try settings.import(text(#"{"p.a":1,"p.b":2,"q":3}"#))
    let part = text(#"{"p.a":7}"#, #","prefix":"\#(exported)""#)
    try settings.import(part, ImportOptions(prefix: imported, replaces: true))
    #expect(try values() == #"{"p.a":7,"q":3}"#)
  }

  @Test func `without secrets leaves secrets alone`() throws {
    try settings.keepSecretsPlain()
    let secret = try Declaration(json: #"{"type":"string","secret":true}"#)
    try settings.declare(secret, forKey: "token")
    let without = try settings.export(ExportOptions(includesDeclarations: true))
    try settings.set("hidden", forKey: "token")
    let omitting = try settings.export(ExportOptions(includesDeclarations: true))
    try settings.set(1, forKey: "new")
    for export in [omitting, without] {
      let report = try settings.import(export, ImportOptions(replaces: true, includesDeclarations: true))
      #expect(report.removed == (export == omitting ? ["new"] : []))
      #expect(try settings.value(forKey: "token") == "hidden" && settings.declaration(forKey: "token") == secret)
    }
    let all = try settings.import(text("{}"), ImportOptions(replaces: true))
    #expect(all.removed == ["token"], "this one says that there is no secret")
  }

  @Test func `never shows a secret`() throws {
    try settings.keepSecretsPlain()
    try settings.declare(Declaration(json: #"{"type":"string","maxLength":9,"secret":true}"#), forKey: "token")
    try settings.set("hidden", forKey: "token")
    let report = try settings.import(text(#"{"token":"covert","shown":"open"}"#))
    #expect(report.json.contains(#"{"key":"token","secret":true}"#) && report.json.contains("open"))
    #expect(!report.json.contains("hidden") && !report.json.contains("covert"))
    let bad = text(#"{"token":"a covert one"}"#)
    let error = #expect(throws: StoreError.self) { try settings.import(bad) }
    #expect(error?.description.contains("covert") == false)
    let refused = try settings.import(bad, ImportOptions(isDryRun: true))
    #expect(refused.refused.count == 1 && !refused.json.contains("covert"))
    let other = try Store.open("memory:")
    let secret = #","declarations":{"k":{"secret":true,"type":"string"}}"#
    #expect(try !other.import(text(#"{"k":"covert"}"#, secret)).json.contains("covert"), "it is one elsewhere")
  }

  @Test func `that replaces declarations replaces types, and removes undeclared keys`() throws {
    try settings.declare(Declaration(json: #"{"type":"integer"}"#), forKey: "a")
    try settings.declare(Declaration(json: #"{"type":"integer"}"#), forKey: "b")
    try settings.set(1, forKey: "a")
    let other = text(#"{"a":"one"}"#, #","declarations":{"a":{"type":"string"}}"#)
    #expect(code { try settings.import(other, ImportOptions(includesDeclarations: true)) } == .typeConflict)
    let report = try settings.import(other, ImportOptions(replaces: true, includesDeclarations: true))
    #expect(report.declared == ["a", "b"])
    #expect(try settings.declarations().json.contains("\"string\"") && settings.declaration(forKey: "b") == nil)
    let silent = try settings.import(text(#"{"a":"one"}"#), ImportOptions(replaces: true, includesDeclarations: true))
    #expect(silent.declared.isEmpty, "a text without declarations says nothing of them")
  }

  @Test func `puts a value in the place of one that cannot be read, or removes it`() throws {
    let fill = { (storage: any Storage) in
      for name in ["a", "b", "c"] { try storage.commit(key(name), .set("x")) }
    }
    let storage = try StorageUnderTest.local.open(in: folder, filledBy: fill, spoiling: ["a", "b", "c"])
    let store = Store(storage: storage)
    let report = try store.import(text(#"{"a":1}"#, #","unreadable":["c"]"#), ImportOptions(replaces: true))
    #expect(report.changed.map(\.key) == ["a"] && report.removed == ["b"])
    let text = try store.export(ExportOptions(leavesOutUnreadable: true))
    #expect(text.hasSuffix(#""unreadable":["c"],"values":{"a":1}}"#))
  }

  @Test func `removes what cannot be read also where it declares the key`() throws {
    let storage = try StorageUnderTest.local.open(
      in: folder, filledBy: { try $0.commit(key("a"), .set("x")) }, spoiling: ["a"])
    let store = Store(storage: storage)
    let declaring = text("{}", #","declarations":{"a":{"type":"integer"}}"#)
    let report = try store.import(declaring, ImportOptions(replaces: true, includesDeclarations: true))
    #expect(report.removed == ["a"] && report.declared == ["a"])
    #expect(try store.export().hasSuffix(#""values":{}}"#) && store.declaration(forKey: "a")?.type == .integer)
  }

  @Test func `keeps a value of another program's text within the limits`() throws {
    try settings.declare(Declaration(json: #"{"type":"array"}"#), forKey: "deep")
    let deep = "{\"deep\":" + String(repeating: "[", count: 65) + String(repeating: "]", count: 65) + "}"
    let report = try settings.import(deep, ImportOptions(format: .json, isDryRun: true))
    #expect(report.notCarried.map(\.place) == ["deep"] && report.changed.isEmpty)
  }

  // MARK: - Dry runs, other writers, and cancelling

  @Test func `is refused as a whole, with the first key and how many there are`() throws {
    try settings.declare(Declaration(json: #"{"type":"integer"}"#), forKey: "b")
    let error = #expect(throws: StoreError.self) { try settings.import(text(#"{"a":1,"b":"x","c":null}"#)) }
    #expect(error?.code == .invalid && error?.key == "c", "an invalid value is reported before one that does not fit")
    #expect(error?.message.contains("2 keys are refused, and nothing was imported") == true)
    #expect(try settings.keys().isEmpty)
  }

  @Test func `reports its progress, and can be stopped up to the end`() throws {
    let all = text("{" + (0..<500).map { #""key \#($0)":\#($0)"# }.joined(separator: ",") + "}")
    let last = Monitor([0, 0])
    let progress: TransferProgress = { done, total in
      last.update { $0 = [done, total] }
      return done < total
    }
    #expect(code { try settings.import(all, ImportOptions(progress: progress)) } == .failed)
    #expect(last.read(\.self) == [all.utf8.count, all.utf8.count])
    #expect(try settings.keys().isEmpty && settings.currentRevision() == 0)
    #expect(try settings.import(all, ImportOptions(progress: { _, _ in true })).changed.count == 500)
  }

  @Test func `is retried when another writer writes at the same time`() throws {
    let other = try Store.open(folder.path + "/store")
    try settings.import(text(#"{"a":1}"#))
    // Called when everything is compared, before the commit.
    let report = try settings.import(
      text(#"{"b":2}"#),
      ImportOptions(
        replaces: true,
        progress: { done, total in
          if done == total { _ = try? other.set(3, forKey: "late") }
          return true
        }))
    #expect(report.removed == ["a", "late"])
    #expect(try values() == #"{"b":2}"#)
  }

  @Test func `succeeds while another writer sets keys that it does not have`() throws {
    let storage = BusyStorage()
    let store = Store(storage: storage)
    try store.set(0, forKey: "a")
    storage.isBusy.update { $0 = true }
    let report = try store.import(text(#"{"a":1,"b":2}"#))
    storage.isBusy.update { $0 = false }
    #expect(report.changed.map(\.key) == ["a", "b"] && report.changed.first?.old == 0)
    #expect(try report.revision == store.currentRevision())
    #expect(try store.keys() == ["a", "another", "b"])
    #expect(try store.value(forKey: "another") == 2, "it was retried once")
  }

  // MARK: - Schema versions

  @Test func `needs a storage that can change many keys at once`() throws {
    let directory = try Store.open("dir:" + folder.path + "/keys")
    try directory.set(1, forKey: "a")
    #expect(try directory.export().hasSuffix(#""values":{"a":1}}"#))
    #expect(code { try directory.import(text(#"{"a":2}"#)) } == .unsupported)
  }

  // MARK: - Files

  @Test func `of a file needs a file`() throws {
    let path = folder.path + "/import.json"
    #expect(code { try settings.import(contentsOf: path) } == .unavailable)
    #expect(code { try settings.import(contentsOf: "") } == .invalid)
    #expect(code { try settings.import(contentsOf: folder.path) } == .invalid)
    #expect(mkfifo(path, 0o600) == 0)
    #expect(code { try settings.import(contentsOf: path) } == .invalid)
    unlink(path)
    try Data("{".utf8).write(to: URL(fileURLWithPath: path))
    let error = #expect(throws: StoreError.self) { try settings.import(contentsOf: path) }
    #expect(error?.code == .invalid && error?.message.hasPrefix(path) == true && error?.offset != nil)
    try Data(text(#"{"a":1}"#).utf8).write(to: URL(fileURLWithPath: path))
    #expect(try settings.import(contentsOf: path).changed.map(\.key) == ["a"])
  }

  @Test func `of another program's text is checked by the declared types, and reports the rest`() throws {
    try settings.declare(Declaration(json: #"{"type":"integer"}"#), forKey: "app.port")
    let options = ImportOptions(format: .json, prefix: "app.", replaces: true)
    try settings.import(#"{"app.old":1,"other":2}"#, ImportOptions(format: .json))
    let report = try settings.import(#"{"port":80.0,"name":"80","none":null}"#, options)
    #expect(report.removed == ["app.old"] && report.notCarried.map(\.place) == ["none"])
    #expect(try values() == #"{"app.name":"80","app.port":80,"other":2}"#)
    #expect(code { try settings.import(#"{"port":"80"}"#, options) } == .wrongType)
  }
}

/// A storage with another writer, who sets a key before each commit.
private final class BusyStorage: Storage {
  let isBusy = Monitor(false)
  private let writes = Monitor<Int64>(0)
  private let storage = MemoryStorage()

  var abilities: StorageAbilities { storage.abilities }
  var generation: UInt64 { storage.generation }

  func commit(_ batch: Batch) throws(StoreError) -> Commit {
    if isBusy.read(\.self) {
      var other = Batch()
      let number = writes.update { number in
        number += 1
        return number
      }
      other.edit(try KeyName("another"), .set(.int(number)))
      _ = try storage.commit(other)
    }
    return try storage.commit(batch)
  }

  func entry(for key: KeyName) throws(StoreError) -> Entry? { try storage.entry(for: key) }
  func keys(prefix: ExactString) throws(StoreError) -> [KeyName] { try storage.keys(prefix: prefix) }
  func entries(in scopes: [Scope]) throws(StoreError) -> StoredEntries { try storage.entries(in: scopes) }
  func declarations(prefix: ExactString) throws(StoreError) -> [(key: KeyName, declaration: Declaration)] {
    try storage.declarations(prefix: prefix)
  }
  func revision() throws(StoreError) -> Revision { try storage.revision() }
  func schemaVersion() throws(StoreError) -> UInt32 { try storage.schemaVersion() }
  func changes(after revision: Revision) throws(StoreError) -> ChangesAfter { try storage.changes(after: revision) }
  func wait(after revision: Revision) throws(StoreError) -> Bool { try storage.wait(after: revision) }
  func interruptWaiting() { storage.interruptWaiting() }
  func flush() throws(StoreError) { try storage.flush() }
  func close() { storage.close() }
}
