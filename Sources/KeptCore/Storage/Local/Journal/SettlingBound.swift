// Up to where the database may have come, in the file `journal`:
//
//   byte 104  position  64 bits
//   byte 112  checksum  32 bits: CRC-32C of the position
//   byte 116  0         32 bits
//
// It is on the disk before the database has come so far. So a journal whose bound is below the place of the database is
// an earlier copy, and what was not settled was in the one that it has replaced.
//
// Only who has the write lock of the database writes it, so it never falls.

import CPlatform

struct SettlingBound {
  var position: JournalPosition

  static let bytes = 16
  /// Where it is in the file.
  static let offset = 104

  /// Throws `corrupt` if a database has come further.
  func check(_ settled: SettledPlace, path: String) throws(StoreError) {
    guard isBelow(settled) else { return }
    throw StoreError(
      .corrupt,
      "\(path) is older than the database beside it: it was replaced by an earlier copy, and later commits are missing")
  }

  func isBelow(_ settled: SettledPlace) -> Bool { position < settled.place.position }

  fileprivate init(_ position: JournalPosition) { self.position = position }

  /// Reads it; nil if there is none, or if it is damaged, which does no harm by itself.
  fileprivate init?(_ words: (UInt64, UInt64)) {
    self.init(UInt64(littleEndian: words.0))
    guard UInt64(littleEndian: words.1) == checksum else { return nil }
  }

  fileprivate var words: (UInt64, UInt64) { (position.littleEndian, checksum.littleEndian) }

  private var checksum: UInt64 {
    withUnsafeBytes(of: position.littleEndian) { UInt64(kept_checksum(0, $0.baseAddress, $0.count)) }
  }
}

extension JournalFile {
  /// Up to where the database may have come; nil if that is not known.
  func bound() throws(StoreError) -> SettlingBound? {
    var words: (UInt64, UInt64) = (0, 0)
    let count = try withUnsafeMutableBytes(of: &words) { bytes in
      Result { () throws(StoreError) in try Self.read(descriptor, path, into: bytes, at: SettlingBound.offset) }
    }.get()
    return count == SettlingBound.bytes ? SettlingBound(words) : nil
  }

  /// Lets the database come to a position, once the file is synced.
  func raiseBound(to position: JournalPosition) throws(StoreError) {
    try withUnsafeBytes(of: SettlingBound(position).words) { bytes in
      Result { () throws(StoreError) in try Self.write(descriptor, path, bytes, at: SettlingBound.offset) }
    }.get()
  }
}
