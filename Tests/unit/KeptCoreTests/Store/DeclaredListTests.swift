// A list of declarations that a store has: declaring it again does not read it, until something might have changed.

import Foundation
import KeptSchema
@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite(.timeLimit(.minutes(30))) struct `A list that was declared` {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private func open() throws -> Store { try Store(storage: LocalStorage(path: folder.path + "/store")) }

  private func list(_ type: String, _ prefix: String = "key", count: Int = 100) -> String {
    let members = (0..<count).map { #""\#(prefix).\#($0)":{"type":"\#(type)"}"# }
    return #"{"properties":{\#(members.joined(separator: ","))}}"#
  }

  /// Declares a list; returns whether its text was read.
  private func declare(_ text: String, in store: Store) throws -> Bool {
    var isRead = false
    let misfits = try ExactString(text).withBytes { bytes throws(StoreError) in
      try store.declare(UnsafeRawBufferPointer(bytes)) { () throws(StoreError) in
        isRead = true
        return try DeclarationList(json: text)
      }
    }
    #expect(misfits.isEmpty)
    return isRead
  }

  @Test func `is not read again, also by later programs, and after other commits`() throws {
    let (store, text) = (try open(), list("integer"))
    let others = (0..<3).map { list("string", "other\($0)") }
    #expect(try declare(text, in: store))
    let revision = try store.currentRevision()
    #expect(try !declare(text, in: store) && store.currentRevision() == revision)
    #expect(try store.declare(DeclarationList(json: text)).isEmpty)
    for other in others { #expect(try declare(other, in: store)) }
    try store.set(1, forKey: "key.1")
    try store.declare(Declaration(json: #"{"type":"string"}"#), forKey: "another")
    for each in others + [text] { #expect(try !declare(each, in: store)) }
    store.close()
    let later = try open()
    for each in others + [text] { #expect(try !declare(each, in: later)) }
    #expect(try declare(list("string", "one more"), in: later))
    #expect(try declare(text, in: later), "a store remembers a few")
    #expect(throws: StoreError.self) { try later.set("loud", forKey: "key.1") }
  }

  @Test(arguments: ["another declaration", "none", "an import", "many others", "a restore"])
  func `is read again after another process has declared otherwise`(_ kind: String) throws {
    let (store, other, text) = (try open(), try open(), list("integer"))
    let copy = folder.path + "/copy"
    try other.set("loud", forKey: "key.1")
    _ = try other.backup(to: copy)
    try other.remove("key.1")
    #expect(try declare(text, in: store) && !declare(text, in: store))
    switch kind {
    case "another declaration":
      try other.declare(Declaration(json: #"{"type":"integer","minimum":2}"#), forKey: "key.1")
    case "none": try other.undeclare("key.1")
    case "an import":
      let declared = #"{"kept":1,"values":{},"declarations":{"key.1":{"type":"integer","minimum":2}}}"#
      _ = try other.import(declared, ImportOptions(includesDeclarations: true))
    case "many others":
      let few = list("integer", count: 50)
      #expect(try declare(#"{"properties":{"key.1":{"type":"integer","minimum":2}}}"#, in: other))
      #expect(try declare(few, in: other))
    default: try other.restore(from: copy)
    }
    var isRead = false
    let misfits = try ExactString(text).withBytes { bytes throws(StoreError) in
      try store.declare(UnsafeRawBufferPointer(bytes)) { () throws(StoreError) in
        isRead = true
        return try DeclarationList(json: text)
      }
    }
    #expect(isRead && misfits.map(\.key) == (kind == "a restore" ? ["key.1"] : []))
    let declared = try store.declarations().declarations.first { $0.key.text == "key.1" }
    #expect(declared?.declaration.json == #"{"type":"integer"}"#)
  }

  @Test func `is read as long as a value does not fit`() throws {
    let (store, text) = (try open(), list("integer"))
    try store.set("loud", forKey: "key.1")
    for _ in 1...2 { #expect(try store.declare(DeclarationList(json: text)).map(\.key) == ["key.1"]) }
    try store.set(1, forKey: "key.1")
    #expect(try declare(text, in: store))
  }

  @Test(arguments: [#""renamedFrom""#, #""renamed\u0046rom""#])
  func `with a former name is read again only if that has a value`(_ word: String) throws {
    let store = try open()
    let isPlain = !word.contains(#"\"#)
    // A key and a text that look like the word.
    let keys =
      #""new":{"type":"integer",\#(word) : "o\u006cd","enum":[1,2,3]},"renamedFrom":{"type":"string"},"#
      + #""Foo":{"type":"string","const":"renamedFrom"}"#
    let text = "\(list("integer").dropLast(2)),\(keys)}}"
    try store.set(1, forKey: "old")
    #expect(try declare(text, in: store))
    #expect(try store.keys() == ["new"], "the commit that moves a value marks the list")
    for _ in 1...2 { #expect(try declare(text, in: store) == !isPlain) }
    try store.set(2, forKey: "old")
    #expect(try declare(text, in: store) && store.value(forKey: "new") == 2)
    #expect(try declare(text, in: store) == !isPlain)
    try store.set(3, forKey: "old")
    try store.set(1, forKey: "new")
    let revision = try store.currentRevision()
    #expect(try declare(text, in: store) && store.value(forKey: "new") == 1 && store.keys() == ["new"])
    try store.set(7, forKey: "old")
    #expect(try store.declare(listJSON: text).map(\.key) == ["new"])
    #expect(try store.currentRevision() == revision + 2)
  }

  @Test func `makes the former names of its secrets secret again, and is not read otherwise`() throws {
    let store = try open()
    func isSecret(_ key: String) throws -> Bool? { try store.declaration(forKey: key)?.isSecret }
    try store.declare(Declaration(json: #"{"type":"string","renamedFrom":"a"}"#), forKey: "b")
    let text = "\(list("integer").dropLast(2)),\"c\":{\"type\":\"string\",\"secret\":true,\"renamedFrom\":\"b\"}}}"
    #expect(try declare(text, in: store) && isSecret("a") == true && isSecret("b") == true)
    #expect(try !declare(text, in: store))
    for key in ["a", "b"] {
      // An older program.
      try store.declare(Declaration(json: #"{"type":"string"}"#), forKey: key)
      #expect(try isSecret(key) == false)
      #expect(try declare(text, in: store) && isSecret(key) == true)
      #expect(try !declare(text, in: store))
      try store.undeclare(key)
      #expect(try declare(text, in: store) && isSecret(key) == true)
    }
    // A list may have both names, and the value of another type.
    try store.set(1, forKey: "old")
    let both = #"{"properties":{"new":{"type":"string","secret":true,"renamedFrom":"old"},"old":{"type":"integer"}}}"#
    for _ in 1...2 { #expect(try store.declare(listJSON: both).map(\.key) == ["new"]) }
    #expect(try store.declaration(forKey: "old")?.json == #"{"secret":true,"type":"integer"}"#)
  }

  @Test func `is taken as a text, in a transaction too, whole or not at all`() throws {
    let (store, text) = (try open(), list("integer", count: 2))
    try store.set("loud", forKey: "key.1")
    #expect(try store.declare(listJSON: text).map(\.key) == ["key.1"])
    #expect(try store.transaction { t in try t.declare(listJSON: text) }.map(\.key) == ["key.1"])
    for (wrong, code) in [("thing", StoreError.Code.invalid), ("string", .typeConflict)] {
      let other = #"{"properties":{"another":{"type":"string"},"key.0":{"type":"\#(wrong)"}}}"#
      #expect { try store.declare(listJSON: other) } throws: { ($0 as? StoreError)?.code == code }
    }
    #expect(try store.declarations().declarations.map(\.key.text) == ["key.0", "key.1"])
  }
}
