// How the text form of a GVariant becomes a value.

import Testing

@testable import KeptCore
@testable import KeptFormats

@Suite struct GVariantReaderTests {
  private func read(_ text: String) throws -> ForeignValue {
    let bytes = Array(text.utf8)
    let result = bytes.withUnsafeBufferPointer { bytes in
      Result { () throws(StoreError) in
        var reader = GVariantReader(bytes, from: 0)
        return try reader.wholeValue()
      }
    }
    return try result.get()
  }

  private func expect(_ text: String, is json: String, _ losses: ForeignValue.Losses = ForeignValue.Losses()) throws {
    let found = try read(text)
    #expect(found.value.json == json, "\(text)")
    #expect(found.obstacle == nil && found.losses == losses, "\(text)")
  }

  @Test(arguments: [
    ("0", "0"), ("-5", "-5"), ("+5", "5"), ("0x1F", "31"), ("-0X1f", "-31"), ("017", "15"), ("00", "0"),
    ("9223372036854775807", "9223372036854775807"), ("-9223372036854775808", "-9223372036854775808"),
    ("uint64 18446744073709551615", #"{"$numberULong":"18446744073709551615"}"#), ("byte 0xff", "255"),
    ("int16 -32768", "-32768"),
    ("uint16 65535", "65535"), ("int32 5", "5"), ("uint32 4294967295", "4294967295"), ("int64 5", "5"), ("1.5", "1.5"),
    ("1e3", "1000.0"), (".5", "0.5"), ("5.", "5.0"), ("-1.5E-3", "-0.0015"), ("double 5", "5.0"), ("@d 5", "5.0"),
    ("inf", #"{"$numberDouble":"Infinity"}"#), ("-inf", #"{"$numberDouble":"-Infinity"}"#),
    ("nan", #"{"$numberDouble":"NaN"}"#),
    ("@d 0x10", "16.0"), ("true", "true"), ("boolean false", "false"), ("  1  ", "1"), ("@b true", "true"),
    ("@y 7", "7"),
  ])
  func `numbers and words of every kind are read`(text: String, json: String) throws {
    try expect(text, is: json)
  }

  @Test func `text is read from both quotes, with its escapes`() throws {
    #expect(try read(#"'it\'s "so"'"#).value == .string(#"it's "so""#))
    #expect(try read(#""it's \"so\"""#).value == .string(#"it's "so""#))
    #expect(try read(#"'\a\b\f\n\r\t\v\\\x\u00e9\U0001F3B5'"#).value == .string("\u{7}\u{8}\u{c}\n\r\t\u{b}\\xé🎵"))
    #expect(try read("'a\\\nb'").value == .string("ab"))
    #expect(try read("objectpath '/a/b'").value == .string("/a/b"))
    #expect(try read("signature 'as'").value == .string("as"))
    #expect(try read("@o '/a'").value == .string("/a"))
  }

  @Test func `an array of bytes is bytes, however it is written`() throws {
    for text in [
      #"b'\000\001a'"#, #"b"\0\1a""#, "[byte 0, 1, 97]", "[0, 1, byte 0x61]", "@ay [0, 1, 97]", #"@ay b'\0\1a'"#,
    ] {
      #expect(try read(text).value == .bytes([0, 1, 97]), "\(text)")
    }
    #expect(try read("@ay []").value == .bytes([]))
    #expect(try read("[b'a', b'b']").value == .array([.bytes([97]), .bytes([98])]))
    #expect(try read("[[byte 1], [2]]").value == .array([.bytes([1]), .bytes([2])]))
  }

  @Test func `arrays have elements of one type`() throws {
    try expect("[]", is: "[]")
    try expect("[1, 2]", is: "[1,2]")
    try expect("[1, 2.5]", is: "[1.0,2.5]")
    try expect("[double 1, 2]", is: "[1.0,2.0]")
    try expect("['a', 'b']", is: #"["a","b"]"#)
    try expect("[[], [1], []]", is: "[[],[1],[]]")
    try expect("@aai [[1], []]", is: "[[1],[]]")
    try expect("[<1>, <'a'>, <[<true>]>]", is: #"[1,"a",[true]]"#)
    for text in [
      "[1, 'a']", "['a', 1]", "[true, 1]", "@as [1]", "@ai [1.5]", "[uint32 1, 1.5]", "[1, byte 2, 300]", "[(1, 2), 3]",
    ] {
      #expect(throws: StoreError.self, "\(text)") { try read(text) }
    }
  }

  @Test func `dictionaries with text as keys are dictionaries, also as entries`() throws {
    try expect("{}", is: "{}")
    try expect("@a{sv} {}", is: "{}")
    try expect("{'a': 1, \"b\": 2}", is: #"{"a":1,"b":2}"#)
    try expect("{'a': <uint32 1>, 'b': <[<'x'>]>}", is: #"{"a":1,"b":["x"]}"#)
    try expect("@a{oy} {'/': 5}", is: #"{"/":5}"#)
    try expect("[{'a', 1}, {'b', 2}]", is: #"{"a":1,"b":2}"#)
    try expect("@a{sd} [{'a', 1}]", is: #"{"a":1.0}"#)
    try expect("[{'a': 1}, {}]", is: #"[{"a":1},{}]"#)
    try expect("{'a': 1, 'a': 2}", is: #"{"a":2}"#, ForeignValue.Losses(repeatedKey: true))
    for text in ["{1: 'a'}", "[{1, 'a'}]", "{true: 1}", "{'x': {5: 6}}", "@a{ux} {1: 2}"] {
      #expect(try read(text).obstacle == "a dictionary has keys that are no text", "\(text)")
    }
  }

  @Test func `tuples and lone entries are arrays, which is said`() throws {
    try expect("()", is: "[]", ForeignValue.Losses(tuple: true))
    try expect("(1,)", is: "[1]", ForeignValue.Losses(tuple: true))
    try expect("(1, 'a', true)", is: #"[1,"a",true]"#, ForeignValue.Losses(tuple: true))
    try expect("@(yd) (1, 2)", is: "[1,2.0]", ForeignValue.Losses(tuple: true))
    try expect("[(1, 'a'), (uint32 2, 'b')]", is: #"[[1,"a"],[2,"b"]]"#, ForeignValue.Losses(tuple: true))
    try expect("{'a', 1}", is: #"["a",1]"#, ForeignValue.Losses(tuple: true))
    try expect("<{'a', <1>}>", is: #"["a",1]"#, ForeignValue.Losses(tuple: true))
    for text in ["(1)", "(1,2,)", "(,)", "(1 2)", "@(ii) (1,)", "@(i) (1, 2)", "@() (1,)", "@(is) ('a', 1)"] {
      #expect(throws: StoreError.self, "\(text)") { try read(text) }
    }
  }

  @Test func `what may be missing is its value, or null`() throws {
    try expect("just 5", is: "5")
    try expect("@mi 5", is: "5")
    try expect("@mmi just nothing", is: "null")
    try expect("nothing", is: "null")
    try expect("[just 1, nothing]", is: "[1,null]")
    try expect("[nothing, just 'a']", is: #"[null,"a"]"#)
    try expect("[@mi 1, 2, nothing]", is: "[1,2,null]")
    try expect("(@ms nothing, <just true>)", is: "[null,true]", ForeignValue.Losses(tuple: true))
  }

  @Test func `a handle cannot be carried`() throws {
    #expect(try read("handle 0").obstacle != nil)
    #expect(try read("[<handle 1>]").obstacle != nil)
    #expect(try read("(1, @h 2)").obstacle != nil)
  }

  @Test(arguments: [
    "", " ", "x", "1 2", "1,", "'", "'a", "\"a'", "b'a", "b", "[", "[1", "[1,", "[1,]", "[,]", "]", "{", "{'a'",
    "{'a':", "{'a': 1",
    "{'a': 1,}", "{'a', 1", "{'a', 1, 2}", "{'a', 1: 2}", "(", "(1", "(1,", "<", "<1", "<>", "<1>>", "@", "@s", "@z 1",
    "@a 1",
    "@(s 1", "@{ss} 1", "@a{vs} {}", "@a{asi} {}", "@a{s} {}", "@ii 1", "--1", "1-", "0x", "0xg", "08", "1e", "1.5.5",
    "-", "+", ".",
    "1e999", "18446744073709551616", "-9223372036854775809", "byte 256", "byte -1", "int16 32768", "uint16 -1",
    "int32 2147483648",
    "uint32 4294967296", "int64 9223372036854775808", "uint64 -1", "uint32 1.5", "uint32 'a'", "uint32",
    "boolean 1", "string 1", "true1", "truefalse", "nothing 1", "just", "@i nothing", "@i just 5", "'\\u12'",
    "'\\ud800'",
    "'\\U00110000'", "'\\u0000'", "handle 'a'", "variant 1", "@v 5", "@s <'a'>", "@ay [256]", "@ay ['a']",
  ])
  func `what is no GVariant is refused, with the place`(text: String) {
    let error = #expect(throws: StoreError.self, "\(text)") { try read(text) }
    #expect(error?.code == .invalid)
    #expect(0...text.utf8.count ~= error?.offset ?? -1)
  }

  @Test func `what is nested without an end is refused`() {
    for part in ["[", "(", "<", "{'a':", "just ", "@v<", "@ai", "uint32 ", "{", "@(", "@a", "@mi just "] {
      let text = String(repeating: part, count: 100_000)
      #expect(throws: StoreError.self, "\(part)") { try read(text) }
    }
  }

  @Test func `a long type takes no more time than its text`() throws {
    let types = "(" + String(repeating: "s", count: 300) + ")"
    #expect(throws: StoreError.self) { try read("@a\(types) []") }
    let long = "(" + String(repeating: "'a', ", count: 1000) + "'b')"
    #expect(try read("[\(long), \(long)]").value.asArray?.count == 2)
  }

  @Test func `a cut text is refused, or another number`() throws {
    let text = #"({'a': <[1, 2.5]>, "b": <@(sy) ('x\u00e9', 0x7)>}, [just b'\001', nothing], uint32 5, {'k', -1e5})"#
    #expect(try read(text).obstacle == nil)
    for length in 0..<text.utf8.count {
      #expect(throws: StoreError.self) { try read(String(decoding: Array(text.utf8)[..<length], as: UTF8.self)) }
    }
  }
}
