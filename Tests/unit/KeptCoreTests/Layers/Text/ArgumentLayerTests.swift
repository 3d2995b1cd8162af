// Which arguments become settings, and that unrelated arguments do no harm.

import KeptCore
@testable import KeptValues
import Testing

@Suite struct ArgumentLayerTests {
  /// The texts by key, as a sorted list that prints well when it differs.
  private func read(_ arguments: [String]) -> [String] {
    ArgumentLayer(arguments).values.map { "\($0.key) = \($0.value.text)" }.sorted()
  }

  @Test func `a pair of a dash and a value is a setting, and the program's name is a bare word`() {
    #expect(read(["player", "-audio.volume", "30", "-theme", "dark"]) == ["audio.volume = 30", "theme = dark"])
    #expect(read(["-volume", "5"]) == ["volume = 5"])
    #expect(read([]) == [])
    #expect(read(["player"]) == [])
  }

  @Test func `the examples of Foundation's argument domain are read as it reads them`() {
    #expect(read(["p", "--dbl", "x"]) == ["-dbl = x"])
    #expect(read(["p", "-", "x", "-a", "1"]) == ["a = 1"])
    #expect(read(["p", "-a", "1", "-Last"]) == ["a = 1"])
    #expect(read(["p", "-Flag", "-Next", "v"]) == ["Next = v"])
    #expect(read(["p", "bare", "words", "-a", "1", "more"]) == ["a = 1"])
    #expect(read(["p", "-Plain", "5"]) == ["Plain = 5"])
    #expect(read(["p", "-a", "1", "-b", "2", "-a", "3"]) == ["a = 3", "b = 2"])
    #expect(read(["p", "-Empty", ""]) == ["Empty = "])
    #expect(read(["p", "-Neg", "<integer>-5</integer>"]) == ["Neg = <integer>-5</integer>"])
  }

  @Test(arguments: ["-5", "-0.5", "-1e3", "-1E-3", "-.5", "-0", "-18446744073709551616"])
  func `a negative number is a value`(number: String) {
    #expect(read(["p", "-Neg", number, "-Next", "v"]) == ["Neg = \(number)", "Next = v"])
  }

  @Test(arguments: ["-5", "-0.5", "-.5"])
  func `a negative number is never a key`(number: String) {
    #expect(read(["p", number, "v", "-a", "1"]) == ["a = 1"])
    #expect(read(["p", "-", number, "-a", "1"]) == ["a = 1"])
  }

  @Test(arguments: ["-5x", "-0x10", "-inf", "-nan", "-.", "-e5", "-1e", "--5", "-5 "])
  func `what only resembles a negative number is a key`(name: String) {
    #expect(read(["p", "-Flag", name, "v"]) == ["\(name.dropFirst()) = v"])
  }

  @Test func `an equals sign and two dashes have no meaning of their own`() {
    #expect(read(["p", "--volume=3", "x"]) == ["-volume=3 = x"])
    #expect(read(["p", "--", "x"]) == ["- = x"])
    #expect(read(["p", "--volume=3", "--", "-a", "1"]) == ["a = 1"])
  }

  @Test func `white space around a value does not count, inside it does`() {
    #expect(read(["p", "-a", " \t\r\n x  y\u{a0}\u{2003}\r\n"]) == ["a = x  y"])
    #expect(read(["p", "-a", " \n "]) == ["a = "])
    // With a leading space, an argument is a value and not a key.
    #expect(read(["p", "-a", " -b"]) == ["a = -b"])
  }

  @Test func `a mark that combines with the dash belongs to the key`() {
    #expect(read(["p", "-\u{301}a", "1"]) == ["\u{301}a = 1"])
  }

  @Test func `keys that Swift's strings hold to be equal stay two`() throws {
    let layer = ArgumentLayer(["p", "-\u{e9}", "composed", "-e\u{301}", "decomposed"])
    #expect(layer.values.count == 2)
    #expect(try layer.values[KeyName("\u{e9}")]?.text == "composed")
  }

  @Test func `a key that cannot be one is reported, without its value, and the rest is read`() throws {
    let long = String(repeating: "k", count: 1025)
    let layer = ArgumentLayer(["p", "-\(long)", "hunter2", "-a\0b", "hunter2", "-c", "1"])
    #expect(try layer.values == [KeyName("c"): TextValue("1")])
    #expect(layer.problems.map(\.code) == [.invalid, .invalid])
    #expect(layer.problems.first?.message.contains("1025 bytes") == true)
    #expect(layer.problems.last?.message.contains("NUL") == true)
    for problem in layer.problems {
      #expect(problem.description.utf8.count < 300)
      #expect(!problem.description.contains("hunter2"))
    }
  }

  @Test func `a list that does not parse is text, and no problem`() throws {
    let layer = ArgumentLayer(["p", "-a", "<oops", "-b", "{half", "-c", "\"open"])
    #expect(layer.problems.isEmpty)
    #expect(try layer.values[KeyName("a")]?.natural == "<oops")
    #expect(try layer.values[KeyName("b")]?.natural == "{half")
    #expect(try layer.values[KeyName("c")]?.natural == "\"open")
  }

  @Test func `an argument of a megabyte is a value like others`() throws {
    let text = String(repeating: "x", count: 1_000_000)
    let layer = ArgumentLayer(["p", "-a", " \(text) ", "-n", "-" + String(repeating: "7", count: 1_000_000)])
    #expect(try layer.values[KeyName("a")]?.text == text)
    #expect(try layer.values[KeyName("n")]?.text.utf8.count == 1_000_001)
  }

  @Test func `a hundred thousand arguments are read, the last of each key counting`() throws {
    let layer = ArgumentLayer((0..<50_000).flatMap { ["-k\($0 % 100)", "\($0)"] })
    #expect(layer.values.count == 100)
    #expect(try layer.values[KeyName("k99")]?.text == "49999")
  }
}
