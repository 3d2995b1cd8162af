// Property lists in both text forms, and texts that are not property lists.

@testable import KeptValues
import Testing

@testable import KeptCore

@Suite struct PropertyListTextTests {
  private func read(_ text: String) -> Value? { (try? PropertyListText.value(text)) ?? nil }

  private func nested(_ open: String, _ close: String, _ count: Int) -> String {
    String(repeating: open, count: count) + String(repeating: close, count: count)
  }

  @Test(
    arguments: [
      ("{a=1;b=(1,2);}", ["a": "1", "b": ["1", "2"]]), ("{}", [:]), ("()", []), ("( )", []), ("(a,)", ["a"]),
      ("{ \"a b\" = { c = d; }; }", ["a b": ["c": "d"]]), ("{a=1;a=2;}", ["a": "2"]),
      ("(<00ff>, <>)", [.bytes([0, 255]), .bytes([])]),
      ("<0fbd777 f>", nil), ("<0fbd 777f>", .bytes([0x0F, 0xBD, 0x77, 0x7F])), ("('it''s')", nil),
      ("('a\"b')", ["a\"b"]),
      ("(/usr/bin, a.b-c, $HOME, http://x:1)", ["/usr/bin", "a.b-c", "$HOME", "http://x:1"]),
      ("( // one\n 1, /* two */ 2 )", ["1", "2"]), ("(1) // rest", ["1"]), ("(1 // rest)", nil), ("(é)", nil),
      ("(\"é\")", ["é"]),
      ("(1 2)", nil), ("(,)", nil), ("(1,,2)", nil), ("{a=1}", nil), ("{a;}", nil), ("{=1;}", nil), ("{a=;}", nil),
      ("{a=1;", nil), ("(1", nil), ("(", nil), ("{", nil), ("<", nil), ("\"", nil), ("", nil), ("(1)x", nil),
      ("<0>", nil), ("<0g>", nil),
      ("(/* never ends", nil), ("{(1)=2;}", nil),
    ] as [(String, Value?)])
  func `an old-style list`(text: String, value: Value?) {
    #expect(read(text) == value)
  }

