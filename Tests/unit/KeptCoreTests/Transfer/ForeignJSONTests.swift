// Which members of a JSON file become settings.

@testable import KeptValues
import Testing

@Suite struct ForeignJSONTests {
  @Test func `the members of a flat object are keys, and objects are dictionaries`() throws {
    let read = try ForeignReading(#"{"volume": 30, "audio.on": true, "list": [1, null], "d": {"a": {"b": 1}}}"#)
    #expect(read.carried == [#"audio.on = true"#, #"d = {"a":{"b":1}}"#, #"list = [1,null]"#, #"volume = 30"#])
    #expect(read.reported == [])
  }

  @Test func `nested objects are parts of keys, arrays and empty objects are values`() throws {
    let text = #"{"audio": {"volume": 30, "out": {"name": "x"}, "none": {}}, "list": [{"a": 1}]}"#
    let read = try ForeignReading(text, separator: ".")
    #expect(read.carried == ["audio.none = {}", #"audio.out.name = "x""#, "audio.volume = 30", #"list = [{"a":1}]"#])
    let other = try ForeignReading(text, prefix: "old/", separator: "/")
    #expect(other.carried.first == "old/audio/none = {}")
    #expect(other.carried.last == #"old/list = [{"a":1}]"#)
  }

  @Test func `the forms of Extended JSON are the values that they encode, nested or not`() throws {
    let text = #"{"when": {"$date": "2026-11-20T23:44:01Z"}, "raw": {"$binary": {"base64": "AAE=", "subType": "00"}}}"#
    for separator in [nil, "."] {
      let read = try ForeignReading(text, separator: separator)
      #expect(read.carried.last == #"when = {"$date":"2026-11-20T23:44:01Z"}"#)
      #expect(read.carried.count == 2 && read.reported == [])
    }
    #expect(
      try ForeignReading(#"{"a": {"$literal": {"b": {"c": 1}}}}"#, separator: ".").carried == [#"a = {"b":{"c":1}}"#])
  }

  @Test func `a form that Kept does not know is reported, and the rest is carried`() throws {
    let text = #"{"$schema": "x", "a": {"$ref": "y"}, "b": {"c": 1, "$id": 2}, "d": 3}"#
    let flat = try ForeignReading(text)
    #expect(flat.carried == [#"$schema = "x""#, "d = 3"])
    #expect(flat.reported.map { $0.prefix(2) } == ["a:", "b:"])
    let nested = try ForeignReading(text, separator: ".")
    #expect(nested.carried == [#"$schema = "x""#, "b.c = 1", "d = 3"])
    #expect(nested.reported.map { $0.prefix { $0 != ":" } } == ["a", "b.$id"])
  }

  @Test(arguments: [nil, "."])
  func `an empty name is reported in quotation marks, and the rest is carried`(separator: String?) throws {
    let read = try ForeignReading(#"{"": 1, "a": 2}"#, separator: separator)
    #expect(read.carried == ["a = 2"])
    #expect(read.reported.map { $0.prefix { $0 != ":" } } == [#""""#])
  }

  @Test func `an integer -0 is the double -0.0, also inside, and where it is not stored`() throws {
    let text = #"{"a": -0, "b": [1,-0 , [-0],{"c":-0}], "d": {"e": -0}, "$x": [-0, "-0"], "n": null, "f": -0}"#
    let flat = try ForeignReading(text)
    #expect(
      flat.carried == [
        #"$x = [-0.0,"-0"]"#, "a = -0.0", #"b = [1,-0.0,[-0.0],{"c":-0.0}]"#, #"d = {"e":-0.0}"#, "f = -0.0",
      ])
    #expect(flat.reported.count == 1)
    #expect(try ForeignReading(text, separator: ".").carried.contains("d.e = -0.0"))
    let unfit = try ForeignReading(#"{"a": {"$date": -0}, "b": -0, "c": [-0, {"$ref": 1}]}"#)
    #expect(unfit.carried == ["b = -0.0"] && unfit.reported.count == 2)
  }

  @Test(arguments: [nil, "."])
  func `a number out of range is reported, and the others are carried`(separator: String?) throws {
    let text = #"""
      {"a": 1, "b": [1, 18446744073709551616], "c": -9223372036854775809, "d": 1e999, "e": [1e-999, 0.5],
        "f": 18446744073709551615, "g": -9223372036854775808, "h": [2.5, 18446744073709551615]}
      """#
    let read = try ForeignReading(text, separator: separator)
    let large = #"{"$numberULong":"18446744073709551615"}"#
    #expect(read.carried == ["a = 1", "f = \(large)", "g = -9223372036854775808", "h = [2.5,\(large)]"])
    #expect(
      read.reported == ["b", "c", "d", "e"].map { "\($0): a number does not fit into 64 bits; write it as a string" })
  }

  @Test(arguments: ["-00", "-0a", "--0", "-", "-01"])
  func `a word that begins like -0 but is not a number is refused`(number: String) throws {
    #expect(throws: StoreError.self) { try ForeignReading(#"{"a": \#(number)}"#) }
  }

  @Test func `null is not a value, and is reported`() throws {
    let read = try ForeignReading(#"{"a": null, "b": {"c": null}}"#, separator: ".")
    #expect(read.carried == [])
    #expect(read.reported.map { $0.prefix { $0 != ":" } } == ["a", "b.c"])
  }

  @Test func `a name that cannot be a key is reported, and a long one is cut`() throws {
    let long = String(repeating: "k", count: 2000)
    let read = try ForeignReading(#"{"": 1, "\#(long)": {"x": {"y": 2}}, "ok": 3}"#, separator: ".")
    #expect(read.carried == ["ok = 3"])
    #expect(read.reported.count == 2)
    #expect(read.reported.allSatisfy { $0.utf8.count < 400 })
    let prefixed = try ForeignReading(
      #"{"\#(String(repeating: "k", count: 1020))": 1}"#, prefix: "12345")
    #expect(prefixed.carried == [] && prefixed.reported.count == 1)
  }

  @Test func `two names that become the same key are reported, and the later one counts`() throws {
    let read = try ForeignReading(#"{"a.b": 1, "a": {"b": 2}}"#, separator: ".")
    #expect(read.carried == ["a.b = 2"])
    #expect(read.reported == ["a.b: the key appears again, and the last value is used"])
  }

  @Test func `a byte order mark in front does not count`() throws {
    #expect(try ForeignReading("\u{FEFF}{\"a\": 1}").carried == ["a = 1"])
  }

  @Test func `a text may be larger than a value, and a value that is too large is reported`() throws {
    let half = String(repeating: "x", count: 9 << 20)
    let read = try ForeignReading(
      #"{"a": {"first": 1}, "all": ["\#(half)", "\#(half)"], "b": {"last": 2}}"#, separator: ".")
    #expect(read.carried == ["a.first = 1", "b.last = 2"])
    #expect(read.reported.count == 1 && read.reported.first?.hasPrefix("all: ") == true)
  }

  @Test(arguments: [
    "", " ", "[]", "1", "null", "{", "{]", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{"a":1 "b":2}"#, #"{"a":1}}"#,
    #"{"a":1} x"#, #"{"a":{"b":1,}}"#, #"{"a":{"b":1}"#, #"{"a":1,"a":2}"#, #"{"a":{"b":1,"b":2}}"#, #"{,}"#,
    #"{"a":01}"#, #"{"a":NaN}"#, #"{"a":"\ud800"#, #"{"a\u0000":x}"#, #"{"a":{1:2}}"#, "{\"a\0\":1}",
  ])
  func `a text that is not a JSON object is refused, with the place`(text: String) {
    #expect(foreignRefusal(text)?.code == .invalid)
    #expect(foreignRefusal(text, separator: ".")?.code == .invalid)
  }

  @Test func `endless nesting is refused`() {
    let deep = String(repeating: #"{"a":"#, count: 100_000)
    #expect(foreignRefusal(deep, separator: ".")?.code == .invalid)
    #expect(foreignRefusal(deep)?.code == .invalid)
  }

  @Test(arguments: [nil, "."])
  func `a text that is not Unicode or a name with NUL is reported, and the others are carried`(
    separator: String?
  ) throws {
    let text = #"""
      {"a\u0000": 1, "b": "\ud800\"", "c": ["\ude00\ud800\u0041x", 1], "d\udfff": {"x": 1, "y": [1, 2]},
        "e": [{"x\u0000": 1}], "f": [{"\ud800\n": 1}], "g": "\ud83d\ude00", "h": "\u0000", "z": 1}
      """#
    let read = try ForeignReading(text, separator: separator)
    #expect(read.carried == [#"g = "😀""#, #"h = "\u0000""#, "z = 1"])
    #expect(read.reported.map { $0.prefix { $0 != ":" } } == ["a\0", "b", "c", "d\u{FFFD}", "e", "f"])
  }

  @Test(arguments: ["[", #"{"a\n": [1, "]", {}, [], {"b": [{}]}], "x": "#])
  func `a value that is nested too deeply is reported, and the others are carried`(opening: String) throws {
    let closing = opening == "[" ? "]" : "}"
    for count in [65, 130, 131, 3000] {
      let deep = String(repeating: opening, count: count) + "[1, 2.5]" + String(repeating: closing, count: count)
      let read = try ForeignReading(#"{"a": 1, "b": [\#(deep), 3], "z": 2}"#, separator: ".")
      #expect(read.carried == ["a = 1", "z = 2"] && read.reported.count == 1)
      for wrong in ["1 2", "1,", "[1}", "x", ",", #"{"a" 1}"#, #"{"a":1,}"#, "{1:1}", #""\q""#, "]"] {
        let text = String(repeating: opening, count: count) + wrong + String(repeating: closing, count: count)
        #expect(foreignRefusal(#"{"a": 1, "b": \#(text)}"#) != nil, "\(wrong)")
      }
    }
  }

  @Test func `nested objects are split as deep as keys are long`() throws {
    let opening = String(repeating: #"{"a": "#, count: 500)
    let read = try ForeignReading(opening + "1" + String(repeating: "}", count: 500), separator: ".")
    #expect(read.carried.count == 1 && read.carried[0].utf8.count == 999 + 4)
    let deeper = String(repeating: #"{"a": "#, count: 600)
    let left = try ForeignReading(
      #"{"b": 2, "c": \#(deeper)1\#(String(repeating: "}", count: 600))}"#, separator: ".")
    #expect(left.carried == ["b = 2"] && left.reported.count == 1)
  }

  @Test func `a cut text is refused`() throws {
    let text = #"{"a": {"b": [1, {"c": "x\n"}], "e": {}}, "d": {"$date": "2026-11-20T23:44:01Z"}, "é": -1.5e3}"#
    try expectNoHarmFromCuts(text)
    try expectNoHarmFromCuts(text, separator: ".")
  }
}
