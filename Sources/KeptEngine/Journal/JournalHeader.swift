// The head of a file `journal.<n>`, in its first 512 bytes (docs/internals/file-format.md describes it).
//
// The head does not have the position of the first frame: the file is created before that is known. A reader takes it
// from the checkpoint, or from the end of the previous journal.

import CPlatform
import KeptValues

package struct JournalHeader: Equatable, Sendable {
  package var store: StoreID
  package var journal: UInt64
  package var number: UInt64

  /// Where the frames begin in the file: in another sector of the disk, so that no frame is written with the head.
  package static let frames = 512
  static let copy = 256
  private static let words = 6
  private static let magic: UInt64 = 0x6C6E_724A_7470_654B
  private static let format: UInt64 = 2

  package init(store: StoreID, journal: UInt64, number: UInt64) {
    (self.store, self.journal, self.number) = (store, journal, number)
  }

  /// Reads the head of a file; nil if both copies are damaged, incomplete or of another format.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard let found = Self(bytes, at: 0) ?? Self(bytes, at: Self.copy) else { return nil }
    self = found
  }

  /// Reads the copy at an offset.
  init?(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    let words = (0..<Self.words).compactMap { bytes.number(offset + 8 * $0, UInt64.self) }
    guard words.count == Self.words else { return nil }
    self.init(store: StoreID(high: words[2], low: words[3]), journal: words[4], number: words[5])
    guard words == encoded else { return nil }
  }

  /// The words of the head.
  private var encoded: [UInt64] {
    var words = [Self.magic, Self.format, store.high, store.low, journal, number].map(\.littleEndian)
    let sum = words.withUnsafeBytes { $0.checksum }
    words[1] |= (UInt64(sum) << 32).littleEndian
    return words.map { UInt64(littleEndian: $0) }
  }

  func write(to file: StoreFile) throws(StoreError) {
    let head = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.frames, alignment: 8)
    defer { head.deallocate() }
    head.initializeMemory(as: UInt8.self, repeating: 0)
    for (index, word) in encoded.enumerated() {
      for start in [0, Self.copy] {
        head.storeBytes(of: word.littleEndian, toByteOffset: start + 8 * index, as: UInt64.self)
      }
    }
    try file.write(UnsafeRawBufferPointer(head), at: 0)
  }
}
