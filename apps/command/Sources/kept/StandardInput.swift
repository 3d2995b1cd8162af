// Standard input as a whole, or line by line.

import Glibc
import Kept

enum StandardInput {
  /// Everything that comes, as text.
  static func text(
    dropsLastLineBreak: Bool, isValue: Bool = false, atMost most: Int = File.most
  ) throws(StoreError) -> String {
    let bytes = try bytes(atMost: most)
    return try text(of: dropsLastLineBreak ? withoutLastLineBreak(bytes) : bytes, isValue: isValue)
  }

  /// Some bytes without the `\n` or `\r\n` at their end.
  static func withoutLastLineBreak(_ bytes: [UInt8]) -> [UInt8] {
    guard bytes.last == UInt8(ascii: "\n") else { return bytes }
    let line = bytes.dropLast()
    return Array(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
  }

  static func text(of bytes: [UInt8], isValue: Bool = true) throws(StoreError) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw .refused(
        nil, "standard input is not UTF-8; convert it\(isValue ? ", or use --raw and --type bytes for bytes" : "")")
    }
    return text
  }

  static func bytes(atMost most: Int = File.most) throws(StoreError) -> [UInt8] {
    var bytes: [UInt8] = []
    while let part = try read() {
      bytes += part
      try File.checkSize(bytes.count, "standard input", most)
    }
    return bytes
  }

  /// What a person has typed; nil at the end, and if a signal ends the waiting.
  static func line() -> String? {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = Glibc.read(0, &buffer, buffer.count)
    return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
  }

  /// Everything that a person types before a line break or the end; nil if that is nothing at all.
  static func typed() throws(StoreError) -> [UInt8]? {
    var bytes: [UInt8] = []
    while bytes.last != UInt8(ascii: "\n"), let part = try read() { bytes += part }
    return bytes.isEmpty ? nil : bytes
  }

  /// The next line, with its end; nil at the end.
  ///
  /// The lines after it can still be read.
  static func nextLine() throws(StoreError) -> [UInt8]? {
    var line: [UInt8] = []
    while line.last != UInt8(ascii: "\n"), let next = try read(atMost: 1) { line += next }
    return line.isEmpty ? nil : line
  }

  /// The next bytes; nil at the end.
  static func read(atMost most: Int = 1 << 16) throws(StoreError) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: most)
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
