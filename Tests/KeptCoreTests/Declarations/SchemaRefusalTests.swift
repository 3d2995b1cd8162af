// Declarations that are refused, and where the message says they are wrong.

import KeptCore
import Testing

@Suite struct `A bad declaration` {
  @Test(
    arguments: [
      (#"{}"#, "has no \"type\""), (#"{"type":1}"#, "/type"), (#"{"type":["integer"]}"#, "/type"),
      (#"{"type":"null"}"#, "/type"), (#"{"type":"float"}"#, "float"), (#"{"type":"Integer"}"#, "Integer"),
      (#"{"type":"integer","minimum":"1"}"#, "/minimum"), (#"{"type":"integer","maximum":true}"#, "/maximum"),
      (#"{"type":"number","minimum":{"$numberDouble":"NaN"}}"#, "/minimum"),
      (#"{"type":"number","maximum":{"$numberDouble":"Infinity"}}"#, "/maximum"),
      (#"{"type":"string","minLength":-1}"#, "/minLength"), (#"{"type":"string","maxLength":1.5}"#, "/maxLength"),
      (#"{"type":"string","minLength":"1"}"#, "/minLength"), (#"{"type":"string","pattern":1}"#, "/pattern"),
      (#"{"type":"string","enum":"a"}"#, "/enum"), (#"{"type":"string","summary":1}"#, "/summary"),
      (#"{"type":"string","secret":1}"#, "/secret"), (#"{"type":"string","title":1}"#, "/title"),
      (#"{"type":"string","description":[]}"#, "/description"), (#"{"type":"string","$comment":1}"#, "/$comment"),
      (#"{"type":"array","items":1}"#, "/items"), (#"{"type":"array","items":[true]}"#, "/items"),
      (#"{"type":"array","items":{"type":[]}}"#, "/items/type"),
      (#"{"type":"array","items":{"type":["null","null"]}}"#, "/items/type"),
      (#"{"type":"array","items":{"type":["integer",1]}}"#, "/items/type"),
      (#"{"type":"object","properties":[]}"#, "/properties"),
      (#"{"type":"object","properties":{"a":1}}"#, "/properties/a"),
      (#"{"type":"object","properties":{"a/b~":{"minimum":[]}}}"#, "/properties/a~1b~0/minimum"),
      (#"{"type":"object","required":"a"}"#, "/required"), (#"{"type":"object","required":[1]}"#, "/required"),
      (#"{"type":"object","required":["a","a"]}"#, "twice"),
      (#"{"type":"object","additionalProperties":1}"#, "/additionalProperties"),
    ])
  func `a word with a value of the wrong type is invalid, with its place`(text: String, place: String) {
    let error = Declaration.refusal(text)
    #expect(error?.code == .invalid, "\(text)")
    #expect(error?.message.contains(place) == true, "\(error?.message ?? "none")")
  }

  @Test(
    arguments: [
      (#"{"type":"array","minItems":1}"#, "/minItems"), (#"{"type":"integer","exclusiveMinimum":1}"#, "/exclusive"),
      (#"{"type":"object","properties":{"a":{"$ref":"x"}}}"#, "/properties/a/$ref"),
      (#"{"type":"integer","$ref":"x","$defs":{}}"#, "/$defs"), (#"{"type":"string","format":"email"}"#, "/format"),
      (#"{"type":"array","items":{"default":1}}"#, "/items/default"),
      (#"{"type":"array","items":{"summary":"a"}}"#, "/items/summary"),
      (#"{"type":"array","items":{"secret":true}}"#, "/items/secret"), (#"{"type":"integer","Minimum":1}"#, "/Minimum"),
      (#"{"type":"object","additionalProperties":{"anyOf":[]}}"#, "/additionalProperties/anyOf"),
      (#"{"type":"integer","multipleOf":2}"#, "/multipleOf"), (#"{"type":"integer","":2}"#, "/"),
    ])
  func `a word that Kept does not know is unsupported, with its place`(text: String, place: String) {
    let error = Declaration.refusal(text)
    #expect(error?.code == .unsupported, "\(text)")
    #expect(error?.message.contains(place) == true, "\(error?.message ?? "none")")
  }

  @Test(
    arguments: [
      #"{"type":"string","minimum":1}"#, #"{"type":"boolean","maximum":1}"#, #"{"type":"integer","minLength":1}"#,
      #"{"type":"array","maxLength":1}"#, #"{"type":"bytes","pattern":"a"}"#, #"{"type":"object","items":{}}"#,
      #"{"type":"array","properties":{}}"#, #"{"type":"string","required":[]}"#,
      #"{"type":"date","additionalProperties":true}"#, #"{"type":"array","items":{"type":"null","minimum":1}}"#,
    ])
  func `a word that cannot apply to the type is invalid`(text: String) {
    let error = Declaration.refusal(text)
    #expect(error?.code == .invalid, "\(text)")
    #expect(error?.message.contains("applies to") == true, "\(error?.message ?? "none")")
  }

  @Test(
    arguments: [
      (#"{"type":"integer","minimum":2,"maximum":1}"#, "minimum 2 is above the maximum 1"),
      (#"{"type":"number","minimum":0.5,"maximum":0.25}"#, "minimum 0.5"),
      (#"{"type":"integer","minimum":9007199254740993,"maximum":9007199254740992.0}"#, "9007199254740993"),
      (#"{"type":"string","minLength":2,"maxLength":1}"#, "minLength 2"),
      (#"{"type":"integer","default":"a"}"#, "/default"), (#"{"type":"integer","default":null}"#, "/default"),
      (#"{"type":"integer","maximum":5,"default":6}"#, "the default 6 is above the maximum 5"),
      (#"{"type":"string","enum":["a"],"default":"b"}"#, "none of the declared choices"),
      (#"{"type":"string","pattern":"^a","enum":["ab","b"]}"#, "/enum/1"),
      (#"{"type":"string","enum":[]}"#, "no choice"), (#"{"type":"string","enum":["a","a"]}"#, "twice"),
      (#"{"type":"integer","enum":[1,1.0]}"#, "twice"), (#"{"type":"integer","enum":[1,"a"]}"#, "/enum/1"),
      (#"{"type":"string","enum":["a",null]}"#, "/enum/1"),
      (#"{"type":"array","items":{"enum":[1,"a"]}}"#, "mixed kinds"),
      (#"{"type":"array","items":{"enum":[1,1.5]}}"#, "mixed kinds"),
      (#"{"type":"object","required":["a"],"additionalProperties":false}"#, "\"a\" is required"),
      (#"{"type":"object","required":["a"],"properties":{"a":false}}"#, "\"a\" is required"),
      (#"{"type":"object","properties":{"a":{"type":"integer"}},"default":{"a":"x"}}"#, "the default \"x\" at /a"),
    ])
  func `a declaration that contradicts itself is invalid`(text: String, reason: String) {
    let error = Declaration.refusal(text)
    #expect(error?.code == .invalid, "\(text)")
    #expect(error?.message.contains(reason) == true, "\(error?.message ?? "none")")
  }

  @Test func `choices of several types are fine where the types are named`() throws {
    let declaration = try Declaration(json: #"{"type":"array","items":{"type":["integer","string"],"enum":[1,"a"]}}"#)
    #expect(try declaration.admitted([1.0, "a"]) == [1, "a"])
  }

  @Test(arguments: ["[]", "1", "null", "\"integer\"", "true"])
  func `what is no object is no declaration`(text: String) {
    #expect(Declaration.refusal(text)?.code == .invalid)
  }

  @Test(arguments: ["", "{", #"{"type":"integer",}"#, #"{"type":"integer"} x"#, #"{"type":"integer","type":"string"}"#])
  func `bad JSON is told with its byte`(text: String) {
    let error = Declaration.refusal(text)
    #expect(error?.code == .invalid)
    #expect(error?.offset != nil)
  }

  @Test func `ordinary JSON still refuses an unknown form, which a schema may hold`() {
    #expect(throws: StoreError.self) { try Value(json: #"{"$id":"x"}"#) }
  }
}
