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
  private static let length = 48
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
    guard let head = bytes.part(from: offset, Self.length) else { return nil }
    func word(_ number: Int) -> UInt64 { head.number(8 * number, UInt64.self) ?? 0 }
    self.init(store: StoreID(high: word(2), low: word(3)), journal: word(4), number: word(5))
    guard withEncoded({ $0.elementsEqual(head) }) else { return nil }
  }

  /// Calls `body` with the bytes of the head.
  private func withEncoded<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    var words = (
      Self.magic.littleEndian, Self.format.littleEndian, store.high.littleEndian, store.low.littleEndian,
      journal.littleEndian, number.littleEndian
    )
    let sum = withUnsafeBytes(of: words) { $0.checksum }
    words.1 |= (UInt64(sum) << 32).littleEndian
    return withUnsafeBytes(of: words, body)
  }

  func write(to file: StoreFile) throws(StoreError) {
    let head = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.frames, alignment: 8)
    defer { head.deallocate() }
    head.initializeMemory(as: UInt8.self, repeating: 0)
    withEncoded { bytes in
      for start in [0, Self.copy] { UnsafeMutableRawBufferPointer(rebasing: head[start...]).copyMemory(from: bytes) }
    }
    try file.write(UnsafeRawBufferPointer(head), at: 0)
  }
}
