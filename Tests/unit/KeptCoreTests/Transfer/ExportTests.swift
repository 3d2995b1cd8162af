// The contents of an export, and that they are complete.

import Foundation
@testable import KeptSchema
@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite struct `An export` {
  private let settings: Store
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    settings = try Store.open(folder.path + "/store")
  }

  private func fill() throws {
    try settings.keepSecretsPlain()
    try settings.declare(Declaration(json: #"{"type":"string","secret":true}"#), forKey: "token")
    try settings.declare(Declaration(json: #"{"type":"integer","default":5}"#), forKey: "volume")
    try settings.set("hidden", forKey: "token")
    try settings.set(["b": 1, "$a": .bytes([0])], forKey: "shape")
  }

  @Test func `of an empty store is complete`() throws {
    #expect(try settings.export() == #"{"kept":1,"omitted":[],"prefix":"","revision":0,"values":{}}"#)
  }

  @Test func `has declarations, secrets and the schema version where they exist and on request`() throws {
    try fill()
    try settings.migrate([Migration(to: 2, "nothing") { _ in }])
    let options = ExportOptions(
      prefix: "t", includesDeclarations: true, includesSecrets: true, leavesSecretsPlain: true)
    let text = try settings.export(options)
    let declaration = #"{"secret":true,"type":"string"}"#
    #expect(
      text == #"{"declarations":{"token":\#(declaration)},"kept":1,"prefix":"t","revision":4,"schemaVersion":2,"#
        + #""values":{"token":"hidden"}}"#)
  }

  @Test func `is a value that Kept reads`() throws {
    try fill()
    let members = try Value(json: settings.export()).asDictionary
    #expect(members?["values"]?.asDictionary?["shape"] == ["b": 1, "$a": .bytes([0])])
  }

  @Test(arguments: StorageUnderTest.spoilable)
  func `fails for an unreadable value, unless it may be left out`(_ kind: StorageUnderTest) throws {
    let fill = { (storage: any Storage) in
      for name in ["a", "b", "c"] { try storage.commit(key(name), .set("x")) }
    }
    let storage = try kind.open(in: folder, filledBy: fill, spoiling: ["b"])
    let store = Store(storage: storage)
    let error = #expect(throws: StoreError.self) { try store.export() }
    #expect(error?.code == .corrupt && error?.key == "b")
    let text = try store.export(ExportOptions(leavesOutUnreadable: true))
    #expect(text.hasSuffix(#","unreadable":["b"],"values":{"a":"x","c":"x"}}"#))
  }

  @Test func `to a file is private, and replaces another`() throws {
    try fill()
    let path = folder.path + "/export.json"
    for round in 1...2 {
      try settings.set(.int(Int64(round)), forKey: "round")
      try settings.export(to: path)
      #expect(try String(contentsOfFile: path, encoding: .utf8) == settings.export())
      #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["export.json", "store"])
    }
  }

  @Test func `to a file is the same where it is large`() throws {
    let long = Value.string(String(repeating: "x", count: 50_000))
    for number in 1...8 { try settings.set(long, forKey: "key \(number)") }
    try settings.export(to: folder.path + "/large")
    #expect(try String(contentsOfFile: folder.path + "/large", encoding: .utf8) == settings.export())
  }

  @Test func `to a file needs a place for one`() throws {
    #expect(code { try settings.export(to: "") } == .invalid)
    #expect(code { try settings.export(to: "a\0b") } == .invalid)
    #expect(code { try settings.export(to: folder.path) } == .invalid)
    #expect(code { try settings.export(to: "/dev/null") } == .invalid)
    #expect(code { try settings.export(to: folder.path + "/none/export") } == .unavailable)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["store"])
  }

  @Test func `reports its progress, and can be stopped`() throws {
    for number in 0..<1000 { try settings.set(.int(Int64(number)), forKey: "key \(number)") }
    let progress = Monitor<[[Int]]>([])
    _ = try settings.export(
      ExportOptions(progress: { done, total in
        progress.update { $0.append([done, total]) }
        return true
      }))
    let steps = progress.read(\.self)
    #expect(steps.first == [0, 1000] && steps.last == [1000, 1000] && steps.count < 110 && steps.count > 90)
    let path = folder.path + "/stopped"
    #expect(code { try settings.export(to: path, ExportOptions(progress: { done, _ in done < 500 })) } == .failed)
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `of a closed store is refused`() throws {
    settings.close()
    #expect(code { try settings.export() } == .closed)
  }
}
