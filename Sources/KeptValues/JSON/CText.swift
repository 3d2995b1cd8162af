// A growing text in memory from C's allocator, so that an allocation failure is an error: Swift's own arrays would end
// the process.

import CPlatform

/// UTF-8 text that is written in parts.
///
/// Only ``made(_:)`` and ``lent(_:)`` create it; they pass it to C or free it.
package struct CText: JSONSink {
  // nil before the first byte, and if the bytes are only counted.
  private var start: UnsafeMutablePointer<UInt8>?
  package private(set) var count = 0
  private var capacity = 0
  private var isOut = false

  /// Text with a terminating NUL, which C frees with free().
  ///
  /// Throws what `write` throws, and `failed` if there is not enough memory.
  package static func made(
    _ write: (inout CText) throws(StoreError) -> Void
  ) throws(StoreError) -> UnsafeMutablePointer<CChar> {
    var text = CText()
    do throws(StoreError) {
      try write(&text)
      return try text.ended()
    } catch {
      free(text.start)
      throw error
    }
  }

  /// Text that exists only during the call of `body`.
  ///
  /// Throws what `write` and `body` throw, and `failed` if there is not enough memory.
  package static func lent<T>(
    _ write: (inout CText) throws(StoreError) -> Void,
    to body: (UnsafeBufferPointer<UInt8>) throws(StoreError) -> T
  ) throws(StoreError) -> T {
    var text = CText()
    defer { free(text.start) }
    try write(&text)
    try text.check()
    return try text.withBytes(body)
  }

  /// The number of bytes of a text, without keeping them.
  static func counted(_ write: (inout CText) -> Void) -> Int {
    var text = CText()
    text.capacity = .max
    write(&text)
    return text.count
  }

  /// The bytes, valid during the call.
  package func withBytes<T, Failure: Error>(
    _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> T
  ) throws(Failure) -> T {
    try body(UnsafeBufferPointer(start: start, count: count))
  }

  /// Throws `failed` if something could not be written; later text is not written either.
  package func check() throws(StoreError) {
    guard !isOut else {
      throw StoreError(
        .failed,
        "not enough memory for a string of more than \(capacity) bytes, and nothing was changed; free some memory and "
          + "try again"
      )
    }
  }

  package mutating func append(_ byte: UInt8) {
    guard hasRoom(for: 1) else { return }
    start?[count] = byte
    count += 1
  }

  package mutating func append(contentsOf bytes: UnsafeBufferPointer<UInt8>) {
    guard hasRoom(for: bytes.count) else { return }
    if let start, let first = bytes.baseAddress { memcpy(start + count, first, bytes.count) }
    count += bytes.count
  }

  /// Appends text as it is.
  package mutating func write(_ text: String) { append(text) }

  /// Reserves room for a number of bytes, so that writing them cannot fail.
  package mutating func reserve(_ count: Int) throws(StoreError) {
    _ = hasRoom(for: count)
    try check()
  }

  /// Discards the text and keeps the memory for later text.
  package mutating func removeAll() { count = 0 }

  /// Makes room for a number of additional bytes, and a NUL.
  private mutating func hasRoom(for more: Int) -> Bool {
    if !isOut, capacity - count > more { return true }
    return !isOut && grow(to: count + more + 1)
  }

  @inline(never)
  private mutating func grow(to needed: Int) -> Bool {
    // Doubles the capacity, so that a long text is not copied repeatedly; or takes only the needed size, if there is no
    // more memory.
    let generous = max(needed, 2 * capacity, 128)
    if let grown = kept_resized_memory(start, generous) {
      (start, capacity) = (grown.assumingMemoryBound(to: UInt8.self), generous)
    } else if let grown = kept_resized_memory(start, needed) {
      (start, capacity) = (grown.assumingMemoryBound(to: UInt8.self), needed)
    } else {
      isOut = true
    }
    return !isOut
  }

  private mutating func ended() throws(StoreError) -> UnsafeMutablePointer<CChar> {
    append(0)
    try check()
    // The unused memory of a long text is released.
    if capacity - count > 4096, let shrunk = kept_resized_memory(start, count) {
      start = shrunk.assumingMemoryBound(to: UInt8.self)
    }
    guard let start else { throw StoreError(.failed, "not enough memory for a string; free some memory") }
    return UnsafeMutableRawPointer(start).assumingMemoryBound(to: CChar.self)
  }
}

extension Value {
  /// The canonical JSON of the value, which C frees with free().
  ///
  /// Throws `failed` if there is not enough memory.
  package func newCText() throws(StoreError) -> UnsafeMutablePointer<CChar> {
    try CText.made { text throws(StoreError) in write(to: &text) }
  }
}
