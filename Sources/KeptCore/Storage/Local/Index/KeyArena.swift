// Where the index keeps the bytes of its keys: memory that is used again and never freed. A reader that still looks at
// a key that was forgotten sees other bytes, but never memory of another owner.

import CPlatform

/// Grows by chunks.
///
/// Not thread-safe.
struct KeyArena: @unchecked Sendable {
  private var chunks: [UnsafeMutablePointer<UInt8>] = []
  private var used = 0
  private var offset = chunkSize

  private static let chunkSize = 16_384

  /// A copy of a key.
  mutating func copy(_ key: UnsafeBufferPointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
    if offset + key.count > Self.chunkSize { nextChunk() }
    let copy = chunks[used - 1] + offset
    if let start = key.baseAddress { copy.update(from: start, count: key.count) }
    offset += key.count
    return copy
  }

  /// Forgets all keys; their memory is used again.
  mutating func removeAll() { (used, offset) = (0, Self.chunkSize) }

  /// The same, and the system has the memory until then.
  mutating func shrink() {
    for chunk in chunks { kept_give_back(chunk, Self.chunkSize + Limits.keyBytes) }
    removeAll()
  }

  private mutating func nextChunk() {
    if used == chunks.count {
      // Who looks while a slot changes may take the length of another key with the place of this one.
      let size = Self.chunkSize + Limits.keyBytes
      let chunk = UnsafeMutablePointer<UInt8>.allocate(capacity: size)
      chunk.initialize(repeating: 0, count: size)
      chunks.append(chunk)
    }
    (used, offset) = (used + 1, 0)
  }
}
