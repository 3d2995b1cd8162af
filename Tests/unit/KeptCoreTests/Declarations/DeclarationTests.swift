// Whole declarations: equality, the forms of values, limits, and secrets.

@testable import KeptSchema
@testable import KeptValues
import Testing

@Suite struct `A declaration` {
  @Test func `is the same whatever the order of its words and the spaces between them`() throws {
    let a = try Declaration(json: #"{"type":"integer","default":1,"minimum":0}"#)
    let b = try Declaration(json: "{ \"minimum\": 0,\n \"default\": 1, \"type\": \"integer\" }")
    #expect(a == b)
    #expect(a.hashValue == b.hashValue)
    #expect(a.json == #"{"default":1,"minimum":0,"type":"integer"}"#)
    #expect(try Declaration(["type": "integer", "default": 1, "minimum": 0]) == a)
  }

  @Test func `is the same whatever the form of its numbers, and with or without comments`() throws {
    let a = try Declaration(json: #"{"type":"number","default":1,"minimum":0,"maximum":2,"enum":[1,2]}"#)
    let b = try Declaration(
      json: #"{"type":"number","default":1.0,"minimum":0.0,"maximum":2.0,"enum":[1.0,2.0],"#
        + #""$comment":"c","secret":false}"#)
    #expect(a == b)
    #expect(a.json == #"{"default":1.0,"enum":[1.0,2.0],"maximum":2.0,"minimum":0.0,"type":"number"}"#)
  }

  @Test func `reads its own canonical text as itself`() throws {
    let texts = [
      #"{"type":"object","properties":{"a":{"type":"number","enum":[1]},"b":{"$comment":"c"}},"required":["b","a"]}"#,
      #"{"type":"string","minLength":1.0,"maxLength":2,"pattern":"^\\d","title":"t","secret":true}"#,
      #"{"type":"integer","maximum":{"$numberULong":"18446744073709551615"}}"#,
    ]
    for text in texts {
      let declaration = try Declaration(json: text)
      #expect(try Declaration(json: declaration.json).json == declaration.json)
      #expect(Declaration.stored(declaration.json) == declaration)
    }
  }

  @Test(
    arguments: [
      #"{"type":"number","default":1}"#, #"{"type":"integer","default":2}"#, #"{"type":"integer","summary":"s"}"#,
      #"{"type":"integer","secret":true}"#, #"{"type":"integer","default":1,"minimum":1}"#, #"{"type":"integer"}"#,
    ])
  func `differs from one that says something else`(text: String) throws {
    #expect(try Declaration(json: text) != Declaration(json: #"{"type":"integer","default":1}"#))
  }

  @Test(
    arguments: [
      ("integer", 1.0, 1), ("integer", -3.0, -3), ("integer", .uint(5), .int(5)),
      ("integer", .double(0x1p63), .uint(1 << 63)), ("number", 1, 1.0), ("number", 0, 0.0), ("number", -0.0, -0.0),
      ("number", .int(1 << 53), .double(0x1p53)), ("number", .uint(1 << 63), .double(0x1p63)),
      ("number", .double(.nan), .double(.nan)),
    ] as [(String, Value, Value)])
  func `gives a number the form of its type`(type: String, given: Value, stored: Value) throws {
    #expect(try Declaration(["type": .string(type)]).admitted(given) == stored)
  }

  @Test(
    arguments: [
      ("integer", -0.0), ("integer", 1.5), ("integer", 1e300), ("integer", .double(.nan)),
      ("integer", .double(.infinity)), ("number", .int(1 << 53 + 1)), ("number", .uint(.max)), ("number", true),
    ] as [(String, Value)])
  func `refuses a number that would be altered`(type: String, given: Value) throws {
    #expect(try Declaration(["type": .string(type)]).refusal(of: given)?.code == .wrongType)
  }

  @Test func `gives numbers inside the form of their types`() throws {
    let declaration = try Declaration(
      json: #"{"type":"object","properties":{"w":{"type":"integer"},"h":{"type":["null","number"]}},"#
        + #""additionalProperties":{"type":"array","items":{"type":["integer","number"]}}}"#)
    let value = try declaration.admitted(["w": 2.0, "h": 2, "others": [1, 1.0, -0.0]])
    #expect(value == ["w": 2, "h": 2.0, "others": [1, 1.0, -0.0]])
  }

  @Test func `compares bounds without rounding`() throws {
    let declaration = try Declaration(json: #"{"type":"integer","maximum":9007199254740992.0}"#)
    #expect(try declaration.admitted(.int(1 << 53)) == .int(1 << 53))
    #expect(declaration.refusal(of: .int(1 << 53 + 1))?.code == .invalid)
    let fraction = try Declaration(json: #"{"type":"integer","minimum":0.5}"#)
    #expect(fraction.refusal(of: 0)?.code == .invalid)
    #expect(try fraction.admitted(1) == 1)
    let large = try Declaration(json: #"{"type":"integer","minimum":{"$numberULong":"9223372036854775809"}}"#)
    #expect(large.refusal(of: .double(0x1p63))?.code == .invalid)
    #expect(try large.admitted(.uint(1 << 63 + 1)) == .uint(1 << 63 + 1))
  }

  @Test func `says the rule, the place and the value`() throws {
    let declaration = try Declaration(
      json: #"{"type":"object","properties":{"frame":{"properties":{"width":{"maximum":100}}}}}"#)
    #expect(
      declaration.refusal(of: ["frame": ["width": 130]])?.message
        == "the value 130 at /frame/width is above the maximum 100; use 100 or less")
    #expect(
      declaration.refusal(of: 1)?.message == "the value 1 is an integer; the declared type is object")
  }

  @Test func `shortens a long value and a long way to it`() throws {
    let name = ExactString(String(repeating: "n", count: 5000))
    let declaration = try Declaration(
      json: #"{"type":"object","additionalProperties":{"type":"string","maxLength":10}}"#)
    let message = try #require(
      declaration.refusal(of: [name: .string(String(repeating: "\u{1F3B5}", count: 5000))])?.message)
    #expect(message.unicodeScalars.count < 320)
    #expect(message.contains("…"))
    #expect(message.contains("too many characters (5000)"))
  }

  @Test func `follows one of the same type, and conflicts with one of another`() throws {
    let integer = try Declaration(["type": "integer"])
    try Declaration(["type": "integer", "minimum": 1]).follows(integer)
    let error = #expect(throws: StoreError.self) { try Declaration(["type": "number"]).follows(integer) }
    #expect(error?.code == .typeConflict)
    #expect(error?.message.contains("integer") == true)
    #expect(error?.message.contains("number") == true)
  }
}

@Suite struct `A stored declaration that this version cannot read` {
  @Test(arguments: [#"{"type":"integer","anyOf":[]}"#, #"{"type":"colour"}"#])
  func `refuses every value and every other declaration`(text: String) throws {
    let declaration = Declaration.stored(text)
    #expect(declaration.unreadable?.code == .unsupported)
    #expect(declaration.json == text)
    #expect(declaration.defaultValue == nil)
    #expect(declaration.isSecret)
    #expect(declaration.refusal(of: 2)?.code == .unsupported)
    let other = try Declaration(["type": "integer"])
    let error = #expect(throws: StoreError.self) { try other.follows(declaration) }
    #expect(error?.code == .unsupported)
  }

  @Test(arguments: ["{", "", "[]", "7"])
  func `is damaged if it is not a JSON object, and then any other may replace it`(text: String) throws {
    let declaration = Declaration.stored(text)
    #expect(declaration.unreadable?.code == .corrupt)
    #expect(declaration.isSecret)
    #expect(declaration.refusal(of: 2)?.code == .corrupt)
    try Declaration(["type": "integer"]).follows(declaration)
  }
}

@Suite struct `The limits of a declaration` {
  @Test func `are 64 KiB of canonical text`() throws {
    let empty = try Declaration(["type": "string", "summary": ""]).json.utf8.count
    let rest = Declaration.largestText - empty
    func summary(_ count: Int) -> String {
      "{\"type\":\"string\",      \"summary\":\"\(String(repeating: "s", count: count))\"}"
    }
    #expect(try Declaration(json: summary(rest)).json.utf8.count == Declaration.largestText)
    #expect(Declaration.refusal(summary(rest + 1))?.code == .tooLarge)
  }

  @Test func `are met by thousands of properties, and not by ten thousand`() throws {
    func text(_ count: Int) -> String {
      let members = (0..<count).map { "\"p\($0)\":true" }.joined(separator: ",")
      return "{\"type\":\"object\",\"properties\":{\(members)},\"additionalProperties\":false}"
    }
    let declaration = try Declaration(json: text(5000))
    #expect(try declaration.admitted(["p4999": 1, "p0": 2]) == ["p4999": 1, "p0": 2])
    #expect(declaration.refusal(of: ["p5000": 1])?.code == .invalid)
    #expect(Declaration.refusal(text(10_000))?.code == .tooLarge)
  }

  @Test func `count numbers as they are stored`() throws {
    // 1 becomes 1.0.
    let choices = (0..<12_000).map { "\($0)" }.joined(separator: ",")
    #expect(Declaration.refusal("{\"type\":\"number\",\"enum\":[\(choices)]}")?.code == .tooLarge)
    #expect(Declaration.refusal("{\"type\":\"integer\",\"enum\":[\(choices)]}") == nil)
  }

  @Test func `are 13 schemas inside each other at most`() throws {
    func text(_ depth: Int) -> String {
      "{\"type\":\"array\",\"items\":" + String(repeating: "{\"items\":", count: depth - 2)
        + "{}" + String(repeating: "}", count: depth - 1)
    }
    #expect(Declaration.refusal(text(13)) == nil)
    for depth in [14, 64, 65] { #expect(Declaration.refusal(text(depth))?.code == .tooLarge) }
    var value: Value = [:]
    for _ in 0..<10_000 { value = ["items": value] }
    #expect(throws: StoreError.self) { try Declaration(["type": "array", "items": value]) }
  }
}

@Suite struct `A secret's declaration` {
  private static let words = ["hunter2", "4711"]

  @Test(
    arguments: [
      (#"{"type":"string","secret":true,"maxLength":3}"#, "hunter2"),
      (#"{"type":"string","secret":true,"minLength":30}"#, "hunter2"),
      (#"{"type":"string","secret":true,"pattern":"^a"}"#, "hunter2"),
      (#"{"type":"string","secret":true,"pattern":"^hunter2$"}"#, "abc"),
      (#"{"type":"string","secret":true,"enum":["hunter2a"]}"#, "hunter2"),
      (#"{"type":"integer","secret":true,"maximum":5}"#, 4711), (#"{"type":"integer","secret":true}"#, "hunter2"),
      (#"{"type":"array","secret":true,"items":{"type":"integer"}}"#, ["hunter2"]),
      (#"{"type":"object","secret":true,"additionalProperties":false}"#, ["hunter2": 4711]),
      (#"{"type":"object","secret":true,"required":["a"]}"#, ["hunter2": 4711]),
    ] as [(String, Value)])
  func `never quotes a value`(text: String, value: Value) throws {
    let message = try #require(try Declaration(json: text).refusal(of: value)).description
    for word in Self.words { #expect(!message.contains(word), "\(message)") }
  }

  @Test(
    arguments: [
      #"{"type":"string","secret":true,"maxLength":3,"default":"hunter2"}"#,
      #"{"type":"string","secret":true,"enum":["hunter2","hunter2"]}"#,
      #"{"type":"string","secret":true,"enum":["abc",4711]}"#,
      #"{"type":"string","secret":true,"default":"abc","pattern":"^hunter2$"}"#,
      #"{"type":"integer","secret":true,"default":"hunter2"}"#,
      #"{"type":"string","secret":"yes","maxLength":3,"enum":["hunter2"]}"#,
      #"{"type":"object","secret":true,"default":{"hunter2":4711},"additionalProperties":false}"#,
      #"{"type":"integer","secret":true,"default":4711,"multipleOf":4713}"#,
    ])
  func `never quotes a default or a choice`(text: String) throws {
    let message = try #require(Declaration.refusal(text)).description
    for word in Self.words { #expect(!message.contains(word), "\(message)") }
    let unreadable = try #require(Declaration.stored(text).unreadable).description
    for word in Self.words { #expect(!unreadable.contains(word), "\(unreadable)") }
  }

  @Test(
    arguments: [
      #"{"type":"integer","secret":true,"minimum":4711,"maximum":4710}"#,
      #"{"type":"number","secret":true,"exclusiveMinimum":4711,"maximum":4711}"#,
      #"{"type":"integer","secret":true,"minimum":"hunter2"}"#, #"{"type":"string","secret":true,"maxLength":-4711}"#,
      #"{"type":"number","secret":true,"multipleOf":-4711}"#,
      #"{"type":"array","secret":true,"prefixItems":"hunter2"}"#,
    ])
  func `never quotes a wrong bound`(text: String) throws {
    let message = try #require(Declaration.refusal(text)).description
    for word in Self.words { #expect(!message.contains(word), "\(message)") }
  }

  @Test(arguments: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"])
  func `never quotes the bound that a value breaks`(word: String) throws {
    let declaration = try Declaration(json: #"{"type":"integer","secret":true,"\#(word)":4711}"#)
    let wrong: Value = word.hasSuffix("aximum") ? 4712 : 4710
    let message = try #require(declaration.refusal(of: wrong)).description
    #expect(!message.contains("471"), "\(message)")
  }

  @Test func `still names a member that it declares itself`() throws {
    let declaration = try Declaration(
      json: #"{"type":"object","secret":true,"properties":{"pin":{"type":"integer"}}}"#)
    #expect(declaration.refusal(of: ["pin": "hunter2"])?.message.contains("/pin") == true)
  }
}
