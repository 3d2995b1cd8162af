// What is imported from a property list, in its three forms.

import Testing

@testable import KeptCore
@testable import KeptFormats

@Suite struct ForeignPropertyListTests {
  /// The output of Python's plistlib for a value of each of its kinds.
  static let binary =
    Base64.decode(
      "YnBsaXN0MDDeAQIDBAUGBwgJCgsMDQ4PEBESExgcHR4fICEiI1dhY2NlbnRzU2JpZ1VieXRlc1VlbXB0eVVpbm5lclRsaXN0Vm1v"
        + "bWVudFhuZWdhdGl2ZVNvZmZSb25UcmVhbFVzbWFsbFR0ZXh0WHVuc2lnbmVkbABHAHIA/ADfAGUALAAgThZ1TAAg2DzftRMAAAEA"
        + "AAAAAEMAAf/Q0RQVUWHRFhdRYhABoxcZGlN0d2+hGyNACAAAAAAAADNByFiJYIAAABP//////////QgJIz/4AAAAAAAAEAdVcGxh"
        + "aW4UAAAAAAAAAAD//////////wglLTE3PUNIT1hcX2Rqb3iRmp6foqSnqauvs7W+x9DR0tvd4wAAAAAAAAEBAAAAAAAAACQAAAAA"
        + "AAAAAAAAAAAAAAD0") ?? []
  static let xml = """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0">
    <dict>
    \t<key>accents</key><string>Grüße, 世界 🎵</string>
    \t<key>big</key><integer>1099511627776</integer>
    \t<key>bytes</key>
    \t<data>
    \tAAH/
    \t</data>
    \t<key>empty</key><dict/>
    \t<key>inner</key><dict><key>a</key><dict><key>b</key><integer>1</integer></dict></dict>
    \t<key>list</key>
    \t<array><integer>1</integer><string>two</string><array><real>3.0</real></array></array>
    \t<key>moment</key><date>2026-11-20T23:44:01Z</date>
    \t<key>negative</key><integer>-3</integer>
    \t<key>off</key><false/><key>on</key><true/>
    \t<key>real</key><real>1.5</real>
    \t<key>small</key><integer>7</integer>
    \t<key>text</key><string>plain</string>
    \t<key>unsigned</key><integer>18446744073709551615</integer>
    </dict>
    </plist>
    """
  static let carried = [
    #"accents = "Grüße, 世界 🎵""#, "big = 1099511627776", #"bytes = {"$binary":{"base64":"AAH/","subType":"00"}}"#,
    "empty = {}", #"inner = {"a":{"b":1}}"#, #"list = [1,"two",[3.0]]"#, #"moment = {"$date":"2026-11-20T23:44:01Z"}"#,
    "negative = -3", "off = false", "on = true", "real = 1.5", "small = 7", #"text = "plain""#,
    #"unsigned = {"$numberULong":"18446744073709551615"}"#,
  ]

  @Test func `values of all kinds are the same from XML and from binary`() throws {
    let fromXML = try ForeignReading(Self.xml, .propertyList)
    #expect(fromXML.carried == Self.carried)
    #expect(fromXML.reported == [])
    let fromBinary = try ForeignReading(Self.binary, .propertyList)
    #expect(fromBinary.carried == Self.carried)
    #expect(fromBinary.reported == [])
  }

  @Test func `an old-style list has text, bytes and containers`() throws {
    let text = #"""
      // !$*UTF8*$!
      { volume = 30; "window frame" = "{{0, 0}, {800, 600}}"; list = (a, b, ); raw = <00ff>; inner = { k = "\"x\""; }; }
      """#
    let read = try ForeignReading(text, .propertyList)
    #expect(
      read.carried == [
        #"inner = {"k":"\"x\""}"#, #"list = ["a","b"]"#, #"raw = {"$binary":{"base64":"AP8=","subType":"00"}}"#,
        #"volume = "30""#, #"window frame = "{{0, 0}, {800, 600}}""#,
      ])
  }

  @Test func `the members can be put under a prefix`() throws {
    #expect(try ForeignReading("{a=1;}", .propertyList, KeyNaming(prefix: "old.")).carried == [#"old.a = "1""#])
  }

  @Test func `a key that is there twice is reported, and the later one counts`() throws {
    let old = try ForeignReading("{a = 1; a = 2; b = {c = 1; c = 2;};}", .propertyList)
    #expect(old.carried == [#"a = "2""#, #"b = {"c":"2"}"#])
    #expect(old.reported.count == 2)
    let xml = "<dict><key>a</key><true/><key>a</key><false/></dict>"
    #expect(try ForeignReading(xml, .propertyList).reported.count == 1)
  }

  @Test func `values are carried as deep as a store takes them`() throws {
    let deepest = String(repeating: "(", count: 64) + String(repeating: ")", count: 64)
    #expect(try ForeignReading("{a = \(deepest);}", .propertyList).carried.count == 1)
    #expect(foreignRefusal("{a = (\(deepest));}", .propertyList)?.code == .invalid)
    #expect(foreignRefusal(String(repeating: "<dict><key>a</key>", count: 100_000), .propertyList) != nil)
  }

  @Test(arguments: [
    "", " ", "{", "{a}", "{a = 1}", "(a, b)", "<00ff>", "text", "<plist>", "<plist><true/></plist>", "<array/>",
    "<dict><key>a</key></dict>", "<dict><true/></dict>", "<dict><key>a</key><uid>1</uid></dict>",
    "<dict><key>a</key><integer>18446744073709551616</integer></dict>", "<dict><key>a</key><data>?</data></dict>",
    "<dict><key>a</key><date>yesterday</date></dict>", "<dict><key>a</key><string>&lol;</string></dict>",
    "<dict/><dict/>", "<?xml", "<!--", "{a = 1;} x", #"{a = "\U00";}"#, "bplist", "bplist00", "bplist15",
  ])
  func `what is no property list with a dictionary is refused, with the place`(text: String) {
    #expect(foreignRefusal(text, .propertyList)?.code == .invalid)
  }

  @Test func `text that is not UTF-8 is refused`() {
    let error = foreignRefusal(Array("{a = \"".utf8) + [0xE9] + Array("\";}".utf8), .propertyList)
    #expect(error?.offset == 6)
  }

  @Test func `a cut list is refused`() throws {
    try expectNoHarmFromCuts(Array(Self.xml.utf8), .propertyList, refusesCuts: true)
    let old = #"{ a = "x\n\U00e9"; /* c */ list = (1, "é", <00 ff>, {k = v;}); }"#
    try expectNoHarmFromCuts(Array(old.utf8), .propertyList, refusesCuts: true)
  }
}
