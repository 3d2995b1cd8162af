// Where the key that wraps the data keys comes from: each provider, and what it refuses.

import CPlatform
import Foundation
import KeptSystem
import KeptValues
import Testing

@testable import KeptSecrets

@Suite struct `A key file` {
  let folder: TestFolder
  init() throws { folder = try TestFolder() }

  private let key = (0..<32).map { UInt8($0) }
  private var line: [UInt8] { Array((Base64.text(key)).utf8) }

  @Test func `has a random key, is readable for its owner alone, and is never replaced`() throws {
    let path = folder.path + "/key"
    let made = try KeyFile.make(path)
    #expect(try KeyFile.read(path).array == made.array)
    #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
    #expect(error { try KeyFile.make(path) }?.code == .invalid)
    #expect(error { try KeyFile.make("key") }?.code == .invalid)
    #expect(try KeyFile.make(path + "2").array != made.array)
  }

  @Test func `may have the key as bytes or as text, with any line end`() throws {
    for bytes in [key, line, line + [10], line + [13, 10]] {
      #expect(try KeyFile.read(folder.write(bytes, "key")).array == key)
    }
  }

  @Test func `without a key is refused, with what one is`() throws {
    var others: [[UInt8]] = [[], [10], key.dropLast(), key + [10], line.dropLast(), line + [10, 10], line + line]
    others.append(line.map { $0 == UInt8(ascii: "=") ? UInt8(ascii: "*") : $0 })
    for bytes in others {
      let refusal = error { try KeyFile.read(folder.write(bytes, "key")) }
      #expect(refusal?.code == .invalid, "\(bytes.count) bytes")
      #expect(refusal?.message.contains("32 bytes") == true)
    }
  }

  @Test(arguments: [0o640, 0o604, 0o620, 0o602, 0o660, 0o644])
  func `that others may read or write is refused`(mode: Int) throws {
    let path = try folder.write(key, "key", mode: mode)
    // As root, the group is root's: systemd's credentials look so.
    if mode == 0o640, getegid() == 0, geteuid() == 0 { chown(path, 0, 12_345) }
    let refusal = error { try KeyFile.read(path) }
    #expect(refusal?.code == .denied)
    #expect(refusal?.message.contains("chmod 600") == true)
  }

  @Test func `that is missing, a link, a FIFO or a directory is refused`() throws {
    let path = try folder.write(key, "key")
    symlink(path, folder.path + "/link")
    mkfifo(folder.path + "/fifo", 0o600)
    let missing = error { try KeyFile.read(folder.path + "/none") }
    #expect(missing?.code == .unavailable)
    #expect(missing?.message.contains("does not exist") == true)
    for (name, kind) in [("link", "a symbolic link"), ("fifo", "a FIFO"), ("", "a directory")] {
      let refusal = error { try KeyFile.read(folder.path + "/" + name) }
      #expect(refusal?.code == .denied)
      #expect(refusal?.message.contains(kind) == true)
    }
    #expect(error { try KeyFile.read("a\0b") }?.code == .invalid)
  }

  @Test(.enabled(if: geteuid() == 0, "only root gives files to other users"))
  func `of another user is refused, and a credential of systemd is not`() throws {
    let path = try folder.write(key, "key")
    chown(path, 12_345, 0)
    #expect(error { try KeyFile.read(path) }?.code == .denied)
    chown(path, 0, 0)
    chmod(path, 0o440)
    #expect(try KeyFile.read(path).array == key)
  }
}

@Suite struct `A passphrase` {
  @Test func `opens the store again, and no other one does`() throws {
    let (document, _) = try documentWithPassphrase("ünlock")
    let read = try SecretsDocument(document.json)
    _ = try read.unlock(access("ünlock"))
    for other in ["u\u{308}nlock", "ünlock "] {
      #expect(error { try read.unlock(access(other)) }?.code == .denied)
    }
    #expect(error { try read.unlock(access("")) }?.code == .invalid)
    #expect(error { try read.unlock(access()) }?.message.contains("no passphrase was given") == true)
  }

