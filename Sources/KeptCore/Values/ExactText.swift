// Text from bytes that must be UTF-8 to the last one.
//
// Swift's own `String(validating:as:)` is not used: its first call looks up generic metadata behind a lock of the Swift
// runtime that knows its owner by a thread id, and keeps that id in a variable of the thread. In a child after a fork
// the main thread still has its parent's id, and two threads that made their first call together waited for ever (seen
// in Tests/Torture, once in thousands of rounds).

import CPlatform

extension String {
  /// The text of some bytes; nil where they are not UTF-8.
  package init?(exactly bytes: UnsafeBufferPointer<UInt8>) {
    var text = String(decoding: bytes, as: UTF8.self)
    // What is not UTF-8 was repaired, and has other bytes now.
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
