// Settings as arguments: writing, refusals, and the values that the launched program reads.

import Foundation
import Kept
import Testing

private enum Theme: String, Storable { case system, dark }
private struct Frame: Codable, Storable, Equatable { var width: Int }

extension Keys {
  fileprivate static let volume = Key("audio.volume", default: 50)
  fileprivate static let theme = Key("theme", default: Theme.system)
  fileprivate static let frame = Key<Frame?>("window.frame")
}

/// The argument for a value.
private func fragment(_ value: Value) throws -> String {
  var launch = LaunchArguments()
  try launch.set(value, forKey: "key")
  let arguments = launch.arguments
  #expect(arguments.count == 2 && arguments.first == "-key")
  return try #require(arguments.last)
}

@Suite struct LaunchArgumentTests {
  @Test(
    arguments: [
      ("a & b < c > \"d\" 'e'\n&lt;", "<string>a &amp; b &lt; c &gt; \"d\" 'e'\n&amp;lt;</string>"),
      ("", "<string></string>"),
      (true, "<true/>"), (false, "<false/>"),
      (-5, "<integer>-5</integer>"), (.int(.min), "<integer>-9223372036854775808</integer>"),
      (.uint(.max), "<integer>18446744073709551615</integer>"),
      (.double(Double(Float(200.2))), "<real>200.19999694824219</real>"),
      (1.0, "<real>1</real>"), (0.1, "<real>0.10000000000000001</real>"), (-2.5, "<real>-2.5</real>"),
      (0.0, "<real>0.0</real>"), (-0.0, "<real>0.0</real>"),
      (.double(.nan), "<real>nan</real>"),
      (.double(.infinity), "<real>+infinity</real>"), (.double(-.infinity), "<real>-infinity</real>"),
      (.bytes([1, 2, 3, 255]), "<data>AQID/w==</data>"), (.bytes([]), "<data></data>"),
      ([], "<array/>"),
      ([1, "a", [true]], "<array><integer>1</integer><string>a</string><array><true/></array></array>"),
      ([:], "<dict/>"),
      (["a&b": 1, "b": [:]], "<dict><key>a&amp;b</key><integer>1</integer><key>b</key><dict/></dict>"),
    ] as [(Value, String)])
  func `a value is one element of a property list, to the letter`(_ value: Value, _ expected: String) throws {
    #expect(try fragment(value) == expected)
  }

  @Test func `a date is cut to whole seconds, not rounded`() throws {
    let date = try Timestamp(text: "2001-01-02T00:00:00.999999999Z")
    #expect(try fragment(.date(date)) == "<date>2001-01-02T00:00:00Z</date>")
    #expect(try fragment(.date(Timestamp(text: "1969-12-31T23:59:59.5Z"))) == "<date>1969-12-31T23:59:59Z</date>")
  }

  @Test func `keys follow in the order of their last sets, and nil takes one out`() throws {
    var launch = LaunchArguments()
    try launch.set(1, for: .volume)
    try launch.set(Theme.dark, for: .theme)
    try launch.set(Frame(width: 3), for: .frame)
    try launch.set(2, for: .volume)
    let frame = "<dict><key>width</key><integer>3</integer></dict>"
    let theme = ["-theme", "<string>dark</string>"]
    #expect(launch.arguments == theme + ["-window.frame", frame, "-audio.volume", "<integer>2</integer>"])
    try launch.set(nil, for: .frame)
    #expect(launch.arguments == theme + ["-audio.volume", "<integer>2</integer>"])
    let copy = launch
    try launch.set(nil as String?, forKey: "theme")
    #expect(copy.arguments.count == 4 && launch.arguments.count == 2)
  }