  @Test(arguments: [(0, 8192), (17, 8192), (1, 8191), (1, (1 << 30) + 1), (-1, 8192)])
  func `is not hashed with limits that are too low, or that would stop the machine`(
    operations: Int, memory: Int
  ) throws {
    #expect(error { try PassphraseHash.random(operations: operations, memory: memory) }?.code == .invalid)
    let (document, _) = try documentWithPassphrase()
    let changed = document.json.replacingOccurrences(of: #""memory":8192"#, with: "\"memory\":\(memory)")
      .replacingOccurrences(of: #""operations":1"#, with: "\"operations\":\(operations)")
    #expect(error { try SecretsDocument(changed).unlock(access("correct horse")) }?.message.contains("limits") == true)
  }
}

@Suite struct `A program that prints a key` {
  let folder: TestFolder
  init() throws { folder = try TestFolder() }

  private let line = Base64.text((0..<32).map { UInt8($0) })

  private func key(_ script: String, timeout: Int64 = 30_000) throws -> [UInt8] {
    var access = ProviderAccess()
    access.timeout = timeout
    return try KeyProgram.key([folder.script(script), "one  two", "$(exit 3)"], access).array
  }

  @Test func `gets its arguments as they are, nothing to read, and no open file`() throws {
    let file = try folder.write([], "open")
    let descriptor = open(file, O_RDONLY)
    defer { close(descriptor) }
    let checks = """
      [ "$#" = 2 ] && [ "$1" = 'one  two' ] && [ "$2" = '$(exit 3)' ] || exit 4
      [ "$(readlink /proc/self/fd/0)" = /dev/null ] || exit 5
      [ ! -e /proc/self/fd/\(descriptor) ] || exit 6
      echo \(line)
      """
    #expect(try key(checks) == (0..<32).map { UInt8($0) })
  }

  @Test func `that fails, is killed or prints something else gives no key, and its output is in no error`() throws {
    for (script, code, part) in [
      ("echo \(line); echo verysecret >&2; exit 3", StoreError.Code.unavailable, "ended with status 3"),
      ("kill -9 $$", .unavailable, "signal 9"), ("echo verysecret", .invalid, "not a key"), ("", .invalid, "not a key"),
      ("yes verysecret", .unavailable, "more than"),
    ] {
      let refusal = error { try key(script) }
      #expect(refusal?.code == code, "\(script)")
      #expect(refusal?.message.contains(part) == true, "\(refusal?.message ?? "")")
      #expect(refusal?.message.contains("verysecret") == false)
    }
    #expect(error { try KeyProgram.key(["\(folder.path)/none"], ProviderAccess()) }?.code == .unavailable)
    #expect(error { try KeyProgram.key(["sh"], ProviderAccess()) }?.code == .invalid)
    #expect(error { try KeyProgram.key([], ProviderAccess()) }?.code == .invalid)
    #expect(error { try KeyProgram.key(["/bin/sh", "a\0b"], ProviderAccess()) }?.code == .invalid)
  }

  // Its time begins while it waits for the processor.
  @Test(.timeLimit(.minutes(30)))
  func `that does not end is killed, and a child that it leaves behind is not waited for`() throws {
    let waiting = "sleep 1000 & echo $! > '\(folder.path)/late'; wait"
    #expect(error { try key(waiting, timeout: 5000) }?.message.contains("was killed") == true)
    let process = try String(contentsOfFile: folder.path + "/late", encoding: .utf8).dropLast()
    // Its child is killed too: it is gone, or a zombie that its new parent collects.
    while let state = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8), !state.contains(") Z ") {
      sched_yield()
    }
    let leaving = "sleep 10000 & echo \(line); echo $! > '\(folder.path)/child'"
    #expect(try key(leaving, timeout: 10_000_000).count == 32)
    let child = try String(contentsOfFile: folder.path + "/child", encoding: .utf8)
    kill(try #require(pid_t(child.dropLast())), SIGKILL)
    // One that prints for ever is not listened to, and ends as its pipe is closed.
    #expect(try key("yes >&2 & echo \(line)", timeout: 10_000_000).count == 32)
  }

  @Test func `is understood in a process that collects its children itself`() async {
    await #expect(processExitsWith: .success) {
      signal(SIGCHLD, SIG_IGN)
      let folder = try TestFolder()
      let line = Base64.text((0..<32).map { UInt8($0) })
      var access = ProviderAccess()
      guard try KeyProgram.key([folder.script("echo \(line); exit 3")], access).count == 32 else { exit(1) }
      access.timeout = 100
      let late = try folder.script("exec sleep 1000")
      guard let refusal = error({ try KeyProgram.key([late], access) }) else { exit(2) }
      exit(refusal.message.contains("was killed") ? 0 : 3)
    }
  }

  @Test func `is not run for a store that comes from elsewhere`() throws {
    let script = try folder.script("touch '\(folder.path)/was-run'; echo \(line)")
    var document = SecretsDocument.plain()
    let key = try KeyProgram.key([script], ProviderAccess())
    _ = try document.encrypt(with: .program([script]), key, at: someTime)
    _ = try document.unlock(ProviderAccess())
    try FileManager.default.removeItem(atPath: folder.path + "/was-run")
    var access = ProviderAccess()
    access.mayRunPrograms = false
    #expect(error { try document.unlock(access) }?.code == .unavailable)
    #expect(!FileManager.default.fileExists(atPath: folder.path + "/was-run"))
  }
}

@Suite struct `A credential of systemd` {
  let folder: TestFolder
  init() throws { folder = try TestFolder() }

