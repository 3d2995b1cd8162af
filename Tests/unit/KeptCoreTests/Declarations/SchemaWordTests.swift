// Every keyword of a declaration: its arguments, and the values that it admits.

@testable import KeptSchema
@testable import KeptValues
import Testing

@Suite struct `A word of a declaration` {
  @Test(
    arguments: [
      (#"{"type":"boolean"}"#, true, 1), (#"{"type":"integer"}"#, 1, "1"), (#"{"type":"number"}"#, 1.5, true),
      (#"{"type":"string"}"#, "a", .bytes([1])), (#"{"type":"bytes"}"#, .bytes([]), "a"),
      (#"{"type":"array"}"#, [1, "a"], ["a": 1]), (#"{"type":"object"}"#, ["a": 1], [1]),
      (#"{"type":"integer"}"#, .uint(.max), .null), (#"{"type":"date"}"#, newYear, "2026-01-01T00:00:00Z"),
    ] as [(String, Value, Value)])
  func `a type takes its values, and others are of the wrong type`(text: String, good: Value, bad: Value) throws {
    let declaration = try Declaration(json: text)
    #expect(try declaration.admitted(good) == good)
    #expect(throws: StoreError.self) { try declaration.admitted(bad) }
    #expect(declaration.refusal(of: bad)?.code == .wrongType)
  }

  @Test(
    arguments: [
      (#"{"type":"integer","minimum":-5,"maximum":5}"#, [-5, 0, 5, 5.0], [-6, 6, .uint(.max)]),
      (#"{"type":"number","minimum":0.5}"#, [0.5, 1, .double(.infinity)], [0.49, 0, .double(.nan)]),
      (#"{"type":"number","maximum":-0.0}"#, [0.0, -0.0, -1], [.double(.leastNonzeroMagnitude), .double(.nan)]),
      (#"{"type":"string","enum":["a","é"]}"#, ["a", "\u{e9}"], ["b", "A", "e\u{301}"]),
      (#"{"type":"integer","enum":[1,2.0]}"#, [1, 1.0, 2, 2.0], [3]),
      (#"{"type":"string","minLength":2,"maxLength":3}"#, ["ab", "äöü", "👍👍", "e\u{301}"], ["a", "abcd", "é"]),
      (#"{"type":"string","minLength":1}"#, ["👍"], [""]),
      (#"{"type":"bytes","minLength":1,"maxLength":2}"#, [.bytes([1]), .bytes([1, 2])], [.bytes([])]),
      (#"{"type":"bytes","maxLength":2}"#, [.bytes([]), .bytes([1, 2])], [.bytes([1, 2, 3])]),
      (#"{"type":"string","pattern":"[0-9]+"}"#, ["a1b"], ["ab", ""]),
      (#"{"type":"string","pattern":"^a.c$"}"#, ["abc", "a👍c"], ["xabc", "abc\n", "a\nc"]),
      (#"{"type":"array","items":{"type":"integer","minimum":0}}"#, [[], [1, 2]], [[1, -1]]),
      (#"{"type":"array","items":false}"#, [[]], [[1]]),
      (#"{"type":"array","items":true}"#, [[1, "a", .null]], []),
      (#"{"type":"array","items":{"type":["integer","null"]}}"#, [[1, .null]], [["a"]]),
      (#"{"type":"array","items":{"enum":["a",null]}}"#, [["a", .null]], [["b"]]),
      (#"{"type":"object","properties":{"a":{"type":"integer"}}}"#, [["a": 1], [:], ["b": "x"]], [["a": "x"]]),
      (#"{"type":"object","required":["a","b"]}"#, [["a": .null, "b": 1]], [["a": 1], [:]]),
      (
        #"{"type":"object","properties":{"a":true},"additionalProperties":false}"#, [["a": 1], [:]],
        [["a": 1, "b": 2], ["0": 2]]
      ),
      (
        #"{"type":"object","properties":{"b":{"type":"string"}},"additionalProperties":{"type":"integer"}}"#,
        [["a": 1, "b": "x", "c": 2]], [["b": 1], ["a": "x"], ["c": "x"]]
      ),
    ] as [(String, [Value], [Value])])
  func `a word accepts what it says and nothing else`(text: String, good: [Value], bad: [Value]) throws {
    let declaration = try Declaration(json: text)
    for value in good { #expect(declaration.refusal(of: value) == nil, "\(text) and \(value)") }
    for value in bad { #expect(declaration.refusal(of: value)?.code == .invalid, "\(text) and \(value)") }
  }

  @Test func `a word about another kind has no effect where any kind is allowed`() throws {
    let declaration = try Declaration(
      json: #"{"type":"array","items":{"minimum":3,"minLength":2,"pattern":"^a","items":false,"required":["x"]}}"#)
    #expect(try declaration.admitted([3, "ab", true, .null, [], ["x": 1]]) == [3, "ab", true, .null, [], ["x": 1]])
    for value: Value in [2, "a", "bb", [1], ["y": 1]] { #expect(declaration.refusal(of: [value])?.code == .invalid) }
  }

  @Test func `default, summary and secret are read`() throws {
    let declaration = try Declaration(
      json: #"{"type":"number","default":1,"summary":"The volume","secret":true,"title":"t","description":"d"}"#)
    #expect(declaration.type == .number)
    #expect(declaration.defaultValue == 1.0)
    #expect(declaration.summary == "The volume")
    #expect(declaration.isSecret)
    #expect(declaration.unreadable == nil)
  }

  @Test func `without them there is no default, no summary and no secret`() throws {
    let declaration = try Declaration(["type": "string"])
    #expect(declaration.defaultValue == nil)
    #expect(declaration.summary == nil)
    #expect(!declaration.isSecret)
  }

  @Test func `a member named like a form of Extended JSON is spelled with a literal`() throws {
    let declaration = try Declaration(
      json: #"{"type":"object","properties":{"$literal":{"$date":{"type":"integer"}}},"$comment":"c"}"#)
    #expect(declaration.refusal(of: ["$date": "x"])?.code == .invalid)
    #expect(try Declaration(json: declaration.json) == declaration)
  }

  @Test func `a member with a dollar sign needs no literal in a schema`() throws {
    let declaration = try Declaration(json: #"{"type":"object","properties":{"$a":{"type":"integer"}}}"#)
    #expect(declaration.refusal(of: ["$a": "x"])?.code == .invalid)
    #expect(try Declaration(json: declaration.json) == declaration)
  }
}

private let newYear: Value = {
  let found = try? Value(json: #"{"$date":"2026-01-01T00:00:00Z"}"#)
  return found ?? .null
}()

extension Declaration {
  /// Why a value is refused; nil if it is admitted.
  func refusal(of value: Value) -> StoreError? {
    do {
      _ = try admitted(value)
      return nil
    } catch {
      return error
    }
  }

  /// Why a text is not a declaration; nil if it is one.
  static func refusal(_ text: String) -> StoreError? {
    do {
      _ = try Declaration(json: text)
      return nil
    } catch {
      return error
    }
  }
}
