// Which variables become settings, and the reports on the others.

import KeptCore
@testable import KeptValues
import Testing

@Suite struct EnvironmentLayerTests {
  private func texts(_ layer: EnvironmentLayer) -> [String] {
    layer.values.map { "\($0.key) = \($0.value.text)" }.sorted()
  }

  @Test func `variables with the prefix are settings, the others are ignored`() throws {
    let layer = try EnvironmentLayer(
      prefix: "PLAYER_",
      ["HOME=/root", "PLAYER_AUDIO_VOLUME=30", "PLAYERS=2", "PLAYER_THEME=dark", "=C:=x", "nonsense", "", "PLAYER_X"])
    #expect(texts(layer) == ["audio.volume = 30", "theme = dark"])
    #expect(layer.problems.isEmpty)
  }

  @Test func `the text is taken as it is, from the first equals sign on`() throws {
    let layer = try EnvironmentLayer(
      prefix: "P_", ["P_A= a=b ", "P_B=", "P_C==", "P_D=\u{301}x", "P_E=line\nbreak", "P_F=-5"])
    #expect(texts(layer) == ["a =  a=b ", "b = ", "c = =", "d = \u{301}x", "e = line\nbreak", "f = -5"])
    #expect(try layer.values[KeyName("f")]?.natural == -5)
  }

  @Test func `the first of two counts, as for getenv, and the other is reported`() throws {
    let layer = try EnvironmentLayer(prefix: "P_", ["P_A=first", "P_A=hunter2", "P_A=hunter2"])
    #expect(texts(layer) == ["a = first"])
    #expect(layer.problems.count == 2)
    #expect(
      layer.problems.first?.description == "\"a\": the environment variable P_A is set twice; the first value is used")
  }

  @Test(arguments: [
    ("P_volume", "volume", "P_VOLUME"), ("P_audio_volume", "audio.volume", "P_AUDIO_VOLUME"),
    ("P_Audio_Volume", "audio.volume", "P_AUDIO_VOLUME"), ("P_A-B", "a-b", "P_A_x2dB"), ("P_A_x4F", "aO", "P_A_x4f"),
    ("P_A_x61", "aa", "P_AA"), ("P_A.B", "a.b", "P_A_B"), ("P_A___B", "a_.b", "P_A___x2eB"), ("P_É", "É", "P__xc3_x89"),
  ])
  func `a name that is not canonical is reported, with the one to write`(name: String, key: String, canonical: String)
    throws
  {
    let layer = try EnvironmentLayer(prefix: "P_", ["\(name)=hunter2"])
    #expect(layer.values.isEmpty)
    let sentence = "\"\(key)\": the environment variable \(name) is ignored: the name for this key is \(canonical)"
    #expect(layer.problems.map(\.description) == [sentence])
    #expect(layer.problems.map(\.code) == [.invalid])
    #expect(try EnvironmentName.key(of: canonical, prefix: "P_") == KeyName(key))
  }

  @Test(arguments: ["P_", "P__xff", "P__x00", "P__xc3"])
  func `a name that does not encode a key is reported`(name: String) throws {
    let layer = try EnvironmentLayer(prefix: "P_", ["\(name)=hunter2", "P_A=1"])
    #expect(texts(layer) == ["a = 1"])
    let sentence = "the environment variable \(name) is ignored: its name does not encode a key"
    #expect(layer.problems.map(\.description) == [sentence])
  }

  @Test func `of names that would collide only the canonical one is read`() throws {
    let layer = try EnvironmentLayer(prefix: "P_", ["P_a_b=1", "P_A_B=2", "P_A_x2eB=3", "P_A__B=4", "P_A_b=5"])
    #expect(texts(layer) == ["a.b = 2", "a_b = 4"])
    #expect(layer.problems.count == 3)
  }

  @Test func `a prefix that is empty, or that no name can have, is refused`() {
    for prefix in ["", "=", "P=", "P\0"] {
      let error = #expect(throws: StoreError.self) { try EnvironmentLayer(prefix: prefix, ["A=1"]) }
      #expect(error?.code == .invalid)
      #expect(error?.message.contains("prefix") == true)
    }
  }

  @Test func `a sentence about a long name is short, and none quotes a variable's text`() throws {
    let long = String(repeating: "é", count: 5_000)
    let layer = try EnvironmentLayer(
      prefix: "P_", ["P_\(long)=hunter2", "P_a\(long.prefix(400))=hunter2", "P_b=hunter2"])
    #expect(layer.problems.count == 3)
    for problem in layer.problems {
      #expect(problem.description.utf8.count < 800)
      #expect(!problem.description.contains("hunter2"))
    }
  }

  @Test func `ten thousand variables are read`() throws {
    let layer = try EnvironmentLayer(prefix: "P_", (0..<10_000).map { "P_K\($0)=\($0)" })
    #expect(layer.values.count == 10_000)
    #expect(try layer.values[KeyName("k9999")]?.natural == 9999)
  }
}
