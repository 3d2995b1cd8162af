// Finds the frames behind damage in a journal. The checksum of a frame covers that of the frame before, which is stored
// there: so a frame verifies although the one before it is damaged elsewhere.

import CPlatform
import KeptSystem
import KeptValues

/// A copy of the ring of a damaged journal.
struct DamagedJournal {
  private let header: JournalHeader
  private let ring: [UInt8]
  /// Where the frames end that count; nil if that is not known.
  private let end: JournalPosition?

  init(_ file: JournalFile, end: JournalPosition?) throws(StoreError) {
    header = file.header
    self.end = end
    try Memory.ask(for: file.header.size, to: "read \(shown: file.path)")
    var ring = [UInt8](repeating: 0, count: file.header.size)
    _ = try ring.withUnsafeMutableBytes { bytes in
      Result { () throws(StoreError) in
        try JournalFile.read(file.descriptor, file.path, into: bytes, at: JournalHeader.ringOffset)
      }
    }.get()
    self.ring = ring
  }

  /// Returns the place of the first frame behind one that does not verify; nil if there is none.
  func place(behind damaged: FramePlace) -> FramePlace? {
    if let end, damaged.position >= end { return nil }
    let size = UInt64(header.size)
    let limit = end ?? damaged.position + size
    // Frames that are a whole round older were overwritten.
    let start = max(damaged.position, limit > size ? limit - size : 0)
    return ring.withUnsafeBytes { ring in
      if start == damaged.position, let next = successor(of: damaged, below: limit, ring) { return next }
      // Without the end, frames of a writer that was killed before it published them would count.
      guard end != nil else { return nil }
      for position in stride(from: start, to: limit, by: 8) {
        guard let (length, checksum) = head(at: position, ring), position + length < limit else { continue }
        let next = FramePlace(journal: header.journal, position: position + length, previous: checksum)
        if verifies(next, ring) { return next }
      }
      return nil
    }
  }

  /// The frame that follows directly: the damage may be in the length of the damaged one, or in its checksum.
  private func successor(
    of damaged: FramePlace, below limit: JournalPosition, _ ring: UnsafeRawBufferPointer
  ) -> FramePlace? {
    let bytes = rest(from: damaged.position, ring)
    guard bytes.count >= 8 else { return nil }
    let word = UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self))
    var checksums = [UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self))]
    let length = word & 7 == 1 ? FrameFormat.paddingBytes : Int(word & ~7)
    if length <= bytes.count { checksums.append(damaged.checksum(of: bytes, upTo: length)) }
    for position in stride(from: damaged.position + 8, to: limit, by: 8) {
      for checksum in checksums {
        let next = FramePlace(journal: header.journal, position: position, previous: checksum)
        if verifies(next, ring) { return next }
      }
    }
    return nil
  }

  private func head(
    at position: JournalPosition, _ ring: UnsafeRawBufferPointer
  ) -> (length: UInt64, checksum: UInt32)? {
    let bytes = rest(from: position, ring)
    guard bytes.count >= 8 else { return nil }
    let word = UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self))
    let length = Int(word & ~7)
    guard word & 7 <= 1, length >= 8, length <= bytes.count else { return nil }
    return (UInt64(length), UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
  }

  private func verifies(_ place: FramePlace, _ ring: UnsafeRawBufferPointer) -> Bool {
    FrameReader(rest(from: place.position, ring), at: place) != nil
  }

  /// The bytes from a position to the end of the ring.
  private func rest(from position: JournalPosition, _ ring: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    guard position >= header.begin else { return UnsafeRawBufferPointer(start: nil, count: 0) }
    return UnsafeRawBufferPointer(rebasing: ring[(header.offset(of: position) - JournalHeader.ringOffset)...])
  }
}
