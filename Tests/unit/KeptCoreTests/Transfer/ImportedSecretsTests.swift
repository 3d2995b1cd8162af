// No import reveals a secret, whether the store, the text, or both declare it as one.

@testable import KeptSchema
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite struct `An import of secrets` {
  private let settings: Store

  init() throws { settings = try Store.open("memory:") }

  private func text(_ values: String, _ declaration: String) -> String {
    #"{"kept":1,"declarations":{"token":\#(declaration)},"values":\#(values)}"#
  }

  /// All that an import reports: the error, and the reports of dry runs.
  private func said(_ text: String, replaces: Bool, _ includesDeclarations: Bool) throws -> [String] {
    var options = ImportOptions(replaces: replaces, isDryRun: true, includesDeclarations: includesDeclarations)
    let report = try settings.import(text, options).json
    options.isDryRun = false
    do {
      return try [report, settings.import(text, options).json]
    } catch {
      return [report, error.description]
    }
  }

  @Test(arguments: [false, true]) func `takes a lost declaration, and hides the value`(replaces: Bool) throws {
    let export = text(#"{"token":"hunter2"}"#, #"{"lost":true}"#)
    for sentence in try said(export, replaces: replaces, true) { #expect(!sentence.contains("hunter2")) }
    #expect(try settings.declaration(forKey: "token") == .lost)
    #expect(try settings.value(forKey: "token") == .string("hunter2"))
    // A real declaration says more.
    try settings.declare(Declaration(json: #"{"type":"string"}"#), forKey: "token")
    try settings.import(export, ImportOptions(replaces: replaces, includesDeclarations: true))
    #expect(try (settings.declaration(forKey: "token") == .lost) == replaces)
  }

  private static let ways = [(false, false), (false, true), (true, false), (true, true)]

  @Test(
    arguments: [
      #"{"type":"integer"}"#, #"{"type":"string","enum":["a"]}"#, #"{"type":"string","maxLength":3}"#,
      #"{"type":"string","pattern":"^[0-9]+$"}"#, #"{"type":"string","const":"k"}"#,
    ], ways)
  func `keeps what only the text calls secret out of all that it says`(
    _ declaration: String, _ way: (replaces: Bool, declares: Bool)
  ) throws {
    try settings.declare(Declaration(json: declaration), forKey: "token")
    let export = text(#"{"token":"hunter2"}"#, #"{"type":"string","secret":true}"#)
    for sentence in try said(export, replaces: way.replaces, way.declares) { #expect(!sentence.contains("hunter2")) }
  }

  @Test(
    arguments: [
      #"{"type":"string","secret":true,"newWord":1}"#, #"{"type":"integer","secret":true,"default":"x"}"#,
      #"{"secret":true}"#, #"{"type":"string","secret":true,"pattern":"("}"#, #"{"type":"string","secret":"yes"}"#,
      #"{"type":"date","secret":true,"default":{"$date":"x"}}"#,
    ], ways)
  func `treats a secret as one where the rest of its declaration is refused`(
    _ declaration: String, _ way: (replaces: Bool, declares: Bool)
  ) throws {
    let export = text(#"{"token":"hunter2","shown":"open"}"#, declaration)
    let sentences = try said(export, replaces: way.replaces, way.declares)
    for sentence in sentences { #expect(!sentence.contains("hunter2")) }
    #expect(sentences[0].contains(#"{"key":"token","secret":true}"#) && sentences[0].contains("open"))
  }

  @Test(arguments: [#"{"type":"string","maxLength":3}"#, #"{"type":"integer"}"#], ways)
  func `keeps what only the store calls secret out of all that it says`(
    _ declaration: String, _ way: (replaces: Bool, declares: Bool)
  ) throws {
    try settings.declare(Declaration(json: #"{"type":"string","maxLength":9,"secret":true}"#), forKey: "token")
    try settings.set("hunter2", forKey: "token")
    for value in ["covert", "a covert one"] {
      let sentences = try said(text(#"{"token":"\#(value)"}"#, declaration), replaces: way.replaces, way.declares)
      for sentence in sentences { #expect(!sentence.contains("hunter2") && !sentence.contains("covert")) }
    }
  }

  @Test(arguments: [("", false), ("t", false), ("", true), ("t", true)])
  func `declares their former names secret, also outside its prefix, and is not read for other keys`(
    _ prefix: String, _ replaces: Bool
  ) throws {
    try settings.set("hunter2", forKey: "pin")
    try settings.declare(Declaration(json: #"{"type":"string","renamedFrom":"token"}"#), forKey: "open")
    let export = text(#"{"pin":"hunter2"}"#, #"{"type":"string","secret":true,"renamedFrom":"pin"}"#)
    let options = ImportOptions(prefix: prefix, replaces: replaces, includesDeclarations: true)
    #expect(try settings.import(export, options).declared == ["open", "pin", "token"])
    let isRemoved = replaces && prefix.isEmpty
    #expect(try settings.declaration(forKey: "open")?.json == (isRemoved ? nil : #"{"type":"string"}"#))
    #expect(try settings.declaration(forKey: "pin")?.isSecret == true && settings.value(forKey: "pin") == "hunter2")
  }

  // MARK: - Nested JSON

  private let nested = ImportOptions(format: .nestedJSON, isDryRun: true)

  @Test func `does not split the object of a secret into keys that are not secret`() throws {
    try settings.declare(Declaration(json: #"{"type":"object","secret":true}"#), forKey: "account")
    let split = #"{"account":{"password":"hunter2","inner":{"pin":"1234"}},"accounts":{"a":"open"}}"#
    let report = try settings.import(split, nested)
    #expect(report.refused.map(\.key) == ["account"] && report.changed.map(\.key) == ["accounts.a"])
    #expect(!report.json.contains("hunter2") && !report.json.contains("1234"))
    #expect(code { try settings.import(split, ImportOptions(format: .nestedJSON)) } == .invalid)
    #expect(try settings.keys().isEmpty)
    let flat = try settings.import(split, ImportOptions(format: .json))
    #expect(flat.changed.map(\.key) == ["account", "accounts"] && !flat.json.contains("hunter2"))
  }

  @Test func `splits the object of a secret into keys that are declared themselves`() throws {
    try settings.declare(Declaration(json: #"{"type":"string","secret":true}"#), forKey: "p/token")
    try settings.declare(Declaration(json: #"{"type":"integer"}"#), forKey: "p/token/days")
    let options = ImportOptions(format: .nestedJSON, prefix: "p/", separator: "/", isDryRun: true)
    let report = try settings.import(#"{"token":{"days":30},"token.x":1}"#, options)
    #expect(report.refused.isEmpty && report.changed.map(\.key) == ["p/token.x", "p/token/days"])
    #expect(try settings.import(#"{"token":{"days":30,"x":1}}"#, options).refused.map(\.key) == ["p/token"])
    #expect(try settings.import(#"{"token":"hunter2"}"#, options).refused.isEmpty, "it is not an object")
  }
}
