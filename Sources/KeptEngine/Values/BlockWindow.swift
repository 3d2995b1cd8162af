// Blocks of a checkpoint in memory of their own.

import KeptValues

/// Blocks that follow each other, for a reading that need not fill the image.
///
/// Not thread-safe.
package final class BlockWindow {
  private let values: ValuesReader
  private let bytes = ByteBuffer(to: "read a checkpoint")
  private var first = 0
  // More each time, as a listing may end soon.
  private var ahead: Int
  private let mostAhead: Int

  /// - Parameter mostAhead: how many blocks it reads at once, though fewer are needed.
  package init(_ values: ValuesReader, mostAhead: Int = 1) {
    (self.values, self.mostAhead, ahead) = (values, mostAhead, min(4, mostAhead))
  }

  /// Whether it was needed.
  package var isUsed: Bool { bytes.count > 0 }

  /// Whether the blocks in it begin with a block.
  func begins(with block: Int) -> Bool { isUsed && first == block }

  /// Returns blocks, verified, until the next call.
  func read(_ block: Int, count: Int) throws(StoreError) -> UnsafeRawBufferPointer {
    let last = values.header.blocks
    guard count <= last + 1 - block else {
      throw ValuesReader.damaged(values.path, "block \(block) has a malformed record")
    }
    if let found = try values.inImage(block, count: count) { return found }
    if part(block, count) == nil {
      if block != first { bytes.removeAll() }
      first = block
      let present = bytes.count / ValuesFormat.blockBytes
      let blocks = max(count, min(ahead, last + 1 - block)) - present
      do throws(StoreError) {
        try values.read(block + present, into: try bytes.add(blocks * ValuesFormat.blockBytes))
      } catch {
        bytes.removeAll()
        throw error
      }
      ahead = min(2 * ahead, mostAhead)
    }
    for index in block..<block + count {
      if let bytes = part(index, 1) { try values.verify(index, bytes) }
    }
    return part(block, count) ?? UnsafeRawBufferPointer(start: nil, count: 0)
  }

  private func part(_ block: Int, _ count: Int) -> UnsafeRawBufferPointer? {
    bytes.bytes.part(from: (block - first) * ValuesFormat.blockBytes, count * ValuesFormat.blockBytes)
  }
}
