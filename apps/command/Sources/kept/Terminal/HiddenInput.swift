// What a person types at a terminal that does not show it.

import Glibc
import Kept

/// The terminal as it was before; a signal handler reads it.
nonisolated(unsafe) private var shown = termios()

enum HiddenInput {
  static var isTerminal: Bool { isatty(0) == 1 }

  /// Asks for the value of a secret: one line, or with `raw` every byte until the end of the input.
  static func value(of key: KeyName, raw: Bool) throws(StoreError) -> GivenValue {
    let prompt = "value of \(Excerpt.of(key.text)), which is not shown\(raw ? "; Ctrl-D ends it" : ""): "
    let bytes = try hiding(prompt) { () throws(StoreError) in
      try raw ? StandardInput.bytes() : StandardInput.typed()
    }
    guard let bytes else {
      throw .refused(key, "no value was typed, and nothing was changed; press Enter for empty text")
    }
    return try raw ? .bytes(bytes) : .text(StandardInput.text(of: StandardInput.withoutLastLineBreak(bytes)))
  }

  /// Asks for a passphrase; if standard input is not a terminal, its next line is one.
  static func passphrase(_ prompt: String) throws(StoreError) -> String {
    let bytes =
      isTerminal
      ? try hiding("\(prompt), which is not shown: ") { () throws(StoreError) in try StandardInput.typed() }
      : try StandardInput.nextLine()
    guard let bytes else { throw StoreError(.invalid, "no \(prompt) was given, and nothing was changed; type one") }
    return try StandardInput.text(of: StandardInput.withoutLastLineBreak(bytes))
  }

  /// Asks for a new passphrase, at a terminal twice.
  static func newPassphrase(_ whose: String = "") throws(StoreError) -> String {
    let passphrase = try passphrase("new passphrase\(whose.isEmpty ? "" : " of the \(whose)")")
    if isTerminal, try self.passphrase("the same again") != passphrase {
      throw StoreError(.invalid, "the passphrases differ, and nothing was changed; try again")
    }
    return passphrase
  }

  /// Hides the typed text while `body` runs.
  ///
  /// A signal that ends the program makes the terminal show it again first.
  private static func hiding<T>(_ prompt: String, _ body: () throws(StoreError) -> T) throws(StoreError) -> T {
    guard tcgetattr(0, &shown) == 0 else { throw failure() }
    var hidden = shown
    hidden.c_lflag &= ~tcflag_t(ECHO)
    hidden.c_lflag |= tcflag_t(ECHONL)
    let ending: __sighandler_t = { signal in
      tcsetattr(0, TCSANOW, &shown)
      _ = write(2, "\n", 1)
      Glibc.signal(signal, SIG_DFL)
      raise(signal)
    }
    // A command that Ctrl-Z has stopped would leave a terminal that shows nothing.
    return try Signals.ignoring([SIGTSTP]) { () throws(StoreError) in
      try Signals.handling([SIGINT, SIGQUIT, SIGTERM, SIGHUP], ending) { () throws(StoreError) in
        guard tcsetattr(0, TCSAFLUSH, &hidden) == 0 else { throw failure() }
        defer { tcsetattr(0, TCSANOW, &shown) }
        // If it cannot be written, the value can be typed all the same.
        try? File.write(prompt, to: 2, "standard error")
        return try body()
      }
    }
  }

  private static func failure() -> StoreError {
    StoreError(
      .unavailable,
      "the terminal cannot hide the typed text: \(String(cString: strerror(errno))); pass the value through a pipe")
  }
}
