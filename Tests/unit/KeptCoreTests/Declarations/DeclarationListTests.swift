// A file of declarations: one JSON Schema object whose properties are the keys.

import Foundation
@testable import KeptSchema
@testable import KeptValues
import Testing

@Suite struct `A list of declarations` {
  @Test func `declares its properties, in the order of their bytes`() throws {
    let list = try DeclarationList(
      json: #"""
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "settings", "title": "t", "type": "object",
         "properties": {"ä": {"type": "string"}, "audio.volume": {"type": "number", "default": 1, "$comment": "c"},
         "$a": {"type": "boolean"}}}
        """#)
    #expect(list.declarations.map(\.key.text) == ["$a", "audio.volume", "ä"])
    #expect(list.declarations[1].declaration.defaultValue == 1.0)
    let again = try DeclarationList(json: list.json)
    #expect(again.json == list.json)
    #expect(again.declarations.map(\.declaration) == list.declarations.map(\.declaration))
  }

  @Test(
    arguments: [
      ("[]", .invalid, "object"), ("{", .invalid, ""), ("{}", .invalid, "/properties"),
      (#"{"properties":{"":{"type":"integer"}}}"#, .invalid, "key"),
      (#"{"properties":[]}"#, .invalid, "/properties"), (#"{"type":"array","properties":{}}"#, .invalid, "/type"),
      (#"{"$id":1,"properties":{}}"#, .invalid, "/$id"), (#"{"properties":{},"$defs":{}}"#, .unsupported, "$defs"),
      (#"{"properties":{},"required":[]}"#, .unsupported, "required"),
      (#"{"properties":{"a":{"type":"integer","minimum":"x"}}}"#, .invalid, "/minimum"),
      (#"{"properties":{"a":{"type":"integer","allOf":"x"}}}"#, .unsupported, "/allOf"),
      (#"{"properties":{"a":true}}"#, .invalid, "JSON object"),
      (#"{"properties":{"a":{"type":"integer","renamedFrom":"a"}}}"#, .invalid, "its own name"),
      (
        #"{"properties":{"b":{"type":"integer","renamedFrom":"a"},"c":{"type":"integer","renamedFrom":"b"}}}"#,
        .invalid, #"former name "b", which the list declares with the former name "a"; leave "b" out"#
      ),
      // A map of keys, as in other schema files.
      (
        #"{"audio.volume":{"type":"integer","default":5}}"#, .invalid,
        #"write {"properties":{"audio.volume":{"type":"integer"}}}"#
      ),
      (#"{"$schema":"x","a":{},"b":1}"#, .invalid, #"write {"properties":{"a":{…}}}"#),
    ] as [(String, StoreError.Code, String)])
  func `is refused where a word is wrong`(text: String, code: StoreError.Code, reason: String) {
    let error = #expect(throws: StoreError.self) { try DeclarationList(json: text) }
    #expect(error?.code == code, "\(text)")
    #expect(error?.message.contains(reason) == true || reason.isEmpty, "\(error?.message ?? "")")
  }

  @Test func `names the key whose declaration is wrong`() {
    let error = #expect(throws: StoreError.self) {
      try DeclarationList(json: #"{"properties":{"a":{"type":"integer"},"b.c":{"type":"int"}}}"#)
    }
    #expect(error?.key == "b.c")
  }

  @Test func `holds ten thousand`() throws {
    let members = (0..<10_000).map {
      "\"app.key\($0)\":{\"type\":\"integer\",\"default\":\($0),\"minimum\":0,\"summary\":\"Key \($0)\"}"
    }
    let list = try DeclarationList(json: "{\"properties\":{\(members.joined(separator: ","))}}")
    #expect(list.declarations.count == 10_000)
    #expect(list.declarations.allSatisfy { $0.key.text == "app.key\($0.declaration.defaultValue ?? 0)" })
  }

  @Test func `is read from a file`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/settings.schema.json"
    try #"{"properties":{"a":{"type":"integer"}}}"#.write(toFile: path, atomically: false, encoding: .utf8)
    #expect(try DeclarationList(contentsOf: path).declarations.map(\.key.text) == ["a"])
  }

  @Test func `says which file is wrong`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/settings.schema.json"
    try #"{"properties":{"a":{"type":"int"}}}"#.write(toFile: path, atomically: false, encoding: .utf8)
    let error = #expect(throws: StoreError.self) { try DeclarationList(contentsOf: path) }
    #expect(error?.key == "a")
    #expect(error?.message.contains(path) == true)
  }

  @Test func `is not read from a folder, a FIFO, nothing, or bytes that are not UTF-8`() throws {
    let folder = try TemporaryFolder()
    let fifo = folder.path + "/fifo"
    try #require(mkfifo(fifo, 0o600) == 0)
    let latin = folder.path + "/latin"
    try Data([0x7B, 0xE4, 0x7D]).write(to: URL(fileURLWithPath: latin))
    for path in [folder.path, fifo, latin] {
      let error = #expect(throws: StoreError.self) { try DeclarationList(contentsOf: path) }
      #expect(error?.code == .invalid)
    }
    let error = #expect(throws: StoreError.self) { try DeclarationList(contentsOf: folder.path + "/none") }
    #expect(error?.code == .unavailable)
  }

  @Test func `is not read from a file of more than 16 MiB`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/large"
    try Data(repeating: 0x20, count: Limits.valueBytes + 1).write(to: URL(fileURLWithPath: path))
    let error = #expect(throws: StoreError.self) { try DeclarationList(contentsOf: path) }
    #expect(error?.code == .tooLarge)
  }
}
