// Where passphrases come from: a file, the terminal or standard input. Other users can see the words of a command.

import Glibc
import Kept

enum Passphrase {
  /// The file with the passphrase of the store, if one is named.
  nonisolated(unsafe) static var file: String?
  /// Whether a person at a terminal may be asked for the passphrase of the store: if the command needs a secret.
  nonisolated(unsafe) static var isAskedFor = false
  nonisolated(unsafe) private static var wasAskedFor = false

  /// The passphrase of the store, for reading or storing a secret that no other provider unlocks; nil if none is given.
  static func whenNeeded() throws(StoreError) -> String? {
    if let known = try inNamedFile() { return known }
    guard isAskedFor, !wasAskedFor, HiddenInput.isTerminal else { return nil }
    wasAskedFor = true
    return try HiddenInput.passphrase("passphrase of the store")
  }

  /// The passphrase of the store, which is asked for if no file has it.
  static func ofStore(_ what: String = "passphrase of the store") throws(StoreError) -> String {
    if let known = try inNamedFile() { return known }
    return try HiddenInput.passphrase(what)
  }

  /// The passphrase in the file that was named; nil if none was.
  static func inNamedFile() throws(StoreError) -> String? {
    guard let path = file ?? Environment.variable("KEPT_PASSPHRASE_FILE") else { return nil }
    return try read(path)
  }

  /// The first line of a file that no other user can read.
  static func read(_ path: String) throws(StoreError) -> String {
    var status = stat()
    if stat(path, &status) == 0, status.st_mode & 0o077 != 0 {
      throw StoreError(
        .denied, "other users can read or write \(path), which has a passphrase; run chmod 600 on it, and replace it")
    }
    let line = try File.bytes(of: path, atMost: 1 << 16).prefix { $0 != UInt8(ascii: "\n") }
    guard let text = String(validating: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self),
      !text.isEmpty
    else { throw StoreError(.invalid, "the first line of \(path) is not a passphrase; write one in UTF-8") }
    return text
  }
}