  @Test func `a double has the digits of C's %.17g, whatever it is`() throws {
    var random = SeededRandom(23)
    let edges = [
      5e-5, 1e-4, 1e16, 1e17, 123_456_789_012_345_680, 0x1p-1074, .greatestFiniteMagnitude, 9.9999999999999999e22,
    ]
    // Ties: 17 digits and a five.
    let ties = [0x1p-54, 1.000_000_000_000_000_5, 4_503_599_627_370_497.5, 0.5 + 0x1p-20]
    let anything = (0..<3000).map { _ in Double(bitPattern: random.next()) }.filter(\.isFinite)
    for number in edges + ties + anything where number != 0 {
      #expect(try fragment(.double(number)) == "<real>\(String(format: "%.17g", number))</real>")
    }
  }

  @Test func `a value that no argument can hold is refused with its key, and earlier ones stay`() throws {
    var launch = LaunchArguments()
    try launch.set(1, for: .volume)
    let before = launch
    #expect(
      failure(.invalid) { try launch.set(["a": [1, nil]], forKey: "audio.volume") }
        .hasPrefix("\"audio.volume\": at .a[1]: the value contains nil"))
    #expect(failure(.invalid) { try launch.set("a\0b", forKey: "name") }.contains("NUL"))
    #expect(failure(.invalid) { try launch.set(5, forKey: "5") }.contains("read as a number"))
    _ = failure(.invalid) { try launch.set(5, forKey: "") }
    _ = failure(.invalid) { try launch.set(UInt128.max, forKey: "audio.volume") }
    _ = failure(.tooLarge) { try launch.set(String(repeating: "x", count: 20_000_000), forKey: "audio.volume") }
    #expect(launch == before)
  }
}

@Suite struct `A program that is started with settings` {
  @Test func `reads each value as it was set, before the stored one`() throws {
    let values: ValueDictionary = [
      "text": "42", "markup": " <a href=\"x\">&amp;\n", "bool": true, "negative": -5, "large": .uint(.max),
      "real": 0.1, "tiny": 0x1p-1074, "infinite": .double(-.infinity), "number": .double(.nan), "whole": 3.0,
      "data": .bytes([0, 255]), "date": .date(try Timestamp(text: "2026-11-21T08:00:00Z")),
      "list": [1, ["a"], [:]], "dictionary": ["a<b": [true], "": 0.5], "dotted.key with space": 1, "-dash": 2,
      "emoji 🏳️‍🌈": "é",
    ]
    var launch = LaunchArguments()
    for member in values { try launch.set(member.value, forKey: member.key.text) }
    let folder = try SharedFolder()
    try folder.store().set("stored", forKey: "text")
    let program = try OtherProcess(opening: folder.location, settings: launch.arguments)
    try program.ask(values.map { ["get", $0.key.text] } + [["set", "text", "\"new\""], ["get", "text"]])
    #expect(try program.finish() == values.map(\.value.json) + ["ok", "\"42\""])
    #expect(try folder.store().value(forKey: "text") == "new", "a write is stored, though it does not show")
  }

  @Test func `reads them as the types of its keys`() throws {
    let date = Date(timeIntervalSince1970: 1_795_248_000)
    var launch = LaunchArguments()
    try launch.set(-7, for: .volume)
    try launch.set(.dark, for: .theme)
    try launch.set(Frame(width: 3), for: .frame)
    try launch.set(date + 0.75, forKey: "date")
    try launch.set(Decimal(string: "9.99"), forKey: "price")
    try launch.set(Set(["b", "a"]), forKey: "tags")
    try launch.set(1..<3, forKey: "pages")
    try launch.set(Float(0.1), forKey: "share")
    let layered = try LayeredStore(launch.arguments)
    let settings = layered.store
    #expect(settings[.volume] == -7 && settings[.theme] == .dark && settings[.frame] == Frame(width: 3))
    #expect(settings[Key<Date?>("date")] == date)
    #expect(settings[Key<Decimal?>("price")] == Decimal(string: "9.99"))
    #expect(settings[Key<Set<String>?>("tags")] == ["a", "b"])
    #expect(settings[Key<Range<Int>?>("pages")] == 1..<3)
    #expect(settings[Key<Float?>("share")] == 0.1)
    #expect(try settings.layer(of: .volume) == .arguments)
    #expect(layered.takeReported().isEmpty)
  }
}
