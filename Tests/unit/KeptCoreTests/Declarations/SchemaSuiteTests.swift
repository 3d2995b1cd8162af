// The keywords of JSON Schema as in its public test suite: a schema, and values that are valid or invalid.
//
// Each schema is inside an array, where it needs no type, as in the suite. The cases are our own.

@testable import KeptSchema
@testable import KeptValues
import Testing

@Suite struct `JSON Schema` {
  struct Group: Sendable, CustomTestStringConvertible {
    let schema: String
    let valid: [String]
    let invalid: [String]

    init(_ schema: String, valid: [String], invalid: [String]) {
      self.schema = schema
      self.valid = valid
      self.invalid = invalid
    }

    var testDescription: String { schema }
  }

  private func check(_ group: Group) throws {
    let declaration = try Declaration(json: #"{"type":"array","items":\#(group.schema)}"#)
    #expect(try Declaration(json: declaration.json) == declaration, "\(group.schema) is not canonical")
    for text in group.valid {
      let value = try Value(json: "[\(text)]")
      #expect(declaration.refusal(of: value) == nil, "\(group.schema) refuses \(text)")
      let admitted = try declaration.admitted(value)
      #expect(try declaration.admitted(admitted) == admitted, "\(group.schema) admits \(text) in two forms")
    }
    for text in group.invalid {
      let value = try Value(json: "[\(text)]")
      let error = declaration.refusal(of: value)
      #expect(error?.code == .invalid, "\(group.schema) admits \(text)")
      #expect(error?.message.contains("/0") == true, "no place: \(error?.message ?? "")")
    }
  }

  private static let numbers = [
    Group(#"{"exclusiveMinimum":1.1}"#, valid: ["1.2", "2", #""x""#], invalid: ["1.1", "0.6", "1", "-9"]),
    Group(#"{"exclusiveMinimum":-2}"#, valid: ["-1", "0", "-1.9999"], invalid: ["-2", "-2.0", "-2.0001", "-3"]),
    Group(
      #"{"exclusiveMinimum":9007199254740992}"#, valid: ["9007199254740993", "1e16"],
      invalid: ["9007199254740992", "9007199254740992.0"]),
    Group(
      #"{"exclusiveMinimum":0}"#, valid: ["5e-324", #"{"$numberDouble":"Infinity"}"#],
      invalid: ["0", "-0.0", #"{"$numberDouble":"NaN"}"#, #"{"$numberDouble":"-Infinity"}"#]),
    Group(
      #"{"exclusiveMaximum":3.0}"#, valid: ["2.2", "2", "[]"], invalid: ["3.0", "3", "3.5", "9223372036854775807"]),
    Group(
      #"{"exclusiveMaximum":9223372036854775807}"#, valid: ["9223372036854775806", "-1e300"],
      invalid: ["9223372036854775807", #"{"$numberULong":"9223372036854775808"}"#, #"{"$numberDouble":"NaN"}"#]),
    Group(
      #"{"minimum":1,"exclusiveMinimum":0,"maximum":3,"exclusiveMaximum":4}"#, valid: ["1", "3"],
      invalid: ["0.5", "3.5"]),
    Group(#"{"type":"integer","exclusiveMinimum":1,"exclusiveMaximum":3}"#, valid: ["2", "2.0"], invalid: ["1", "3"]),
  ]

  @Test(arguments: numbers) func `compares with exclusive bounds`(group: Group) throws { try check(group) }

  private static let multiples = [
    Group(#"{"multipleOf":2}"#, valid: ["10", "0", "-4", "4.0", "-0.0", #""x""#], invalid: ["7", "-1", "2.5"]),
    Group(#"{"multipleOf":1.5}"#, valid: ["0", "4.5", "3", "-1.5"], invalid: ["35", "1", "1.4999999999999998"]),
    Group(#"{"multipleOf":0.0001}"#, valid: ["0.0075", "1", "12.3456"], invalid: ["0.00751", "0.00005"]),
    Group(#"{"multipleOf":0.01}"#, valid: ["19.99", "4.02", "0.07", "1.1", "1e300"], invalid: ["19.999", "0.005"]),
    Group(#"{"multipleOf":0.1}"#, valid: ["0.3", "0.7", "1.1", "4.35e1"], invalid: ["0.35", "0.30000000000000004"]),
    Group(#"{"type":"integer","multipleOf":0.123456789}"#, valid: ["0", "123456789"], invalid: ["1", "100000000"]),
    Group(#"{"multipleOf":0.123456789}"#, valid: ["0.246913578"], invalid: ["1e308", "1.7976931348623157e308"]),
    Group(
      #"{"multipleOf":1e-8}"#, valid: ["12391239123", "9223372036854775807", "1e-8"], invalid: ["1e-9", "5e-324"]),
    Group(#"{"multipleOf":5e-324}"#, valid: ["5e-324", "1", "1e308", "1.5e-323"], invalid: []),
    Group(#"{"multipleOf":1e308}"#, valid: ["0", "1e308", "-1e308"], invalid: ["1", "1e307", "1.5e308"]),
    Group(
      #"{"multipleOf":{"$numberULong":"18446744073709551615"}}"#,
      valid: ["0", #"{"$numberULong":"18446744073709551615"}"#], invalid: ["5", "-9223372036854775808", "1e19"]),
    Group(
      #"{"multipleOf":9223372036854775807}"#, valid: ["9223372036854775807", "-9223372036854775807"],
      invalid: ["-9223372036854775808", "9223372036854775806", #"{"$numberULong":"18446744073709551615"}"#]),
    Group(
      #"{"multipleOf":1}"#, valid: ["-9223372036854775808", "1e300", #"{"$numberULong":"18446744073709551615"}"#],
      invalid: ["0.5", "1e-300", #"{"$numberDouble":"NaN"}"#, #"{"$numberDouble":"Infinity"}"#]),
    Group(#"{"multipleOf":7,"minimum":1}"#, valid: ["7", "14"], invalid: ["0", "13"]),
  ]

  @Test(arguments: multiples) func `divides in decimal, exactly and without overflow`(group: Group) throws {
    try check(group)
  }

  private static let constants = [
    Group(#"{"const":2}"#, valid: ["2", "2.0"], invalid: ["5", #""2""#, "[2]", "true"]),
    Group(#"{"const":0}"#, valid: ["0", "0.0", "-0.0"], invalid: ["false", "[]", #""""#, "5e-324", "null"]),
    Group(#"{"const":1}"#, valid: ["1", "1.0"], invalid: ["true", "1.0000000000000002"]),
    Group(#"{"const":-2.0}"#, valid: ["-2", "-2.0"], invalid: ["2", "-2.000001"]),
    Group(
      #"{"const":9007199254740992}"#, valid: ["9007199254740992", "9007199254740992.0"],
      invalid: ["9007199254740991", "9007199254740991.0", "9007199254740993"]),
    Group(
      #"{"const":1e19}"#, valid: ["1e19", #"{"$numberULong":"10000000000000000000"}"#],
      invalid: [#"{"$numberULong":"10000000000000000001"}"#]),
    Group(#"{"const":false}"#, valid: ["false"], invalid: ["0", "0.0", "[]", "null"]),
    Group(#"{"const":null}"#, valid: ["null"], invalid: ["0", "false", #""null""#]),
    Group(#"{"const":[false]}"#, valid: ["[false]"], invalid: ["[0]", "[0.0]", "false", "[]", "[false,false]"]),
    Group(
      #"{"const":[0,{"a":[1.0]}]}"#, valid: [#"[0,{"a":[1]}]"#, #"[-0.0,{"a":[1.0]}]"#], invalid: [#"[0,{"a":1}]"#]),
    Group(
      #"{"const":{"foo":"bar","baz":1}}"#, valid: [#"{"baz":1.0,"foo":"bar"}"#],
      invalid: [#"{"foo":"bar"}"#, #"{"foo":"bar","baz":2}"#, #"{"foo":"bar","baz":1,"x":1}"#, "[1,2]"]),
    Group(#"{"const":"é"}"#, valid: [#""\u00e9""#], invalid: [#""e\u0301""#, #""É""#]),
    Group(
      #"{"const":{"$date":"2026-01-01T00:00:00Z"}}"#, valid: [#"{"$date":"2026-01-01T00:00:00Z"}"#], invalid: ["0"]),
    Group(#"{"enum":[0,1],"const":1}"#, valid: ["1.0"], invalid: ["0"]),
  ]

  @Test(arguments: constants) func `knows constants`(group: Group) throws { try check(group) }

  private static let choices = [
    Group(#"{"enum":[1,2,3]}"#, valid: ["1", "1.0", "3.0"], invalid: ["4", "1.5", "true", #""1""#]),
    Group(#"{"enum":[0]}"#, valid: ["0", "0.0", "-0.0"], invalid: ["false", "null"]),
    Group(#"{"enum":[0,0.5]}"#, valid: ["0", "0.5", "0.0"], invalid: ["1"]),
    Group(#"{"enum":[[0],[1.0]]}"#, valid: ["[0.0]", "[1]"], invalid: ["[false]", "[2]", "[]", "[0,1]"]),
    Group(#"{"enum":[{"a":0},{"a":false}]}"#, valid: [#"{"a":0.0}"#, #"{"a":false}"#], invalid: [#"{"a":true}"#]),
    Group(#"{"type":["integer","number","null"],"enum":[1,null]}"#, valid: ["1.0", "null"], invalid: ["0"]),
    Group(#"{"type":"number","enum":[0.0]}"#, valid: ["0", "-0.0"], invalid: ["1"]),
  ]

  @Test(arguments: choices) func `compares choices by the value of numbers`(group: Group) throws { try check(group) }

  private static let arrays = [
    Group(#"{"minItems":1}"#, valid: ["[1,2]", "[1]", #""""#], invalid: ["[]"]),
    Group(#"{"minItems":1.0}"#, valid: ["[1]"], invalid: ["[]"]),
    Group(#"{"maxItems":2}"#, valid: ["[]", "[1,2]", #""foobar""#], invalid: ["[1,2,3]"]),
    Group(#"{"maxItems":0}"#, valid: ["[]"], invalid: ["[null]"]),
    Group(#"{"minItems":2,"maxItems":2,"items":{"type":"number"}}"#, valid: ["[1,2]"], invalid: ["[1]", #"[1,"2"]"#]),
    Group(
      #"{"uniqueItems":true}"#,
      valid: [
        "[]", "[1]", "[1,2]", "[1,true]", "[0,false]", #"["a","b"]"#, #"["1",1]"#, "[[1],[true]]", "[null,false]",
        #"[{"a":1},{"a":2}]"#, #"[{"a":[1]},{"a":[2]}]"#, #"["é","e\u0301"]"#, #"[[[1],"foo"],[[2],"foo"]]"#, "5",
        #"[{"$date":"2026-01-01T00:00:00Z"},"2026-01-01T00:00:00Z"]"#, "[9007199254740992.0,9007199254740993]",
      ],
      invalid: [
        "[1,1]", "[1,2,1]", "[1.0,1.00,1]", "[0,-0.0]", #"["a","b","a"]"#, "[[1],[1.0]]", "[null,1,null]",
        #"[{"a":1,"b":2},{"b":2.0,"a":1}]"#, "[9007199254740992,9007199254740992.0]",
        #"[{"$numberULong":"9223372036854775808"},9223372036854775808.0]"#,
        #"[{"$numberDouble":"NaN"},{"$numberDouble":"NaN"}]"#, "[{},{}]", "[[],[]]",
      ]),
    Group(#"{"uniqueItems":false}"#, valid: ["[1,1]", "[]"], invalid: []),
    Group(
      #"{"uniqueItems":true,"prefixItems":[{"type":"boolean"},{"type":"boolean"}],"items":false}"#,
      valid: ["[true,false]", "[true]"], invalid: ["[true,true]", "[false,true,null]"]),
    Group(#"{"uniqueItems":true,"items":{"type":"integer"}}"#, valid: ["[1,2]"], invalid: ["[1,1.0]"]),
    Group(
      #"{"prefixItems":[{"type":"integer"},{"type":"string"}]}"#,
      valid: [#"[1,"foo"]"#, "[1]", "[]", #"[1,"foo",true]"#, #"{"0":"x"}"#], invalid: [#"["foo",1]"#, "[1,2]"]),
    Group(
      #"{"prefixItems":[{"type":"string"}],"items":{"type":"integer"}}"#,
      valid: [#"["x",2,3]"#, #"["x"]"#, "[]"], invalid: [#"["x","y"]"#, "[1,2]", #"["x",1,"y"]"#]),
    Group(#"{"prefixItems":[true,false]}"#, valid: ["[1]", "[]"], invalid: ["[1,2]"]),
    Group(#"{"prefixItems":[true],"items":false}"#, valid: ["[1]", "[]"], invalid: ["[1,2]"]),
    Group(#"{"prefixItems":[{"const":1}],"minItems":1}"#, valid: ["[1.0]", "[1,5]"], invalid: ["[]", "[2]"]),
  ]

  @Test(arguments: arrays) func `counts and compares elements`(group: Group) throws { try check(group) }

  private static let objects = [
    Group(#"{"minProperties":1}"#, valid: [#"{"a":1}"#, "[]", "12"], invalid: ["{}"]),
    Group(#"{"maxProperties":1.0}"#, valid: ["{}", #"{"a":1}"#, "[1,2]"], invalid: [#"{"a":1,"b":2}"#]),
    Group(#"{"maxProperties":0}"#, valid: ["{}"], invalid: [#"{"a":1}"#]),
    Group(
      #"{"patternProperties":{"f.*o":{"type":"integer"}}}"#,
      valid: [#"{"foo":1}"#, #"{"foo":1,"fxo":2,"bar":"x"}"#, "{}", "[]", #""foo""#],
      invalid: [#"{"foo":"x"}"#, #"{"foo":1,"afoob":"x"}"#]),
    Group(
      #"{"patternProperties":{"a*":{"type":"integer"},"aaa*":{"maximum":20}}}"#,
      valid: [#"{"a":21}"#, #"{"aaaa":18}"#, #"{"a":21,"aaaa":18}"#],
      invalid: [#"{"a":"x"}"#, #"{"aaaa":31}"#, #"{"aaa":"x","aaaa":31}"#]),
    Group(
      #"{"patternProperties":{"[0-9]{2,}":{"type":"boolean"},"X_":{"type":"string"}}}"#,
      valid: [#"{"a31b":true}"#, #"{"x_1":3}"#], invalid: [#"{"a31b":null}"#, #"{"a_X_3":3}"#]),
    Group(
      #"{"patternProperties":{"f":true,"b":false}}"#, valid: [#"{"f":1}"#, "{}"],
      invalid: [#"{"b":2}"#, #"{"fb":2}"#]),
    Group(#"{"patternProperties":{}}"#, valid: ["{}", #"{"a":1}"#], invalid: []),
    Group(
      #"{"properties":{"foo":{},"bar":{}},"patternProperties":{"^v":{}},"additionalProperties":false}"#,
      valid: [#"{"foo":1}"#, #"{"foo":1,"vroom":2}"#, "{}"], invalid: [#"{"foo":1,"quux":1}"#, #"{"Vroom":1}"#]),
    Group(
      #"{"patternProperties":{"^á":{}},"additionalProperties":{"type":"boolean"}}"#,
      valid: [#"{"ármányos":2}"#, #"{"x":true}"#], invalid: [#"{"élmény":2}"#]),
    Group(
      #"{"properties":{"foo":{"maxItems":3},"bar":{}},"#
        + #""patternProperties":{"f.o":{"minItems":2}},"additionalProperties":{"type":"integer"}}"#,
      valid: [#"{"foo":[1,2]}"#, #"{"bar":[]}"#, #"{"fxo":[1,2]}"#, #"{"quux":3}"#],
      invalid: [#"{"foo":[1,2,3,4]}"#, #"{"foo":[]}"#, #"{"fxo":[]}"#, #"{"quux":"x"}"#]),
    Group(
      #"{"properties":{"a":{"type":"integer"}},"patternProperties":{"a":{"type":"number"}}}"#,
      valid: [#"{"a":1}"#, #"{"a":1.0}"#], invalid: [#"{"a":1.5}"#, #"{"ba":"x"}"#]),
    Group(
      #"{"propertyNames":{"maxLength":3}}"#, valid: [#"{"f":{},"foo":{}}"#, "{}", "[1,2]", "12"],
      invalid: [#"{"foo":{},"foobar":{}}"#]),
    Group(
      #"{"propertyNames":{"pattern":"^a+$"}}"#, valid: [#"{"a":{},"aa":{}}"#], invalid: [#"{"aaA":{}}"#, #"{"":1}"#]),
    Group(#"{"propertyNames":true}"#, valid: [#"{"foo":1}"#], invalid: []),
    Group(#"{"propertyNames":false}"#, valid: ["{}", "1"], invalid: [#"{"foo":1}"#]),
    Group(#"{"propertyNames":{"const":"foo"}}"#, valid: [#"{"foo":1}"#, "{}"], invalid: [#"{"bar":1}"#]),
    Group(#"{"propertyNames":{"enum":["foo","bar"]}}"#, valid: [#"{"foo":1,"bar":1}"#], invalid: [#"{"baz":1}"#]),
    Group(
      #"{"propertyNames":{"type":"string","minLength":2},"required":["ab"]}"#, valid: [#"{"ab":1}"#],
      invalid: [#"{"ab":1,"c":1}"#]),
  ]

  @Test(arguments: objects) func `counts members, and asks patterns about their names`(group: Group) throws {
    try check(group)
  }

  private static let remarks = [
    Group(#"{"format":"email"}"#, valid: [#""joe@example.com""#, #""2962""#, "12", "null"], invalid: []),
    Group(#"{"type":"string","format":"no-such-format"}"#, valid: [#""x""#], invalid: ["1"]),
    Group(#"{"deprecated":true,"type":"integer"}"#, valid: ["1"], invalid: [#""x""#]),
    Group(#"{"deprecated":false}"#, valid: ["1"], invalid: []),
  ]

  @Test(arguments: remarks) func `treats format and deprecated as annotations`(group: Group) throws { try check(group) }
}
