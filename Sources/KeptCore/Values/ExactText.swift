// Converts bytes to text, if all of them are valid UTF-8.
//
// Swift's own `String(validating:as:)` is not used: its first call looks up generic metadata behind a lock of the Swift
// runtime that identifies its owner by a thread id stored in a thread-local variable. In a child after a fork, the main
// thread still has its parent's id, and two threads that made their first call together deadlocked (seen in
// Tests/Robustness/Torture, once in thousands of rounds).

import CPlatform

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