  @Test(.enabled(if: hasMachineKey(), "needs root, systemd-creds and /etc/machine-id"))
  func `opens the store on this machine`() throws {
    var document = SecretsDocument.plain()
    let (provider, key) = try SystemCredential.make(for: document, ProviderAccess())
    let sealed = try document.encrypt(with: provider, key, at: someTime).seal([5], "token", 1)
    let read = try SecretsDocument(document.json)
    #expect(try read.unlock(ProviderAccess()).open(sealed, "token", 1) == [5])
    // That of another store has another name in it.
    guard case .systemCredential(_, let credential) = provider else { return }
    let other = Provider.systemCredential(name: "kept-other", sealed: credential)
    #expect(throws: StoreError.self) { try other.key(of: document.id, ProviderAccess()) }
  }

  @Test func `that cannot be decrypted is reported with the words of systemd-creds`() throws {
    var access = ProviderAccess()
    // Libraries print warnings before the reason.
    access.systemdCreds = try folder.script(
      "seq -f 'WARNING:esys:%.0f' 10000 >&2; echo 'Failed to determine local credential key' >&2; exit 1")
    let provider = Provider.systemCredential(name: "kept-a", sealed: "AAAA")
    let refusal = error { try provider.key(of: [], access) }
    #expect(refusal?.code == .unavailable)
    #expect(
      refusal?.message.contains("it says: Failed to determine local credential key; only root of the machine") == true,
      "\(refusal?.message ?? "")")
    access.systemdCreds = "kept-has-no-such-program"
    #expect(error { try provider.key(of: [], access) }?.message.contains("could not be started") == true)
  }
}

@Suite struct `A keyring` {
  let folder: TestFolder
  init() throws { folder = try TestFolder() }

