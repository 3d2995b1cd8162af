// Runs a command of the user and waits for it.

import Glibc
import Kept

enum Shell {
  /// Runs a command with further variables; a NUL in a value ends it there, as everywhere in an environment.
  ///
  /// All other variables are those of this program, byte by byte. If the values are too large for an environment, the
  /// command runs without the variables that `mayLack` accepts.
  /// - Parameters:
  ///   - variables: a variable whose value is nil is not set, although this program may have it.
  ///   - input: what the command reads; nil for what this program would read.
  /// - Returns: its exit status; 128 and the signal if one has ended it; nil if it could not be started.
  @discardableResult
  static func run(
    _ command: String, _ variables: [(name: String, value: String?)] = [], mayLack: (String) -> Bool = { _ in false },
    input: String? = nil
  ) -> Int32? {
    var pid = pid_t()
    let file: Int32
    do throws(StoreError) { file = try input.map(Self.file) ?? -1 } catch {
      Failure.print(error)
      return nil
    }
    defer { if file >= 0 { close(file) } }
    var started = spawn(command, variables, file, &pid)
    if started == E2BIG {
      started = spawn(command, variables.map { ($0.name, mayLack($0.name) ? nil : $0.value) }, file, &pid)
    }
    guard started == 0 else {
      Failure.print("\(Excerpt.of(command)): cannot be started: \(String(cString: strerror(started)))")
      return nil
    }
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0 {
      guard errno == EINTR else { return nil }
    }
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
  }

  private static func spawn(
    _ command: String, _ variables: [(name: String, value: String?)], _ input: Int32, _ pid: inout pid_t
  ) -> Int32 {
    var (attributes, actions) = (posix_spawnattr_t(), posix_spawn_file_actions_t())
    posix_spawnattr_init(&attributes)
    posix_spawn_file_actions_init(&actions)
    defer {
      posix_spawnattr_destroy(&attributes)
      posix_spawn_file_actions_destroy(&actions)
    }
    if input >= 0 { posix_spawn_file_actions_adddup2(&actions, input, 0) }
    // This program blocks and ignores signals that the command needs.
    var none = Signals.set([])
    var ignored = Signals.set([SIGPIPE, SIGINT, SIGQUIT])
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &ignored)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    return withTexts(["sh", "-c", command]) { arguments in
      withTexts(
        variables.compactMap { name, value in value.map { "\(name)=\($0)" } }, inherited(without: variables.map(\.name))
      ) { environment in
        posix_spawn(&pid, "/bin/sh", &actions, &attributes, arguments, environment)
      }
    }
  }

  /// The variables of this program, which may have any bytes.
  private static func inherited(without names: [String]) -> [UnsafeMutablePointer<CChar>] {
    let starts = names.map { "\($0)=" }
    var entries: [UnsafeMutablePointer<CChar>] = []
    var next = environ
    while let entry = next.pointee {
      if !starts.contains(where: { strncmp(entry, $0, $0.utf8.count) == 0 }) { entries.append(entry) }
      next += 1
    }
    return entries
  }

  /// Passes texts as C does: an array of pointers that ends with a null pointer.
  private static func withTexts(
    _ texts: [String], _ more: [UnsafeMutablePointer<CChar>] = [],
    _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Int32
  ) -> Int32 {
    let copies: [UnsafeMutablePointer<CChar>?] = texts.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(more + copies + [nil])
  }

  /// A file without a name, in memory if the system has a place for it; it is read from its start.
  private static func file(_ text: String) throws(StoreError) -> Int32 {
    let name = "/kept-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    var file = shm_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if file >= 0 {
      shm_unlink(name)
    } else {
      var template = Array("\(Environment.variable("TMPDIR") ?? "/tmp")\(name)-XXXXXX".utf8CString)
      file = mkstemp(&template)
      if file >= 0 { unlink(template) }
    }
    guard file >= 0 else {
      throw StoreError(.unavailable, "the input of the command cannot be created: \(String(cString: strerror(errno)))")
    }
    do throws(StoreError) { try File.write(text, to: file, "the input of the command") } catch {
      close(file)
      throw error
    }
    lseek(file, 0, SEEK_SET)
    return file
  }
}
