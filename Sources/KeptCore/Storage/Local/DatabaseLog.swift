// Reads a write-ahead log as described in "WAL File Format" in SQLite's documentation: the pages of all committed
// transactions in it. The log may be damaged or hostile.

import CSQLite
import KeptSystem
import KeptValues

/// The log of a database, up to its last commit.
struct DatabaseLog {
  static let headerBytes = 32
  private static let frameHeaderBytes = 24

  private let bytes: [UInt8]
  private let pageSize: Int
  /// The number of pages of the database after the last commit.
  private let pages: Int
  /// The offset in the log of the newest content of each page; pages are numbered from 1.
  private let places: [Int: Int]

  /// Returns nil if the log has no commit.
  init?(_ bytes: [UInt8], _ path: String) throws(StoreError) {
    guard bytes.count >= Self.headerBytes, Self.number(bytes, 0) | 1 == 0x377F_0683 else { return nil }
    let isBigEndian = bytes[3] & 1 == 1
    let size = Int(Self.number(bytes, 8))
    guard (512...65536).contains(size), size & (size - 1) == 0 else { return nil }
    var sum = Checksum(isBigEndian: isBigEndian)
    sum.add(bytes[0..<24])
    guard sum.first == Self.number(bytes, 24), sum.second == Self.number(bytes, 28) else { return nil }
    guard Self.number(bytes, 4) == 3_007_000 else {
      throw StoreError(
        .unsupported, "the log of \(shown: path) has a format that Kept does not know; update the program")
    }
    var (places, uncommitted): ([Int: Int], [(page: Int, place: Int)]) = ([:], [])
    var (start, pages) = (Self.headerBytes, 0)
    while start + Self.frameHeaderBytes + size <= bytes.count {
      let content = start + Self.frameHeaderBytes
      guard bytes[start + 8..<start + 16] == bytes[16..<24] else { break }
      sum.add(bytes[start..<start + 8])
      sum.add(bytes[content..<content + size])
      let page = Int(Self.number(bytes, start))
      guard page > 0, sum.first == Self.number(bytes, start + 16), sum.second == Self.number(bytes, start + 20) else {
        break
      }
      uncommitted.append((page, content))
      let count = Int(Self.number(bytes, start + 4))
      if count > 0 {
        for frame in uncommitted { places[frame.page] = frame.place }
        (uncommitted, pages) = ([], count)
      }
      start = content + size
    }
    guard pages > 0 else { return nil }
    (self.bytes, pageSize, self.pages, self.places) = (bytes, size, pages, places)
  }

  /// The size of the database after the last commit; throws `corrupt` if some of its pages are missing.
  func size(over database: [UInt8], _ path: String) throws(StoreError) -> Int {
    let (whole, locked) = (database.count / pageSize, 0x4000_0000 / pageSize + 1)
    // Bounded by the bytes read: each missing page must be in the log, except the one that SQLite locks.
    let missing = max(0, pages - whole)
    let isWhole =
      missing <= places.count + 1
      && (0..<missing).allSatisfy { places[whole + 1 + $0] != nil || whole + 1 + $0 == locked }
    guard isWhole else {
      throw StoreError(
        .corrupt, "the database \(shown: path) is truncated; to salvage it, open the store with write access")
    }
    return pages * pageSize
  }

  /// Throws `corrupt` if it is the log of another database: if its pages have another size or salt.
  func checkOrigin(_ database: [UInt8], _ path: String) throws(StoreError) {
    let size = database.count < KEPT_HEADER_BYTES ? 0 : Int(kept_checked_page_size(database))
    // Other databases have no salt; in a damaged page it may be another.
    guard size > 0, database.count >= size, kept_page_verifies(database, UInt32(size), 1) != 0 else { return }
    let salt = database[size - Int(KEPT_RESERVED_BYTES)..<size - 4]
    let isOwn =
      size == pageSize
      && places.values.allSatisfy { place in
        let end = place + size
        return bytes[end - Int(KEPT_RESERVED_BYTES)..<end - 4] == salt
      }
    guard isOwn else {
      throw StoreError(
        .corrupt,
        "the log next to the database \(shown: path) belongs to another database; to salvage it, open the store "
          + "with write access")
    }
  }

  func apply(to memory: UnsafeMutableRawBufferPointer) {
    for (page, place) in places where page <= pages {
      let start = (page - 1) * pageSize
      UnsafeMutableRawBufferPointer(rebasing: memory[start..<start + pageSize])
        .copyBytes(from: bytes[place..<place + pageSize])
    }
  }

  private static func number(_ bytes: [UInt8], _ index: Int) -> UInt32 {
    bytes[index..<index + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// "Checksum Algorithm": over 4-byte words, two at a time.
  private struct Checksum {
    let isBigEndian: Bool
    var first: UInt32 = 0
    var second: UInt32 = 0

    init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

    mutating func add(_ bytes: ArraySlice<UInt8>) {
      var (first, second) = (first, second)
      bytes.withUnsafeBytes { bytes in
        for index in stride(from: 0, to: bytes.count, by: 8) {
          let one = bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self)
          let two = bytes.loadUnaligned(fromByteOffset: index + 4, as: UInt32.self)
          first = first &+ (isBigEndian ? UInt32(bigEndian: one) : UInt32(littleEndian: one)) &+ second
          second = second &+ (isBigEndian ? UInt32(bigEndian: two) : UInt32(littleEndian: two)) &+ first
        }
      }
      (self.first, self.second) = (first, second)
    }
  }
}
