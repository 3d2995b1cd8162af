// Standard input as a whole, or line by line.

import Glibc
import Kept

enum StandardInput {
  /// Everything that comes, as text.
  static func text(dropsLastLineBreak: Bool) throws(StoreError) -> String {
    var bytes = try bytes()
    if dropsLastLineBreak, bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw .refused(nil, "standard input is not UTF-8; encode it as UTF-8, or as base64 for a key of bytes")
    }
    return text
  }

  static func bytes() throws(StoreError) -> [UInt8] {
    var bytes: [UInt8] = []
    while let part = try read() { bytes += part }
    return bytes
  }

  /// The next bytes; nil at the end.
  static func read() throws(StoreError) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = Glibc.read(0, &buffer, buffer.count)
      if count > 0 { return Array(buffer[..<count]) }
      if count == 0 { return nil }
      guard errno == EINTR else {
        throw StoreError(.unavailable, "standard input cannot be read: \(String(cString: strerror(errno)))")
      }
    }
  }
}
