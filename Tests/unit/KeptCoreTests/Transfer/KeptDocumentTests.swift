// Texts that are not exports of Kept, and malformed exports: each is refused, and nothing is changed.

@testable import KeptSchema
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite struct `A text that is not an export` {
  private let settings: Store
  init() throws { settings = try Store.open("memory:") }

  private func error(_ text: String) -> StoreError? {
    let error = #expect(throws: StoreError.self, "\(text)") { try settings.import(text) }
    #expect((try? settings.currentRevision()) == 0)
    return error
  }

  @Test(arguments: [
    "", " ", "null", "[]", "1", "{", #"{"kept":1"#, #"{"kept":1,"values":{}"#, #"{"kept":1,"values":{}}}"#,
    #"{"kept":1,"values":{"a":1}"#, #"{"kept":1,"values":{"a":"#, #"{"kept":1,"values":{"a":1,}}"#,
    #"{"kept":1,"values":{}} x"#, #"{"kept":1 "values":{}}"#, "\u{FEFF}{\"kept\":1,\"values\":{}}",
  ])
  func `is invalid, with the byte`(_ text: String) {
    let error = error(text)
    #expect(error?.code == .invalid && error?.offset != nil)
  }

  @Test(arguments: [
    "{}", #"{"values":{}}"#, #"{"kept":1}"#, #"{"kept":"1","values":{}}"#, #"{"kept":0,"values":{}}"#,
    #"{"kept":1.0,"values":{}}"#, #"{"kept":1,"kept":1,"values":{}}"#, #"{"kept":1,"values":{"a":1,"a":2}}"#,
    #"{"kept":1,"values":{},"values":{}}"#, #"{"kept":1,"values":[]}"#, #"{"kept":1,"values":null}"#,
    #"{"kept":1,"values":{},"more":1}"#, #"{"kept":1,"omitted":{},"values":{}}"#,
    #"{"kept":1,"omitted":[1],"values":{}}"#, #"{"kept":1,"omitted":[""],"values":{}}"#,
    #"{"kept":1,"unreadable":"a","values":{}}"#, #"{"kept":1,"prefix":1,"values":{}}"#,
    #"{"kept":1,"prefix":"p","values":{"q":1}}"#, #"{"kept":1,"values":{"q":1},"prefix":"p"}"#,
    #"{"kept":1,"revision":-1,"values":{}}"#, #"{"kept":1,"schemaVersion":0,"values":{}}"#,
    #"{"kept":1,"schemaVersion":4294967296,"values":{}}"#, #"{"kept":1,"declarations":[],"values":{}}"#,
  ])
  func `is invalid where a member is not what it must be`(_ text: String) {
    #expect(error(text)?.code == .invalid)
  }

  @Test func `of a later version is unsupported, whatever it holds`() {
    for text in [#"{"kept":2}"#, #"{"new":[{}],"values":7,"kept":9}"#, #"{"kept":2,"values":{"":null}}"#] {
      #expect(error(text)?.code == .unsupported)
    }
  }

  @Test(arguments: [
    (#"{"":1}"#, StoreError.Code.invalid, ""),
    (#"{"\#(String(repeating: "k", count: 1025))":1}"#, .invalid, String(repeating: "k", count: 1025)),
    (#"{"a":null}"#, .invalid, "a"),
    (#"{"a":{"$date":"yesterday"}}"#, .invalid, "a"), (#"{"a":{"$new":1}}"#, .invalid, "a"),
  ])
  func `has keys and values that cannot be stored, which are refused by name`(
    _ values: String, _ code: StoreError.Code, _ key: String
  ) {
    let error = error(#"{"kept":1,"values":\#(values)}"#)
    #expect(error?.code == code && error?.key == key)
  }

  @Test func `holds values that are too large, and too deep`() throws {
    let large = String(repeating: "x", count: Limits.valueBytes + 1)
    let deep = String(repeating: "[", count: 65) + String(repeating: "]", count: 65)
    for value in ["\"\(large)\"", deep] {
      let error = error(#"{"kept":1,"values":{"a":1,"b":\#(value)}}"#)
      #expect(error?.code == .tooLarge && error?.key == "b")
    }
    let abyss = String(repeating: "[", count: 100_000)
    #expect(error(#"{"kept":1,"values":{"a":\#(abyss)}}"#)?.code == .tooLarge)
  }

  @Test func `may be larger than any value`() throws {
    let text = String(repeating: "x", count: Limits.valueBytes - 10)
    let export = #"{"kept":1,"values":{"a":"\#(text)","b":"\#(text)"}}"#
    #expect(try settings.import(export).changed.count == 2)
    #expect(try settings.export().utf8.count > 2 * text.utf8.count)
  }

  @Test func `is refused wherever it is cut`() throws {
    let source = try Store.open("memory:")
    try source.set([1, ["a": .bytes([1, 2])]], forKey: "k")
    try source.declare(Declaration(json: #"{"type":"string"}"#), forKey: "d")
    let export = Array(try source.export(ExportOptions(includesDeclarations: true)).utf8)
    for length in 0..<export.count {
      #expect(code { try settings.import(Array(export[..<length])) } == .invalid)
    }
    #expect(try settings.import(export).changed.count == 1)
  }

  @Test func `may have its members in any order, and white space`() throws {
    let text = " { \"values\" : { \"p.a\" : 1 } ,\n\"prefix\" : \"p.\", \"kept\" : 1 } \n"
    #expect(try settings.import(text).changed.map(\.key) == ["p.a"])
  }

  @Test(arguments: [#""x":{"type":"nothing"}"#, #""x":7"#, #""":{"type":"string"}"#])
  func `has invalid declarations`(_ declaration: String) {
    #expect(error(#"{"kept":1,"declarations":{\#(declaration)},"values":{}}"#)?.key != nil)
  }
}
