// Converts bytes to text, if all of them are valid UTF-8, and compares text by its bytes.
//
// Swift's own `String(validating:as:)` is not used: its first call looks up generic metadata behind a lock of the Swift
// runtime that identifies its owner by a thread id stored in a thread-local variable. In a child after a fork, the main
// thread still has its parent's id, and two threads that made their first call together deadlocked (seen in
// Tests/robustness/torture, once in thousands of rounds).

import CPlatform

extension String {
  /// Whether the first bytes are these.
  ///
  /// `hasPrefix` compares Characters: a slash and the combining mark behind it are one, which is not a slash.
  @usableFromInline package func begins(with start: String) -> Bool { has(start, atEnd: false) }

  /// Whether the last bytes are these.
  package func ends(with end: String) -> Bool { has(end, atEnd: true) }

  // Not inlined, nor generic: the library would have it many times.
  @inline(never)
  private func has(_ part: String, atEnd: Bool) -> Bool {
    ExactString(self).withBytes { own in
      ExactString(part).withBytes { part in
        guard part.count <= own.count, let whole = own.baseAddress, let some = part.baseAddress else {
          return part.isEmpty
        }
        return kept_same_bytes(atEnd ? whole + (own.count - part.count) : whole, some, part.count)
      }
    }
  }
}

extension String {
  /// The text of some bytes; nil if they are not UTF-8.
  package init?(exactly bytes: UnsafeBufferPointer<UInt8>) {
    var text = String(decoding: bytes, as: UTF8.self)
    // Invalid bytes were repaired, so the bytes of the text differ.
    let isExact = text.withUTF8 { read in
      guard read.count == bytes.count, let own = read.baseAddress, let given = bytes.baseAddress else {
        return read.isEmpty && bytes.isEmpty
      }
      return memcmp(own, given, bytes.count) == 0
    }
    guard isExact else { return nil }
    self = text
  }
}