  @Test(
    arguments: [
      (#""a\"b\\c""#, "a\"b\\c"), (#""\n\t\r\a\b\f\v""#, "\n\t\r\u{7}\u{8}\u{c}\u{b}"), (#""\101\7\0601""#, "A\u{7}01"),
      (#""\U00e9\U20AC""#, "é€"), (#""\Ud83d\Ude00""#, "😀"), (#""\q\é""#, "qé"), ("\"line\nbreak\"", "line\nbreak"),
      ("\"a\\\nb\"", "a\nb"), (#""\Ud83d""#, nil), (#""\Ud83dx""#, nil), (#""\Ud83d\U0041""#, nil), (#""\Ude00""#, nil),
      (#""\U00e""#, nil), (#""\200""#, nil), (#""\777""#, nil), (#""\"#, nil), (#""open"#, nil), (#""shut" more"#, nil),
      (#""\U"#, nil), (#""\1"#, nil), (#""a" = "b";"#, nil),
    ] as [(String, Value?)])
  func `a quoted string`(text: String, value: Value?) {
    #expect(read(text) == value)
  }

  @Test func `each fragment of a launch argument is read`() throws {
    let fragments: [(String, Value)] = [
      ("<string>a &amp;&lt;b&gt; \"c\" 'd'\ne</string>", "a &<b> \"c\" 'd'\ne"), ("<string></string>", ""),
      ("<true/>", true), ("<false/>", false), ("<integer>-9223372036854775808</integer>", .int(.min)),
      ("<integer>18446744073709551615</integer>", .uint(.max)), ("<integer>5</integer>", 5),
      ("<real>200.19999694824219</real>", 200.19999694824219), ("<real>1</real>", 1.0), ("<real>0.0</real>", 0.0),
      ("<real>nan</real>", .double(.nan)), ("<real>+infinity</real>", .double(.infinity)),
      ("<real>-infinity</real>", .double(-.infinity)), ("<real>1.0000000000000001e+22</real>", 1e22),
      ("<data>AAEC</data>", .bytes([0, 1, 2])), ("<data></data>", .bytes([])),
      ("<date>2001-01-02T00:00:00Z</date>", .date(try Timestamp(text: "2001-01-02T00:00:00Z"))),
      ("<array/>", []), ("<array><integer>1</integer><array/></array>", [1, []]), ("<dict/>", [:]),
      ("<dict><key>a&amp;b</key><true/><key></key><string/></dict>", ["a&b": true, "": ""]),
    ]
    for (text, value) in fragments { #expect(read(text) == value, "\(text)") }
  }

  @Test(
    arguments: [
      ("&quot;&apos;&amp;lt;", "\"'&lt;"), ("&#65;&#x42;&#x1F600;&#10;", "AB😀\n"), ("&#x00e9;", "é"), ("&#0065;", "A"),
      ("&nbsp;", nil), ("&amp", nil), ("&", nil), ("&;", nil), ("&#;", nil), ("&#x;", nil), ("&#0;", nil),
      ("&#xD800;", nil),
      ("&#x110000;", nil), ("&#99999999999999999999;", nil), ("&#1f;", nil), ("&#-1;", nil), ("&#65", nil), ("& ", nil),
      ("&AMP;", nil), ("&#X41;", nil),
    ] as [(String, String?)])
  func `an entity is one of XML's own or a character's number`(text: String, result: String?) {
    #expect(read("<string>\(text)</string>") == result.map { .string($0) })
  }

  @Test(
    arguments: [
      "<string>", "<string>a", "<string>a</integer>", "<string>a</string", "<string>a</string>b",
      "<string>a<b/></string>",
      "<string a=\"1\">x</string>", "<String>a</String>", "<true>x</true>", "<true", "<integer/>",
      "<integer>5.5</integer>",
      "<integer>five</integer>", "<integer>18446744073709551616</integer>", "<real></real>", "<real>1e999</real>",
      "<date>2001-02-30T00:00:00Z</date>", "<date/>", "<data>A</data>", "<data>AAE*</data>", "<null/>", "</string>",
      "<>x</>",
      "<dict><key>a</key></dict>", "<dict><string>a</string></dict>", "<dict><true/><true/></dict>", "<dict>",
      "<array>",
      "<array><string>a</array>", "<array>x</array>", "<dict><key>a</dict>", "<key>a</key>", "<true/><true/>",
      "< true/>",
      "<string><![CDATA[a]]</string>", "<![CDATA[a]]>", "<!-- only -->", "<!-- never", "<?xml", "<plist>", "<plist/>",
      "<plist></plist>",
      "<plist><true/>", "<dict><key>a&#0;b</key><true/></dict>",
    ])
  func `text that is not an element of a property list has no value`(text: String) {
    #expect(read(text) == nil)
  }

  @Test func `marked sections are literal text`() {
    #expect(read("<string>a<![CDATA[<b>&amp;]]]>c<![CDATA[]]></string>") == "a<b>&amp;]c")
    #expect(read("<integer><![CDATA[5]]></integer>") == 5)
  }

  @Test func `white space and comments may separate elements, and break lines of data`() {
    let text = """
      <!-- a -->
      <array >
        <data>
          AAEC
          AwQF
        </data> <!-- <b> -->
        <integer> 5 </integer>
        <true></true>
      </array >
      """
    #expect(read(text) == [.bytes([0, 1, 2, 3, 4, 5]), 5, true])
  }

  @Test func `a whole document is read, and declares no entity`() {
    let head = """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      """
    #expect(read(head + "\n<plist version=\"1.0\">\n<dict/>\n</plist>\n") == [:])
    #expect(read(head + "<plist><dict/><dict/></plist>") == nil)
    #expect(read("<!DOCTYPE plist [<!ENTITY a \"b\">]><string>&a;</string>") == nil)
  }

  @Test(arguments: [("(", ")"), ("<array>", "</array>"), ("{a=", ";}"), ("<dict><key>a</key>", "</dict>")])
  func `64 nested containers are accepted and 65 are refused`(open: String, close: String) {
    let inside = open.hasPrefix("<") ? "<true/>" : "x"
    func text(_ count: Int) -> String {
      String(repeating: open, count: count) + inside + String(repeating: close, count: count)
    }
    #expect(read(text(64)) != nil)
    #expect(read(text(65)) == nil)
  }

  @Test func `ten thousand brackets are not a list, closed or not`() {
    for (open, close) in [("(", ")"), ("{a=", "}"), ("<array>", "</array>"), ("[", "]")] {
      #expect(read(nested(open, close, 10_000)) == nil)
      #expect(read(nested(open, "", 10_000)) == nil)
    }
  }

  @Test func `long lists are read whole`() {
    let old = "(" + String(repeating: "a, ", count: 100_000) + ")"
    #expect(read(old)?.asArray?.count == 100_000)
    let xml = "<array>" + String(repeating: "<integer>1</integer>", count: 100_000) + "</array>"
    #expect(read(xml)?.asArray?.count == 100_000)
    let members = "{" + (0..<50_000).map { "k\($0) = v;" }.joined() + "}"
    #expect(read(members)?.asDictionary?.count == 50_000)
  }

  @Test func `a value over the limit of a store is not read`() {
    let text = String(repeating: "x", count: Limits.valueBytes + 1)
    #expect(read("<string>\(text)</string>") == nil)
    #expect(read("<string>\(text.dropLast())</string>")?.asString?.utf8.count == Limits.valueBytes)
  }

  @Test func `half of any text is never misread`() {
    let whole = [
      #"{a = (1, "q \U00e9\"", <00 ff>); /* c */ b = { c = d; }; }"#,
      "<dict><key>a</key><array><string>&#x41;&lt;</string><data>AAEC</data><real>1e5</real></array></dict>",
    ]
    for text in whole {
      #expect(read(text) != nil)
      for length in 0..<text.utf8.count {
        let half = String(decoding: text.utf8.prefix(length), as: UTF8.self)
        #expect(read(half) == nil, "\(half)")
      }
    }
  }

  @Test func `random text of marks is nothing, or a value that a store keeps`() throws {
    var random = SeededRandom(5)
    let parts = [
      "{", "}", "(", ")", "<", ">", "\"", "'", "\\", "=", ";", ",", "/", "*", "&", "#", "a", "0", "é", " ", "\\U", "\n",
      "<array>", "</array>", "<string>", "</string>", "<dict>", "</dict>", "<key>", "</key>", "<true/>", "&lt;", "<!--",
      "-->",
    ]
    for _ in 0..<20_000 {
      let text = (0..<Int.random(in: 0..<12, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }
      guard let value = read(text.joined()) else { continue }
      #expect(try value.checkedForStore() == value)
    }
  }
}
