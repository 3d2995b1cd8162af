// Declarations that are refused, and the place that the message names.

@testable import KeptSchema
@testable import KeptValues
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
      (#"{"type":"string","since":1}"#, "/since"),
      (#"{"type":"string","deprecated":true,"replacedBy":1}"#, "/replacedBy"),
      (#"{"type":"string","deprecated":true,"replacedBy":""}"#, "/replacedBy: the key is empty"),
      (#"{"type":"string","replacedBy":"a"}"#, "/replacedBy: the keyword needs \"deprecated\": true"),
      (#"{"type":"string","deprecated":false,"replacedBy":"a"}"#, "/replacedBy"),
      (#"{"type":"string","renamedFrom":""}"#, "/renamedFrom: the key is empty"),
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
      (#"{"type":"integer","exclusiveMinimum":"1"}"#, "/exclusiveMinimum"),
      (#"{"type":"integer","exclusiveMinimum":true}"#, "/exclusiveMinimum"),
      (#"{"type":"number","exclusiveMaximum":{"$numberDouble":"-Infinity"}}"#, "/exclusiveMaximum"),
      (#"{"type":"integer","multipleOf":0}"#, "/multipleOf"), (#"{"type":"integer","multipleOf":-2}"#, "/multipleOf"),
      (#"{"type":"number","multipleOf":-0.0}"#, "/multipleOf"), (#"{"type":"number","multipleOf":[]}"#, "/multipleOf"),
      (#"{"type":"number","multipleOf":{"$numberDouble":"Infinity"}}"#, "/multipleOf"),
      (#"{"type":"array","minItems":-1}"#, "/minItems"), (#"{"type":"array","minItems":"1"}"#, "/minItems"),
      (#"{"type":"array","maxItems":1.5}"#, "/maxItems"), (#"{"type":"array","maxItems":1e19}"#, "/maxItems"),
      (#"{"type":"array","maxItems":{"$numberULong":"18446744073709551615"}}"#, "/maxItems"),
      (#"{"type":"array","uniqueItems":1}"#, "/uniqueItems"),
      (#"{"type":"array","uniqueItems":"yes"}"#, "/uniqueItems"),
      (#"{"type":"array","prefixItems":[]}"#, "/prefixItems"), (#"{"type":"array","prefixItems":{}}"#, "/prefixItems"),
      (#"{"type":"array","prefixItems":[true,1]}"#, "/prefixItems/1"),
      (#"{"type":"object","minProperties":-1}"#, "/minProperties"),
      (#"{"type":"object","maxProperties":1e300}"#, "/maxProperties"),
      (#"{"type":"object","maxProperties":null}"#, "/maxProperties"),
      (#"{"type":"object","patternProperties":[]}"#, "/patternProperties"),
      (#"{"type":"object","patternProperties":{"a":1}}"#, "/patternProperties/a"),
      (#"{"type":"object","patternProperties":{"(":true}}"#, "/patternProperties/("),
      (#"{"type":"object","propertyNames":1}"#, "/propertyNames"),
      (#"{"type":"object","propertyNames":{"type":"integer"}}"#, "/propertyNames"),
      (#"{"type":"string","format":1}"#, "/format"), (#"{"type":"string","deprecated":"yes"}"#, "/deprecated"),
      (#"{"type":"integer","const":"a"}"#, "/const"), (#"{"type":"integer","const":null}"#, "/const"),
    ])
  func `a word with a value of the wrong type is invalid, with its place`(text: String, place: String) {
    let error = Declaration.refusal(text)
    #expect(error?.code == .invalid, "\(text)")
    #expect(error?.message.contains(place) == true, "\(error?.message ?? "none")")
  }

  @Test(
    arguments: [
      (#"{"type":"array","contains":{}}"#, "/contains"), (#"{"type":"integer","not":{}}"#, "/not"),
      (#"{"type":"object","properties":{"a":{"$ref":"x"}}}"#, "/properties/a/$ref"),
      (#"{"type":"integer","$ref":"x","$defs":{}}"#, "/$defs"), (#"{"type":"string","readOnly":true}"#, "/readOnly"),
      (#"{"type":"array","prefixItems":[true,{"unevaluatedItems":false}]}"#, "/prefixItems/1/unevaluatedItems"),
      (#"{"type":"object","patternProperties":{"^a":{"if":{}}}}"#, "/patternProperties/^a/if"),
      (#"{"type":"object","propertyNames":{"secret":true}}"#, "/propertyNames/secret"),
      (#"{"type":"array","items":{"default":1}}"#, "/items/default"),
      (#"{"type":"array","items":{"summary":"a"}}"#, "/items/summary"),
      (#"{"type":"array","items":{"secret":true}}"#, "/items/secret"),
      (#"{"type":"array","items":{"since":"1"}}"#, "/items/since"),
      (#"{"type":"array","items":{"deprecated":true,"replacedBy":"a"}}"#, "/items/replacedBy"),
      (#"{"type":"integer","Minimum":1}"#, "/Minimum"),
      (#"{"type":"object","additionalProperties":{"anyOf":[]}}"#, "/additionalProperties/anyOf"),
      (#"{"type":"integer","multipleof":2}"#, "/multipleof"), (#"{"type":"integer","":2}"#, "/"),
    ])
  func `a word that Kept does not know is unsupported, with its place`(text: String, place: String) {
    let error = Declaration.refusal(text)
    #expect(error?.code == .unsupported, "\(text)")
    #expect(error?.message.contains(place) == true, "\(error?.message ?? "none")")
  }

  @Test(
    arguments: [
      (#"{"type":"array","items":"#, "}"), (#"{"type":"array","prefixItems":["#, "]}"),
      (#"{"type":"object","properties":{"a":"#, "}}"), (#"{"type":"object","patternProperties":{"a":"#, "}}"),
      (#"{"type":"object","additionalProperties":"#, "}"),
    ])
  func `schemas are nested to a limit`(open: String, close: String) throws {
    func nested(_ depth: Int) -> String {
      String(repeating: open, count: depth) + "{}" + String(repeating: close, count: depth)
    }
    _ = try Declaration(json: nested(Limits.schemaNesting))
    let error = Declaration.refusal(nested(Limits.schemaNesting + 1))
    #expect(error?.code == .tooLarge)
    #expect(error?.message.hasSuffix("schemas are nested more than 12 levels deep; flatten them") == true)
  }

  @Test func `groups of a pattern are nested to a limit`() throws {
    func nested(_ depth: Int) -> String {
      let groups = String(repeating: "(", count: depth) + "a" + String(repeating: ")", count: depth)
      return #"{"type":"string","pattern":"\#(groups)"}"#
    }
    _ = try Declaration(json: nested(24))
    let error = Declaration.refusal(nested(25))
    #expect(error?.code == .invalid)
    #expect(error?.message.contains("parentheses are too deeply nested") == true, "\(error?.message ?? "none")")
  }

  @Test(
    arguments: [
      #"{"type":"string","minimum":1}"#, #"{"type":"boolean","maximum":1}"#, #"{"type":"integer","minLength":1}"#,
      #"{"type":"array","maxLength":1}"#, #"{"type":"bytes","pattern":"a"}"#, #"{"type":"object","items":{}}"#,
      #"{"type":"array","properties":{}}"#, #"{"type":"string","required":[]}"#,
      #"{"type":"date","exclusiveMinimum":1}"#, #"{"type":"string","multipleOf":1}"#,
      #"{"type":"object","minItems":1}"#, #"{"type":"string","uniqueItems":true}"#,
      #"{"type":"object","prefixItems":[true]}"#, #"{"type":"array","minProperties":1}"#,
      #"{"type":"array","patternProperties":{}}"#, #"{"type":"array","propertyNames":true}"#,
      #"{"type":"date","additionalProperties":true}"#, #"{"type":"array","items":{"type":"null","minimum":1}}"#,
    ])
  func `a word that cannot apply to the type is invalid`(text: String) {
    let error = Declaration.refusal(text)
    #expect(error?.code == .invalid, "\(text)")
    #expect(error?.message.contains("applies to") == true, "\(error?.message ?? "none")")
  }

  @Test(
    arguments: [
      (#"{"type":"integer","minimum":2,"maximum":1}"#, "minimum 2 is greater than the maximum 1"),
      (#"{"type":"number","minimum":0.5,"maximum":0.25}"#, "minimum 0.5"),
      (#"{"type":"integer","minimum":9007199254740993,"maximum":9007199254740992.0}"#, "9007199254740993"),
      (#"{"type":"string","minLength":2,"maxLength":1}"#, "minLength 2"),
      (#"{"type":"integer","default":"a"}"#, "/default"), (#"{"type":"integer","default":null}"#, "/default"),
      (#"{"type":"integer","maximum":5,"default":6}"#, "the default 6 is above the maximum 5"),
      (#"{"type":"string","enum":["a"],"default":"b"}"#, "the declared choices"),
      (#"{"type":"string","pattern":"^a","enum":["ab","b"]}"#, "/enum/1"),
      (#"{"type":"string","enum":[]}"#, "no value would be valid"), (#"{"type":"string","enum":["a","a"]}"#, "twice"),
      (#"{"type":"integer","enum":[1,1.0]}"#, "twice"), (#"{"type":"integer","enum":[1,"a"]}"#, "/enum/1"),
      (#"{"type":"string","enum":["a",null]}"#, "/enum/1"),
      (#"{"type":"array","items":{"enum":[1,"a"]}}"#, "mixed types"),
      (#"{"type":"array","items":{"enum":[1,null,"a"]}}"#, "mixed types"),
      (#"{"type":"array","items":{"enum":[1,1.0]}}"#, "twice"),
      (#"{"type":"array","enum":[[1],[1.0]]}"#, "twice"), (#"{"type":"number","enum":[0.0,-0.0]}"#, "twice"),
      (#"{"type":"string","const":"ab","maxLength":1}"#, "the constant \"ab\" has too many characters (2)"),
      (#"{"type":"string","const":"a","enum":["b"]}"#, "the declared choices"),
      (#"{"type":"integer","const":5,"default":6}"#, "the default 6 is not the declared constant 5"),
      (#"{"type":"integer","exclusiveMinimum":5,"maximum":5}"#, "between the exclusiveMinimum 5 and the maximum 5"),
      (#"{"type":"number","minimum":5,"exclusiveMaximum":5}"#, "between the minimum 5.0"),
      (#"{"type":"number","exclusiveMinimum":5,"exclusiveMaximum":5}"#, "between"),
      (#"{"type":"number","exclusiveMinimum":6,"exclusiveMaximum":5}"#, "exclusiveMinimum 6.0"),
      (#"{"type":"number","exclusiveMinimum":6,"maximum":5}"#, "is greater than the maximum 5.0"),
      (#"{"type":"integer","exclusiveMinimum":5,"exclusiveMaximum":6}"#, "no 64-bit integer"),
      (#"{"type":"integer","minimum":0.2,"maximum":0.8}"#, "no 64-bit integer"),
      (#"{"type":"integer","minimum":1e19,"exclusiveMinimum":1e20}"#, "no 64-bit integer"),
      (#"{"type":"integer","maximum":-1e300}"#, "no 64-bit integer"),
      (#"{"type":"integer","exclusiveMinimum":{"$numberULong":"18446744073709551615"}}"#, "no 64-bit integer"),
      (#"{"type":"integer","exclusiveMaximum":-9223372036854775808}"#, "no 64-bit integer"),
      (#"{"type":"array","minItems":2,"maxItems":1}"#, "minItems 2 is greater than the maxItems 1"),
      (#"{"type":"array","minItems":1,"items":false}"#, "minItems is 1, but the declaration allows at most 0"),
      (#"{"type":"array","minItems":3,"prefixItems":[true,true],"items":false}"#, "at most 2"),
      (#"{"type":"array","minItems":2,"prefixItems":[true,false]}"#, "at most 1"),
      (#"{"type":"object","minProperties":2,"maxProperties":1}"#, "minProperties 2"),
      (#"{"type":"object","required":["a","b"],"maxProperties":1}"#, "2 members are required"),
      (#"{"type":"object","minProperties":2,"properties":{"a":{}},"additionalProperties":false}"#, "at most 1"),
      (#"{"type":"object","required":["a"],"propertyNames":{"minLength":2}}"#, "\"a\" is required"),
      (#"{"type":"object","required":["a"],"propertyNames":false}"#, "\"a\" is required"),
      (#"{"type":"object","required":["a"],"patternProperties":{"a":false}}"#, "\"a\" is required"),
      (#"{"type":"object","required":["a"],"patternProperties":{"b":{}},"additionalProperties":false}"#, "is required"),
      (#"{"type":"object","required":["a"],"additionalProperties":false}"#, "\"a\" is required"),
      (#"{"type":"object","required":["a"],"properties":{"a":false}}"#, "\"a\" is required"),
      (#"{"type":"object","properties":{"a":{"type":"integer"}},"default":{"a":"x"}}"#, "the default \"x\" at /a"),
    ])
  func `a declaration that contradicts itself is invalid`(text: String, reason: String) {
    let error = Declaration.refusal(text)
    #expect(error?.code == .invalid, "\(text)")
    #expect(error?.message.contains(reason) == true, "\(error?.message ?? "none")")
  }

  @Test(
    arguments: [
      #"{"type":"integer","exclusiveMinimum":9223372036854775807}"#, #"{"type":"integer","minimum":-1e300}"#,
      #"{"type":"integer","exclusiveMaximum":1e300}"#, #"{"type":"integer","exclusiveMinimum":4.5,"maximum":5}"#,
      #"{"type":"integer","maximum":{"$numberULong":"18446744073709551615"},"minimum":9223372036854775807}"#,
      #"{"type":"integer","minimum":-9223372036854775808,"exclusiveMaximum":-9223372036854775807}"#,
      #"{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":5e-324}"#,
      #"{"type":"array","minItems":9223372036854775807}"#, #"{"type":"array","prefixItems":[false]}"#,
      #"{"type":"object","required":["a"],"patternProperties":{"a":{}},"additionalProperties":false}"#,
      #"{"type":"object","minProperties":2,"patternProperties":{"a":{}},"additionalProperties":false}"#,
      #"{"type":"object","required":["a"],"maxProperties":1,"propertyNames":{"enum":["a"]}}"#,
    ])
  func `bounds at the ends of their range do not contradict each other`(text: String) {
    #expect(Declaration.refusal(text) == nil, "\(text)")
  }

  @Test func `choices of several types are valid where the types are named`() throws {
    let declaration = try Declaration(json: #"{"type":"array","items":{"type":["integer","string"],"enum":[1,"a"]}}"#)
    #expect(try declaration.admitted([1.0, "a"]) == [1, "a"])
  }

  @Test(arguments: ["[]", "1", "null", "\"integer\"", "true"])
  func `a declaration is an object`(text: String) {
    #expect(Declaration.refusal(text)?.code == .invalid)
  }

  @Test(arguments: ["", "{", #"{"type":"integer",}"#, #"{"type":"integer"} x"#, #"{"type":"integer","type":"string"}"#])
  func `bad JSON is refused with its offset`(text: String) {
    let error = Declaration.refusal(text)
    #expect(error?.code == .invalid)
    #expect(error?.offset != nil)
  }

  @Test func `ordinary JSON still refuses an unknown form, which a schema may hold`() {
    #expect(throws: StoreError.self) { try Value(json: #"{"$id":"x"}"#) }
  }
}
