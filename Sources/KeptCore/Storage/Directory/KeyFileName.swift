// The file name of a key: every key has exactly one, also on file systems that ignore case or Unicode normalization.

import KeptValues

/// The path of a key's file in the folder of a `DirectoryStorage`.
///
/// `audio.volume` is `audio.volume.json`. Lower-case letters, digits, `-`, `_` and dots are written as they are, except
/// a dot at the beginning; any other byte is `%` and two lower-case hexadecimal digits. A name that is too long for one
/// file is split after each 200 bytes: all pieces but the last are folders, and end in `%`.
enum KeyFileName {
  static let ending = ".json"
  private static let pieceBytes = 200
  /// The most pieces of a path: each byte of a key takes three bytes at most, and a piece is nearly full.
  static let mostPieces = 3 * Limits.keyBytes / (pieceBytes - 2)
  private static let percent = UInt8(ascii: "%")
  private static let digits = Array("0123456789abcdef".utf8)

  /// The path relative to the folder.
  static func path(of key: KeyName) -> String {
    var path: [UInt8] = []
    var room = pieceBytes
    for byte in key.text.utf8 {
      let escaped = isLiteral(byte) ? [byte] : [percent, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      if escaped.count > room {
        path += [percent, UInt8(ascii: "/")]
        room = pieceBytes
      }
      // A dot at the beginning of a piece would make it a hidden file.
      let written = room == pieceBytes && byte == UInt8(ascii: ".") ? [percent, digits[2], digits[14]] : escaped
      path += written
      room -= written.count
    }
    return String(decoding: path, as: UTF8.self) + ending
  }

  /// The key of a file with a relative path; nil if it does not belong to a key.
  static func key(at path: String) -> KeyName? {
    guard path.ends(with: ending) else { return nil }
    var bytes: [UInt8] = []
    var rest = Array(path.utf8.dropLast(ending.utf8.count))[...]
    while let byte = rest.popFirst() {
      guard byte == percent else {
        bytes.append(byte)
        continue
      }
      if rest.first == UInt8(ascii: "/") {
        rest.removeFirst()
        continue
      }
      guard let high = rest.popFirst().flatMap({ digits.firstIndex(of: $0) }),
        let low = rest.popFirst().flatMap({ digits.firstIndex(of: $0) })
      else { return nil }
      bytes.append(UInt8(high << 4 | low))
    }
    guard let text = String(validating: bytes, as: UTF8.self), let key = try? KeyName(text),
      Self.path(of: key) == path
    else { return nil }
    return key
  }

  /// Whether a folder may hold files of long keys.
  static func isPiece(_ name: String) -> Bool { name.utf8.last == percent && !name.begins(with: ".") }

  private static func isLiteral(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."): true
    default: false
    }
  }
}
