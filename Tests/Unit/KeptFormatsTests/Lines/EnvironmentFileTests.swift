// What is imported from a .env file.

import Testing

@testable import KeptCore
@testable import KeptFormats

@Suite struct EnvironmentFileTests {
  private func read(_ text: String, prefix: String? = nil) throws -> ForeignReading {
    try ForeignReading(text, .env, KeyNaming(environmentPrefix: prefix))
  }

  @Test func `a text of which hardly anything is carried is of another format`() throws {
    let most = ForeignText.mostNotes
    #expect(try read(String(repeating: "-\n", count: most)).reported.count == most)
    let error = foreignRefusal(String(repeating: "-\n", count: most + 1), .env)
    #expect(error?.code == .tooLarge)
    #expect(foreignRefusal(String(repeating: "a=\n", count: most + 2), .env)?.code == .tooLarge)
  }

  @Test func `names are keys, with or without export, and values are texts`() throws {
    let text = """
      # a comment

      HOST=localhost
        export PORT = 8080\u{20}
      export=yes
      exported=1
      EMPTY=
      UMLAUT_é=ü
      URL=https://example.org/?a=b&c=d
      """
    let read = try read(text)
    #expect(
      read.carried == [
        "EMPTY ~ ", "HOST ~ localhost", "PORT ~ 8080", "UMLAUT_é ~ ü", "URL ~ https://example.org/?a=b&c=d",
        "export ~ yes",
        "exported ~ 1",
      ])
    #expect(read.reported == [])
  }

  @Test func `a number sign begins a comment behind white space only`() throws {
    let read = try read("A=#fff\nB=x#y\nC=x #y\nD= # nothing\nE='x' # y\nF=\"#\"#\n")
    #expect(read.carried == ["A ~ #fff", "B ~ x#y", "C ~ x", "D ~ ", "E ~ x", "F ~ #"])
  }

  @Test func `single quotes hold text as it is, double quotes have escapes`() throws {
    let read = try read(
      #"""
      A='it is \n $HOME "so"'
      B="one\ntwo\t\"three\" \\ \$HOME \`x\` \d"
      C=  "  spaces  "
      D=plain \n text "here"
      """#)
    #expect(
      read.carried == [
        #"A ~ it is \n $HOME "so""#, "B ~ one\ntwo\t\"three\" \\ $HOME `x` \\d", "C ~   spaces  ",
        #"D ~ plain \n text "here""#,
      ])
    #expect(read.reported == [])
  }

  @Test func `quoted text may go over several lines, and lines are counted`() throws {
    let read = try read("KEY=\"-----BEGIN\nabc\n-----END\"\nA='1\n2'\nB=$A\n")
    #expect(read.carried == ["A ~ 1\n2", "B ~ $A", "KEY ~ -----BEGIN\nabc\n-----END"])
    #expect(read.reported.map { $0.prefix(7) } == ["line 6:"])
  }

  @Test func `nothing is expanded, and references are reported`() throws {
    let read = try read("A=${HOME}/x\nB=\"$HOME\"\nC=`date`\nD='$HOME'\nE=\"\\$5\"\n")
    #expect(read.carried == ["A ~ ${HOME}/x", "B ~ $HOME", "C ~ `date`", "D ~ $HOME", "E ~ $5"])
    #expect(read.reported.map { $0.prefix(7) } == ["line 1:", "line 2:", "line 3:"])
  }

  @Test func `a name without a value is reported, and one that is there twice too`() throws {
    let read = try read("A\nexport B\nC=1\nC=2\n")
    #expect(read.carried == ["C ~ 2"])
    #expect(
      read.reported == [
        "line 1: A has no value; write = behind it for empty text",
        "line 2: B has no value; write = behind it for empty text",
        "line 3: the key C is there again at line 4, which counts",
      ])
  }

  @Test func `with a prefix, names are keys by the rule of the environment, and others are not asked for`() throws {
    let read = try read("PLAYER_AUDIO_VOLUME=30\nPATH=/bin\nPLAYER_max=1\nPLAYER_A__B=x\n", prefix: "PLAYER_")
    #expect(read.carried == ["a_b ~ x", "audio.volume ~ 30"])
    #expect(read.reported == ["line 3: the name PLAYER_max stands for no key; for the key max write PLAYER_MAX"])
    #expect(throws: StoreError.self) { try self.read("A=1", prefix: "") }
    #expect(throws: StoreError.self) { try self.read("A=1", prefix: "A=") }
  }

  @Test func `files of Windows are read`() throws {
    let read = try read("\u{FEFF}A=1\r\nB='x'\r\n\r\n# c\r\nC=\r\nD\r\n")
    #expect(read.carried == ["A ~ 1", "B ~ x", "C ~ "])
    #expect(read.reported.count == 1)
  }

  @Test(arguments: [
    "=1", "A B=1", "{}", "[section]", "A='x", "A=\"x\\\"", "A='x'y", "A=\"x\" y", "export =1", "A=1\n'B'=2", "\"A\"=1",
    "\0",
    "A: 1", "A='1\n\n",
  ])
  func `what is no line of a variable is refused, with the place`(text: String) {
    #expect(foreignRefusal(text, .env)?.code == .invalid)
  }

  @Test func `a refusal names the line, and quotes no value`() {
    #expect(foreignRefusal("A='1\n2'\nTOKEN='hunter2' x", .env)?.message.hasPrefix("line 3 ") == true)
    for text in ["TOKEN='hunter2' x", "TOKEN='hunter2", "TOKEN=hunter2\nA B"] {
      #expect(foreignRefusal(text, .env)?.description.contains("hunter2") == false)
    }
    #expect(foreignRefusal([0x41, 0x3D, 0xFF], .env)?.offset == 2)
  }

  @Test func `a cut file is read or refused`() throws {
    let text = "\u{FEFF}export A=\"x\\n\\$é\" # c\r\nB='q\nr'\n\n#c\nC_D=$x y #z\nE\n"
    try expectNoHarmFromCuts(Array(text.utf8), .env, refusesCuts: false)
  }
}
