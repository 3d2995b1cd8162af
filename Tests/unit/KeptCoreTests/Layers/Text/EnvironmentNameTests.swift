// The names of variables: one for each key, and back to the key.

import KeptCore
@testable import KeptValues
import Testing

@Suite struct EnvironmentNameTests {
  @Test(arguments: [
    ("audio.volume", "AUDIO_VOLUME"), ("theme", "THEME"), ("window_size", "WINDOW__SIZE"), ("a1.2b", "A1_2B"),
    ("maxVolume", "MAX_x56OLUME"), ("a..b", "A_x2e_x2eB"), ("a_.b", "A___x2eB"), ("a._b", "A_x2e__B"), (".a", "_A"),
    ("a.", "A_"), (".", "_"), ("_", "__"), ("..", "_x2e_x2e"), ("__", "____"), ("a.B", "A_x2e_x42"), ("B.a", "_x42_A"),
    ("a-b", "A_x2dB"), ("é", "_xc3_xa9"), ("e\u{301}", "E_xcc_x81"), ("a b=c", "A_x20B_x3dC"), ("5", "5"),
    ("x41", "X41"),
    ("_x41", "__X41"), (".x41", "_X41"), ("a._.b", "A_x2e___x2eB"), ("network.", "NETWORK_"), ("\u{7f}", "_x7f"),
  ])
  func `a key and its name`(key: String, name: String) throws {
    let key = try KeyName(key)
    #expect(EnvironmentName.name(of: key, prefix: "PLAYER_") == "PLAYER_" + name)
    #expect(EnvironmentName.key(of: "PLAYER_" + name, prefix: "PLAYER_") == key)
  }

  @Test(arguments: [
    "", "audio", "Audio", "A__x42", "A_x4", "A_x", "A_x4G", "_x4F", "_x61", "_x30", "_x5f", "A_x2eB", "A___B", "A-B",
    "A.B", "É", "_xff", "_xc3", "_x00", "A B", "_x2e", "_xc3_x28", "a",
  ])
  func `a name that does not encode a key is refused`(rest: String) {
    #expect(EnvironmentName.key(of: "PLAYER_" + rest, prefix: "PLAYER_") == nil)
  }

  @Test func `a name without the prefix is not a key`() {
    for name in ["AUDIO", "PLAYE", "PLAYER", "player_AUDIO", "", "XPLAYER_AUDIO"] {
      #expect(EnvironmentName.key(of: name, prefix: "PLAYER_") == nil)
    }
  }

  @Test func `a prefix is taken as it is`() throws {
    let key = try KeyName("a.b")
    for prefix in ["player", "P-", "É", "_", "__", "PLAYER__"] {
      let name = EnvironmentName.name(of: key, prefix: prefix)
      #expect(name == prefix + "A_B")
      #expect(EnvironmentName.key(of: name, prefix: prefix) == key)
    }
  }

  @Test func `a name is longer than the longest key would allow`() throws {
    let longest = try KeyName(String(repeating: "_", count: Limits.keyBytes))
    let name = EnvironmentName.name(of: longest, prefix: "P_")
    #expect(EnvironmentName.key(of: name, prefix: "P_") == longest)
    #expect(EnvironmentName.key(of: name + "A", prefix: "P_") == nil)
  }

  @Test func `every arrangement of dots, underscores and neighbours has a name of its own`() throws {
    var names: [ExactString: String] = [:]
    var keys = [""]
    for _ in 0..<6 {
      keys = keys.flatMap { key in [".", "_", "a", "x", "A", "4"].map { key + $0 } }
      for key in keys { try expectOwnName(key, among: &names) }
    }
    #expect(names.count == 55_986)
  }

  @Test func `random keys of all characters have names of their own`() throws {
    var random = SeededRandom(17)
    var names: [ExactString: String] = [:]
    for _ in 0..<20_000 {
      var key = ""
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
          key +=
            ["..", "_", ".", "__", "_x", "e\u{301}", "\u{e9}", "\u{212b}", "Å"].randomElement(using: &random) ?? "."
        case 1: key.unicodeScalars.append(Unicode.Scalar(UInt8.random(in: 1...127, using: &random)))
        case 2: key.unicodeScalars.append(Unicode.Scalar(UInt32.random(in: 1...0x10FFFF, using: &random)) ?? "ß")
        default: key.unicodeScalars.append(Unicode.Scalar(UInt8.random(in: 97...122, using: &random)))
        }
      }
      try expectOwnName(key, among: &names)
    }
    #expect(names.count > 15_000)
  }

  /// Expects that a key's name converts back to the key, can be set in a shell, and is unique.
  private func expectOwnName(_ text: String, among names: inout [ExactString: String]) throws {
    let key = try KeyName(text)
    let name = EnvironmentName.name(of: key, prefix: "P_")
    let isPlain = name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"),
        UInt8(ascii: "x"), UInt8(ascii: "a")...UInt8(ascii: "f"):
        true
      default: false
      }
    }
    if !isPlain || EnvironmentName.key(of: name, prefix: "P_") != key {
      Issue.record("\(text) is \(name), which is \(String(describing: EnvironmentName.key(of: name, prefix: "P_")))")
    }
    if let other = names.updateValue(text, forKey: ExactString(name)), ExactString(other) != ExactString(text) {
      Issue.record("\(text) and \(other) are both \(name)")
    }
  }
}
