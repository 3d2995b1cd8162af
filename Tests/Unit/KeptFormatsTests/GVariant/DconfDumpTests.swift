// What is imported from a dump of dconf.

import Testing

@testable import KeptCore
@testable import KeptFormats

@Suite struct DconfDumpTests {
  @Test func `a path is a part of the keys`() throws {
    let text = """
      [/]
      first=true

      [org/gnome/desktop/interface]
      clock-format='24h'
      text-scaling-factor=1.25
      cursor-size=24

      [org/gnome/terminal/legacy/profiles:]
      list=['b1dcc9dd', "it's"]
      """
    let read = try ForeignReading(text, .dconf)
    #expect(
      read.carried == [
        "first = true", #"org.gnome.desktop.interface.clock-format = "24h""#,
        "org.gnome.desktop.interface.cursor-size = 24",
        "org.gnome.desktop.interface.text-scaling-factor = 1.25",
        #"org.gnome.terminal.legacy.profiles:.list = ["b1dcc9dd","it's"]"#,
      ])
    #expect(read.reported == [])
    let other = try ForeignReading(text, .dconf, KeyNaming(prefix: "/", separator: "/"))
    #expect(other.carried.last == #"/org/gnome/terminal/legacy/profiles:/list = ["b1dcc9dd","it's"]"#)
  }

  @Test func `what a desktop has is carried, and what Kept has not is reported`() throws {
    let text = """
      [org/gnome/shell]
      window-size=(890, 550)
      app-picker-layout=[{'a.desktop': <{'position': <0>}>, 'b.desktop': <{'position': <1>}>}]
      enabled-extensions=@as []
      night-light-last-coordinates=(51.5, -0.12)
      sources=[('xkb', 'us'), ('xkb', 'de')]
      delay=uint32 300
      numbers={1: 'a'}
      nobody=@ms nothing
      """
    let read = try ForeignReading(text, .dconf)
    #expect(
      read.carried == [
        #"org.gnome.shell.app-picker-layout = [{"a.desktop":{"position":0},"b.desktop":{"position":1}}]"#,
        "org.gnome.shell.delay = 300", "org.gnome.shell.enabled-extensions = []",
        "org.gnome.shell.night-light-last-coordinates = [51.5,-0.12]",
        #"org.gnome.shell.sources = [["xkb","us"],["xkb","de"]]"#, "org.gnome.shell.window-size = [890,550]",
      ])
    #expect(
      read.reported == [
        "line 2: a tuple is carried as an array", "line 5: a tuple is carried as an array",
        "line 6: a tuple is carried as an array", "line 8: a dictionary has keys that are no text",
        "line 9: it has no value, which is how Kept says that there is no setting",
      ])
  }

  @Test(arguments: [
    "a=1", "[/]\na", "[/]\n=1", "[/]\na=", "[/]\na=x", "[a\nb=1", "[]\nb=1", "[/]\na='x", "[/]\na=1 2",
    "[/]\na=[1,\n2]",
  ])
  func `a text that is not a dump is refused, with the place`(text: String) {
    #expect(foreignRefusal(text, .dconf)?.code == .invalid)
  }

  @Test func `a dump with an equals sign or a bracket in a value is read`() throws {
    let read = try ForeignReading("[a]\nb='c=d]'\r\n\n# comment\ne=\"[f]\"", .dconf)
    #expect(read.carried == [#"a.b = "c=d]""#, #"a.e = "[f]""#])
  }

  @Test func `a cut dump is read or refused`() throws {
    let text = "[/]\na=[1, byte 2]\n[b/é]\nc={'x': <(1.5, b'q\\001')>, \"y\": <@as []>}\nd=just uint64 5\n"
    try expectNoHarmFromCuts(Array(text.utf8), .dconf, refusesCuts: false)
  }
}
