// Words of a command line that a person copies from a remedy.

import KeptValues

enum ShellWords {
  /// The words as every POSIX shell reads them.
  static func text(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }

  private static func quoted(_ word: String) -> String {
    if !word.utf8.isEmpty, word.utf8.allSatisfy(isPlain) { return word }
    guard DisplayText.escapes(word) else {
      let parts = word.utf8.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
      return "'" + parts.map { String(Substring($0)) }.joined(separator: "'\\''") + "'"
    }
    // A shell would drop it; a person reads this, and a shell refuses it.
    if word.utf8.last == UInt8(ascii: "\n") { return "(a name that ends in a line break)" }
    // A terminal does not show everything in it, so it is written as bytes that can be copied.
    let bytes = word.utf8.map { byte in
      isPlain(byte) ? String(Unicode.Scalar(byte)) : "\\" + String(Int(byte) + 0o1000, radix: 8).dropFirst()
    }
    return "\"$(printf -- '\(bytes.joined())')\""
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch Unicode.Scalar(byte) {
    case "a"..."z", "A"..."Z", "0"..."9", "_", "-", ".", "/", ":", "@", "+", ",": true
    default: false
    }
  }
}
