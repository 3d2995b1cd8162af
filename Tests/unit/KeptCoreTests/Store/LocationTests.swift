// Locations of stores, and which of them are equal.

import Foundation
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite struct `A location` {
  let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  @Test func `with a slash is a path`() throws {
    #expect(try Location("/a/b") == Location(.folder, "/a/b"))
    #expect(try Location("./a") == Location(.folder, "./a"))
  }

  @Test func `without one is an identifier in the configuration folder`() throws {
    let location = try Location("com.example.player")
    #expect(location.scheme == .folder)
    #expect(location.name.hasPrefix("/"))
    #expect(location.name.hasSuffix("/kept/com.example.player.kept"))
  }

  /// A user database of its own, in a mount namespace.
  @Test(.enabled("only root can mount a file") { geteuid() == 0 && Self.isRun("/usr/bin/unshare", "--mount", "true") })
  func `of an identifier is in the home folder of the user database where no variable names one`() throws {
    let (users, home) = (folder.path + "/passwd", folder.path + "/home")
    try "someone:x:0:0::\(home):/bin/sh\n".write(toFile: users, atomically: true, encoding: .utf8)
    try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: false)
    let child = try ChildProcess(
      opening: "com.example.homely",
      through: [
        "/usr/bin/env", "-u", "HOME", "-u", "XDG_CONFIG_HOME", "unshare", "--mount", "sh", "-c",
        #"mount --bind "$0" /etc/passwd && exec "$@""#, users,
      ])
    #expect(try child.ask("set", "a", "1") == "ok")
    try child.finish()
    let store = try Store.open(home + "/.config/kept/com.example.homely.kept")
    #expect(try store.value(forKey: "a") == 1)
  }

  private static func isRun(_ program: String, _ arguments: String...) -> Bool {
    guard let process = try? Process.run(URL(fileURLWithPath: program), arguments: arguments) else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }

  @Test(arguments: ["", "a\u{0}b", ".hidden", "with space", "caf\u{E9}", "a\\b", String(repeating: "x", count: 201)])
  func `that is not an identifier is refused`(_ text: String) {
    #expect(code { try Location(text) } == .invalid)
  }

  @Test(arguments: ["etcd://host:1/prefix"])
  func `of a later version is unsupported`(_ text: String) {
    #expect(code { try Store.open(text) } == .unsupported)
  }

  @Test func `with dir: is a folder of files, shared by the handles of the process`() throws {
    #expect(code { try Store.open("dir:") } == .invalid)
    let path = folder.path + "/a/b"
    let (one, other) = (try Store.open("dir:" + path), try Store.open("dir:\(path)/../b"))
    try one.set(1, forKey: "a.b")
    #expect(try other.value(forKey: "a.b") == 1)
    #expect(try String(contentsOfFile: path + "/a.b.json", encoding: .utf8) == "1\n")
    one.close()
    other.close()
  }

  @Test func `memory is always new without a name, and shared by name while a handle is open`() throws {
    #expect(try Location("memory:") == Location(.memory, ""))
    #expect(try Location("memory:x/y") == Location(.memory, "x/y"))
    let name = "memory:" + folder.path
    let one = try Store.open(name)
    let other = try Store.open(name)
    try one.set(1, forKey: "a")
    #expect(try other.value(forKey: "a") == 1)
    #expect(try Store.open("memory:").value(forKey: "a") == nil)
    one.close()
    #expect(try other.value(forKey: "a") == 1, "the other handle goes on")
    other.close()
    #expect(try Store.open(name).value(forKey: "a") == nil, "gone with the last handle")
  }

  @Test func `tells its folder, and makes none`() throws {
    let path = folder.path + "/none"
    #expect(try Store.folder(of: path) == path)
    #expect(try Store.folder(of: "dir:" + path) == path)
    #expect(try Store.folder(of: "com.example.player")?.hasSuffix("/kept/com.example.player.kept") == true)
    #expect(try Store.folder(of: "memory:x") == nil)
    #expect(code { try Store.folder(of: "with space") } == .invalid)
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `through a symbolic link is the same store`() throws {
    let path = folder.path + "/store"
    let link = folder.path + "/link"
    let store = try Store.open(path)
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    let linked = try Store.open(link)
    try store.set(1, forKey: "a")
    #expect(try linked.value(forKey: "a") == 1)
    store.close()
    try linked.set(2, forKey: "a")
    #expect(try linked.value(forKey: "a") == 2)
  }

  @Test func `is kept open by the last of its handles, and can be opened again`() throws {
    let path = folder.path + "/store"
    for round in 1...3 {
      let one = try Store.open(path)
      let other = try Store.open(path)
      one.close()
      try other.set(.int(Int64(round)), forKey: "round")
      other.close()
    }
    #expect(try Store.open(path).value(forKey: "round") == 3)
  }
}
