// What went wrong, as one sentence on standard error.

import ArgumentParser
import Glibc
import Kept

enum Failure {
  /// Prints one line with the program's name before it; line breaks from keys or values are shown, not made.
  static func print(_ message: String) {
    let text = "kept: " + message.parts(at: "\n").map(Shown.line).joined(separator: "\n") + "\n"
    // If this fails, there is no other place to report it.
    _ = text.utf8.withContiguousStorageIfAvailable { Glibc.write(2, $0.baseAddress, $0.count) }
  }

  /// Prints an error, with the store if the command is about several.
  static func print(_ error: StoreError, in store: String? = nil) {
    // Carets are on lines of their own; a key must not begin one.
    let key = error.key.map(Shown.line)
    let sentence = StoreError(error.code, key: key, offset: error.offset, error.message).description
    print((store.map { "\(Excerpt.of($0)): " } ?? "") + sentence)
  }

  static func end(_ error: StoreError) -> Never {
    Output.standard.flush()
    print(error)
    exit(ExitStatus(error.code).rawValue)
  }
}

extension StoreError {
  /// A misuse of the command that only the store's contents show.
  static func refused(_ key: KeyName? = nil, _ message: String) -> StoreError {
    StoreError(.invalid, key: key?.text, message)
  }
}