  @Test func `that is locked or has no key, and a session without one, are told apart as far as secret-tool does`()
    throws
  {
    var access = ProviderAccess()
    access.secretTool = try folder.script("exit 1")
    #expect(
      error { try Provider.secretService.key(of: [1], access) }?.message.contains("the keyring is locked, or") == true)
    access.secretTool = try folder.script(
      "echo 'secret-tool: Cannot autolaunch D-Bus without X11 $DISPLAY' >&2; exit 1")
    #expect(error { try Provider.secretService.key(of: [1], access) }?.message.contains("autolaunch D-Bus") == true)
  }

  @Test(
    .enabled(
      if: has("secret-tool", "gnome-keyring-daemon", "dbus-daemon", "dbus-send"),
      "needs secret-tool (libsecret-tools), gnome-keyring and D-Bus"),
    .timeLimit(.minutes(30)))
  func `opens the store while it is unlocked, and again after it was locked`() throws {
    let session = try KeyringSession(folder)
    defer { session.end() }
    var access = ProviderAccess()
    access.secretTool = try session.wrapper("secret-tool")
    var document = SecretsDocument.plain()
    let key = try SecretService.make(for: document, label: "Kept: test", access)
    let sealed = try document.encrypt(with: .secretService, key, at: someTime).seal([5], "token", 1)
    #expect(try document.unlock(access).open(sealed, "token", 1) == [5])
    // The key of another store does not replace it.
    _ = try SecretService.make(for: .plain(), label: "Kept: test", access)
    #expect(try document.unlock(access).open(sealed, "token", 1) == [5])

    try session.lock()
    let refusal = error { try document.unlock(access) }
    #expect(refusal?.code == .unavailable)
    #expect(refusal?.message.contains("the keyring is locked, or") == true, "\(refusal?.message ?? "")")
    let making = error { try SecretService.make(for: document, label: "Kept: test", access) }
    #expect(making?.message.contains("locked collection") == true, "\(making?.message ?? "")")

    try session.unlock()
    #expect(try document.unlock(access).open(sealed, "token", 1) == [5])
  }
}

/// Whether there can be the key of a machine, which is root's and belongs to the machine's identity.
private func hasMachineKey() -> Bool {
  geteuid() == 0 && has("systemd-creds") && FileManager.default.contents(atPath: "/etc/machine-id")?.count == 33
}

/// A session with a bus and an unlocked gnome-keyring, without a display.
private struct KeyringSession {
  private let folder: TestFolder
  private let variables: String
  private let bus: String

  init(_ folder: TestFolder) throws {
    self.folder = folder
    // Not with Process: the bus would have the blocked signals of this thread, and not notice that a program ends.
    let program = try folder.script("exec dbus-daemon --session --fork --print-address=1 --print-pid=1")
    let lines = try Self.run(program).split(separator: "\n")
    bus = String(try #require(lines.last))
    variables = """
      unset DISPLAY
      export DBUS_SESSION_BUS_ADDRESS='\(try #require(lines.first))' HOME='\(folder.path)'
      export XDG_RUNTIME_DIR="$HOME" XDG_DATA_HOME="$HOME"

      """
    try unlock()
  }

  private static func run(_ program: String) throws -> String {
    try ProgramRun.read([program], ProviderAccess()) { String(decoding: $0, as: UTF8.self) }
  }

  private func run(_ lines: String) throws { _ = try Self.run(folder.script(variables + lines)) }

  /// A program that runs another one in the session.
  func wrapper(_ program: String) throws -> String { try folder.script(variables + "exec \(program) \"$@\"") }

  /// Starts the keyring again, as a daemon that is running cannot be unlocked without a display.
  func unlock() throws { try run("printf pw | gnome-keyring-daemon --replace --unlock --components=secrets") }

  func lock() throws {
    try run(
      """
      dbus-send --session --print-reply --dest=org.freedesktop.secrets /org/freedesktop/secrets \
        org.freedesktop.Secret.Service.Lock array:objpath:/org/freedesktop/secrets/collection/login
      """)
  }

  func end() {
    try? run(
      """
      kill $(dbus-send --session --print-reply=literal --dest=org.freedesktop.DBus / \
        org.freedesktop.DBus.GetConnectionUnixProcessID string:org.freedesktop.secrets | awk '{print $2}')
      kill \(bus)
      """)
  }
}
