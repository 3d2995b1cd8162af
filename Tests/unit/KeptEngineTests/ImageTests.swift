// Reading the memory of a checkpoint without a lock: the numbers in it may be of another checkpoint.

import CPlatform
import Testing

@Suite struct ImageTests {
  /// Searches a key in an image of two blocks, whose hash table says that the record is in `block`.
  private func search(recordIn block: Int) -> Int? {
    let key = Array("key".utf8), blockBytes = Int(KEPT_BLOCK_BYTES), use: UInt64 = 7, slots: UInt64 = 512
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 4 * blockBytes + 8, alignment: 8)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: 4 * blockBytes + 8)
    // Marks beyond those of the image look like its own.
    var marks = [UInt64](repeating: use, count: 4)
    defer { memory.deallocate() }
    let record = memory + block * blockBytes
    record.storeBytes(of: UInt32(key.count), toByteOffset: 4, as: UInt32.self)
    (record + Int(KEPT_RECORD_BYTES)).copyMemory(from: key, byteCount: key.count)
    let hash = kept_hash(key, key.count, 0), low: UInt64 = (1 << 40) - 1
    let slot = Int(((hash & low) * slots) >> 40)
    (memory + blockBytes).storeBytes(
      of: hash & ~low | UInt64(block * blockBytes / 8), toByteOffset: slot * 8, as: UInt64.self)
    return marks.withUnsafeMutableBufferPointer { marks in
      var image = kept_image()
      image.memory = memory.assumingMemoryBound(to: UInt8.self)
      (image.marks, image.capacity, image.use, image.table, image.slots) = (marks.baseAddress, 2, use, 1, slots)
      return kept_image_search(&image, key, key.count).record.map { UnsafeRawPointer($0) - UnsafeRawPointer(memory) }
    }
  }

  @Test func aRecordIsFoundInABlockOfTheImage() { #expect(search(recordIn: 0) == 0) }

  @Test func aPlaceBeyondTheMemoryOfTheImageIsNotRead() { #expect(search(recordIn: 3) == nil) }
}
