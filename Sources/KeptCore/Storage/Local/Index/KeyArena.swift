// The memory for the bytes of the index's keys, which is reused and never freed. A reader of a key that was removed may
// see other bytes, but never memory of another owner.

import CPlatform
import KeptValues

/// An arena that grows by chunks.
///
/// Not thread-safe.
struct KeyArena: @unchecked Sendable {
  private var chunks: [UnsafeMutablePointer<UInt8>] = []
  private var used = 0
  private var offset = chunkSize

  private static let chunkSize = 16_384

  /// Copies a key into the arena.
  mutating func copy(_ key: UnsafeBufferPointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
    if offset + key.count > Self.chunkSize { nextChunk() }
    let copy = chunks[used - 1] + offset
    if let start = key.baseAddress { copy.update(from: start, count: key.count) }
    offset += key.count
    return copy
  }

  /// Removes all keys; their memory is reused.
  mutating func removeAll() { (used, offset) = (0, Self.chunkSize) }

  /// Removes all keys, and returns the memory to the system until it is used again.
  mutating func shrink() {
    for chunk in chunks { kept_give_back(chunk, Self.chunkSize + Limits.keyBytes) }
    removeAll()
  }

  private mutating func nextChunk() {
    if used == chunks.count {
      // A reader during the change of a slot may combine the length of another key with the address of this one.
      let size = Self.chunkSize + Limits.keyBytes
      let chunk = UnsafeMutablePointer<UInt8>.allocate(capacity: size)
      chunk.initialize(repeating: 0, count: size)
      chunks.append(chunk)
    }
    (used, offset) = (used + 1, 0)
  }
}
