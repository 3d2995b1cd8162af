// What is imported from an INI file, in the dialects of Python's configparser, GKeyFile, QSettings and git.

import Testing

@testable import KeptCore
@testable import KeptFormats

@Suite struct INIFileTests {
  @Test func `sections are parts of keys, and names above the first stand alone`() throws {
    let text = """
      top = 1
      ; comment
      [audio]
      volume=30
      # comment
      Output Device : USB: front
      empty =
      [ mixer ] ; comment
      path=C:\\new folder\\n
      list=a;b;c
      """
    let read = try ForeignReading(text, .ini)
    #expect(
      read.carried == [
        "audio.Output Device ~ USB: front", "audio.empty ~ ", "audio.volume ~ 30", "mixer.list ~ a;b;c",
        "mixer.path ~ C:\\new folder\\n", "top ~ 1",
      ])
    #expect(read.reported == [])
    #expect(try ForeignReading("[a]\nb=1", .ini, KeyNaming(prefix: "p:", separator: "/")).carried == ["p:a/b ~ 1"])
  }

  @Test func `quotes around a value are not part of it`() throws {
    let text = #"""
      a = "  x  "
      b = "say \"hi\"\n\\ C:\Users"
      c = 'it is "so" \n'
      d = "one" and "two"
      e = "
      f = 'it's'
      g = ""
      h = "x\"
      """#
    let read = try ForeignReading(text, .ini)
    #expect(
      read.carried == [
        "a ~   x  ", "b ~ say \"hi\"\n\\ C:\\Users", #"c ~ it is "so" \n"#, #"d ~ "one" and "two""#, #"e ~ ""#,
        "f ~ 'it's'",
        "g ~ ", #"h ~ "x\""#,
      ])
  }

  @Test func `a line that is indented deeper goes on with the value above, as in configparser`() throws {
    let text = """
      [options]
      install_requires =
          first >= 1
          # comment
          second: x
      name = one
        two
      \tthree

      other = 1
      """
    let read = try ForeignReading(text, .ini)
    #expect(
      read.carried == [
        "options.install_requires ~ \nfirst >= 1\nsecond: x", "options.name ~ one\ntwo\nthree", "options.other ~ 1",
      ])
  }

  @Test func `names that are all indented are names, as in a git configuration`() throws {
    let text = "[core]\n\tbare = false\n\teditor = vi\n[remote \"origin\"]\n\turl = git@example.org:a/b.git\n"
    let read = try ForeignReading(text, .ini)
    #expect(
      read.carried == [
        "core.bare ~ false", "core.editor ~ vi", "remote \"origin\".url ~ git@example.org:a/b.git",
      ])
  }

  @Test func `a key file of GLib is read as it stands`() throws {
    let text = """
      # written by GKeyFile
      [Desktop Entry]
      Name=Player
      Name[de]=Spieler
      Exec=player %U
      Categories=Audio;Player;
      Comment=a\\sb
      """
    let read = try ForeignReading(text, .ini, KeyNaming(separator: "/"))
    #expect(
      read.carried == [
        "Desktop Entry/Categories ~ Audio;Player;", "Desktop Entry/Comment ~ a\\sb", "Desktop Entry/Exec ~ player %U",
        "Desktop Entry/Name ~ Player", "Desktop Entry/Name[de] ~ Spieler",
      ])
  }

  @Test func `what only Qt can read is carried as text, and reported`() throws {
    let text = """
      [General]
      volume=30
      window\\geometry=@ByteArray(\\x1\\xd9)
      size=@Size(800 600)
      list=1, 2
      mail=@home
      """
    let read = try ForeignReading(text, .ini)
    #expect(read.carried.count == 5)
    #expect(read.carried.contains("General.window\\geometry ~ @ByteArray(\\x1\\xd9)"))
    #expect(read.reported.map { $0.prefix(7) } == ["line 3:", "line 4:"])
  }

  @Test func `a name that is there twice is reported, and the later one counts`() throws {
    let read = try ForeignReading("[a]\nb=1\n[c]\nd=1\n[a]\nb=2\n", .ini)
    #expect(read.carried == ["a.b ~ 2", "c.d ~ 1"])
    #expect(read.reported == ["line 2: the key a.b is there again at line 6, which counts"])
  }

  @Test func `files of Windows are read`() throws {
    #expect(try ForeignReading("\u{FEFF}[a]\r\nb=1\r\n\r\nc=\"x\"\r\n", .ini).carried == ["a.b ~ 1", "a.c ~ x"])
  }

  @Test func `a name that cannot be a key is reported`() throws {
    let long = String(repeating: "k", count: 1100)
    let read = try ForeignReading("[\(long)]\na=1\nb=2\n[x]\nc\0d=1\nok=1", .ini)
    #expect(read.carried == ["x.ok ~ 1"])
    #expect(read.reported.map { $0.prefix(7) } == ["line 2:", "line 3:", "line 5:"])
  }

  @Test(arguments: ["word", "[]", "[ ]", "[a", "[a] x", "=1", ": 1", "[a]\nb=1\nc\n", "a=1\n\n  b", "\u{7F}ELF"])
  func `what is no line of an INI file is refused, with the place`(text: String) {
    #expect(foreignRefusal(text, .ini)?.code == .invalid)
  }

  @Test func `a refusal names the line, and quotes no value`() {
    let error = foreignRefusal("[a]\ntoken=hunter2\n[b\n", .ini)
    #expect(error?.message.hasPrefix("line 3 ") == true)
    #expect(error?.offset == 18)
    #expect(foreignRefusal("a=1\nhunter2", .ini)?.description.contains("hunter2") == false)
    #expect(foreignRefusal([0x41, 0x3D, 0xC3], .ini)?.offset == 2)
  }

  @Test func `a cut file is read or refused`() throws {
    let text = "\u{FEFF}a: 1\r\n[s é]\r\nb = \"x\\n\"\n  c: d\n# e\n\n[t] ;f\nq=@Size(1)\n"
    try expectNoHarmFromCuts(Array(text.utf8), .ini, refusesCuts: false)
  }
}
