// Runs a command of the user and waits for it.

import Glibc

enum Shell {
  /// Runs a command with further variables; a NUL in a value ends it there, as everywhere in an environment.
  /// - Returns: its exit status; 128 and the signal if one has ended it; nil if it could not be started.
  @discardableResult
  static func run(_ command: String, _ variables: [(String, String)] = []) -> Int32? {
    let names = variables.map { $0.0 + "=" }
    var inherited: [String] = []
    var next = environ
    while let entry = next.pointee {
      let text = String(cString: entry)
      if !names.contains(where: text.hasPrefix) { inherited.append(text) }
      next += 1
    }
    var pid = pid_t()
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // This program blocks and ignores signals that the command needs.
    var none = Signals.set([])
    var ignored = Signals.set([SIGPIPE, SIGINT, SIGQUIT])
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &ignored)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    let started = withTexts(["sh", "-c", command]) { arguments in
      withTexts(inherited + variables.map { $0 + "=" + $1 }) { environment in
        posix_spawn(&pid, "/bin/sh", nil, &attributes, arguments, environment)
      }
    }
    guard started == 0 else {
      Failure.print("\(command): cannot be started: \(String(cString: strerror(started)))")
      return nil
    }
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0 {
      guard errno == EINTR else { return nil }
    }
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
  }

  /// Passes texts as C does: an array of pointers that ends with a null pointer.
  private static func withTexts(
    _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Int32
  ) -> Int32 {
    var copies: [UnsafeMutablePointer<CChar>?] = texts.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    copies.append(nil)
    return body(&copies)
  }
}
