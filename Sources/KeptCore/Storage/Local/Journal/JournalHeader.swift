// The head of the file `journal`, in its first page:
//
//   byte  0  magic      "KeptJrnl"
//   byte  8  format     32 bits: 1
//   byte 12  checksum   32 bits: CRC-32C of the other bytes up to 64
//   byte 16  store      the id of the database it belongs to, 16 bytes
//   byte 32  journal    64 bits: a random number, another one for each journal of a store
//   byte 40  begin      64 bits: the position at which it begins
//   byte 48  size       64 bits: the bytes of the ring, which follows at byte 4096
//   byte 56  0          64 bits
//   byte 64  session    64 bits: the random number of the pulse that belongs to it now, which the checksum leaves out
//   byte 72  mark       what the database has, see SettledMark
//   byte 104 bound      what the database may have, see SettlingBound
//
// Positions never start again: a journal begins where the one before it ended.

import CPlatform

struct JournalHeader: Equatable {
  var store: StoreID
  var journal: UInt64
  var begin: JournalPosition
  var size: Int

  static let bytes = 64
  /// Where the ring begins in the file.
  static let ringOffset = 4096
  /// The size of the first journal of a store.
  static let firstSize = 256 << 10
  /// The largest size; a ring that was too small is doubled up to here.
  static let mostBytes = 8 << 20
  private static let magic: UInt64 = 0x6C6E_724A_7470_654B
  private static let format: UInt32 = 1

  /// Writes the head into memory of at least 64 bytes.
  func encode(into memory: UnsafeMutableRawBufferPointer) {
    var words = [Self.magic, UInt64(Self.format), store.high, store.low, journal, begin, UInt64(size), 0]
    words[1] |= UInt64(Self.checksum(words)) << 32
    for (index, word) in words.enumerated() {
      memory.storeBytes(of: word.littleEndian, toByteOffset: 8 * index, as: UInt64.self)
    }
  }

  /// Reads the head of a file; nil if it is damaged, incomplete or of another format.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= Self.bytes else { return nil }
    var words = (0..<8).map { UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8 * $0, as: UInt64.self)) }
    let sum = UInt32(truncatingIfNeeded: words[1] >> 32)
    words[1] &= 0xFFFF_FFFF
    guard words[0] == Self.magic, words[1] == UInt64(Self.format), Self.checksum(words) == sum
    else { return nil }
    // A right checksum proves nothing about a file that someone else made.
    guard words[5] % 8 == 0, words[5] < Self.mostPosition, let size = Int(exactly: words[6]),
      size % 8 == 0, 4096...Self.mostBytes ~= size
    else { return nil }
    self.init(
      store: StoreID(high: words[2], low: words[3]), journal: words[4], begin: words[5], size: size)
  }

  init(store: StoreID, journal: UInt64, begin: JournalPosition, size: Int) {
    (self.store, self.journal, self.begin, self.size) = (store, journal, begin, size)
  }

  /// A bound that no store reaches: at a gigabyte a second it lasts for 146 years.
  static let mostPosition: JournalPosition = 1 << 62

  private static func checksum(_ words: [UInt64]) -> UInt32 {
    words.map(\.littleEndian).withUnsafeBytes { kept_checksum(0, $0.baseAddress, $0.count) }
  }
}
