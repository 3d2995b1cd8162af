// The memory of the blocks of a checkpoint that were read. The images of the process are never freed: a reader that
// comes late may look into one that has another checkpoint by then, and finds that the sequence number has changed.

package import CPlatform
import KeptSystem
import KeptValues

/// The memory of one checkpoint; the last reference returns it to those that are spare.
///
/// Thread-safe: a reader checks the mark of a block first, and a writer sets the mark after it has written the block.
package final class Image: @unchecked Sendable {
  /// For readers without a lock.
  package let words: UnsafeMutablePointer<kept_image>

  /// Takes an image for as many blocks.
  ///
  /// Throws `failed` without address space for them.
  init(blocks: Int) throws(StoreError) {
    words = try Images.ofThisProcess.take(blocks: UInt64(blocks))
  }

  deinit { Images.ofThisProcess.put(words) }

  /// Shows readers where the hash table is, and how many keys there are.
  func describe(_ header: ValuesHeader) {
    (words.pointee.seed, words.pointee.table) = (header.seed, 1 + header.recordBlocks)
    words.pointee.slots = UInt64(header.slots)
    words.pointee.place_count = Images.places(for: header.keys, of: words.pointee)
  }

  /// Remembers the place of a record whose bytes it has.
  func remember(_ key: PreparedBytes, _ record: Record) {
    guard let start = record.key.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
    kept_image_remember(words, key.hash, start - Record.headBytes)
  }

  /// Whether a block was read and verified.
  @inline(__always)
  func has(_ block: Int) -> Bool { kept_image_has(words, UInt64(block), words.pointee.use) }

  /// Whether all blocks were read that have some bytes.
  func has(_ offset: Int, _ count: Int) -> Bool { Self.blocks(offset, count).allSatisfy(has) }

  /// The blocks that have some bytes.
  static func blocks(_ offset: Int, _ count: Int) -> ClosedRange<Int> {
    offset / ValuesFormat.blockBytes...(offset + max(count, 1) - 1) / ValuesFormat.blockBytes
  }

  /// The bytes from an offset on, of blocks that it has.
  @inline(__always)
  func bytes(_ offset: Int, _ count: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: words.pointee.memory + offset, count: count)
  }

  /// Whether a block that it does not have was asked for before.
  func isNeededAgain(_ block: Int) -> Bool {
    let (mark, asked) = (words.pointee.marks + block, ~words.pointee.use)
    let found = kept_load64(mark)
    // Another thread may have added it.
    return found == asked || found == words.pointee.use || !kept_exchange64(mark, found, asked)
  }

  /// The memory of blocks that it does not have.
  func memory(_ block: Int, count: Int) -> UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(
      start: words.pointee.memory + block * ValuesFormat.blockBytes, count: count * ValuesFormat.blockBytes)
  }

  /// Adds a block whose bytes are in its memory.
  ///
  /// One thread at a time may call this.
  func mark(_ block: Int) { kept_store64(words.pointee.marks + block, words.pointee.use) }
}

/// The images without a checkpoint.
private final class Images: Sendable {
  private struct State: @unchecked Sendable {
    var spare: [UnsafeMutablePointer<kept_image>] = []
    var uses: UInt64 = 0
  }
  private let state = Monitor(State())

  static let ofThisProcess = Images()

  private static let leastBlocks: UInt64 = 32

  func take(blocks: UInt64) throws(StoreError) -> UnsafeMutablePointer<kept_image> {
    try state.updateQuietly { state throws(StoreError) in
      state.uses += 1
      let fitting = state.spare.indices.filter { state.spare[$0].pointee.capacity >= blocks }
      let smallest = fitting.min { state.spare[$0].pointee.capacity < state.spare[$1].pointee.capacity }
      let words = if let smallest { state.spare.remove(at: smallest) } else { try Self.make(blocks) }
      words.pointee.use = state.uses
      return words
    }
  }

  func put(_ words: UnsafeMutablePointer<kept_image>) {
    // No block has this mark. The marks are memory of the image too, and zeros in most cases.
    words.pointee.use = .max
    if !kept_engine_empty(words.pointee.memory, Self.bytes(words.pointee.capacity)) {
      words.pointee.places.update(repeating: 0, count: Self.places(words.pointee.capacity))
    }
    state.updateQuietly { $0.spare.append(words) }
  }

  /// Makes an image whose capacity is a power of two, so that it also serves checkpoints that are a little longer.
  private static func make(_ blocks: UInt64) throws(StoreError) -> UnsafeMutablePointer<kept_image> {
    var capacity = leastBlocks
    while capacity < blocks { capacity *= 2 }
    guard let memory = kept_engine_memory(bytes(capacity)) else {
      throw StoreError(
        .failed,
        "not enough address space to read a store (\(bytes(capacity)) bytes are needed); raise the limit of the "
          + "process (ulimit -v)")
    }
    let blockBytes = Int(capacity) * ValuesFormat.blockBytes
    let words = UnsafeMutableRawPointer.allocate(byteCount: lineBytes, alignment: lineBytes)
      .initializeMemory(as: kept_image.self, repeating: kept_image(), count: 1)
    words.pointee.memory = memory.assumingMemoryBound(to: UInt8.self)
    // After the eight bytes that a reader of text may read beyond its end.
    words.pointee.marks = (memory + blockBytes + 8).assumingMemoryBound(to: UInt64.self)
    words.pointee.places = (memory + blockBytes + 8 + Int(capacity) * 8).assumingMemoryBound(to: UInt32.self)
    words.pointee.capacity = capacity
    words.pointee.place_mask = capacity * UInt64(ValuesFormat.blockBytes / 8) - 1
    return words
  }

  private static let lineBytes = 128

  private static func bytes(_ capacity: UInt64) -> Int {
    Int(capacity) * (ValuesFormat.blockBytes + 8) + 8 + places(capacity) * 4
  }

  private static func places(_ capacity: UInt64) -> Int { Int(capacity) * Int(KEPT_PLACES) + Int(KEPT_PLACE_PROBES) }

  /// How many places a checkpoint with a number of keys uses: enough for most searches to end at the first one, unless
  /// that takes much memory.
  static func places(for keys: UInt64, of words: kept_image) -> UInt64 {
    // A place has 32 bits.
    guard words.place_mask <= UInt32.max else { return 0 }
    let count = keys.multipliedReportingOverflow(by: keys < manyKeys ? 8 : 2).partialValue
    return min(count, words.capacity * UInt64(KEPT_PLACES))
  }

  private static let manyKeys: UInt64 = 1 << 14
}
