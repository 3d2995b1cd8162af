// Enums and option sets are stored as their raw values; an unknown one is an error, never a crash.

import Kept
import Testing

private enum Theme: String, Storable { case system, dark }
private enum Level: UInt8, Codable, Storable { case low = 1, high = 9 }
private struct Days: OptionSet, Storable {
  let rawValue: Int
  static let monday = Days(rawValue: 1)
  static let friday = Days(rawValue: 16)
}

@Suite struct RawValueTests {
  @Test func `a type with raw values is stored as one, Codable or not`() throws {
    #expect(try Theme.dark.stored() == "dark")
    #expect(try Level.high.stored() == 9)
    #expect(try Days([.monday, .friday]).stored() == 17)
    #expect(try Theme(stored: "dark") == .dark)
    #expect(try Level(stored: 9.0) == .high)
    #expect(try Days(stored: 17) == [.monday, .friday])
  }

  @Test func `an unknown raw value is an error that names the type`() {
    #expect(failure(.wrongType) { _ = try Theme(stored: "sepia") } == "holds a string that is not a Theme")
    #expect(failure(.wrongType) { _ = try Level(stored: 2) } == "holds an int that is not a Level")
    #expect(failure(.wrongType) { _ = try Level(stored: 300) } == "holds an int that UInt8 cannot hold exactly")
    #expect(failure(.wrongType) { _ = try Theme(stored: 1) } == "holds an int, not a string")
  }

  @Test func `an unknown raw value inside an array or a dictionary says where`() {
    #expect(
      failure(.wrongType) { _ = try [Theme](stored: ["dark", "sepia"]) } == "at [1]: holds a string that is not a Theme"
    )
    #expect(
      failure(.wrongType) { _ = try [String: [Level]](stored: ["a": [2]]) }
        == "at .a[0]: holds an int that is not a Level"
    )
  }
}
