// The record in the file `journal` about the database. A database that damage, or another program, has taken back in
// time looks whole: SQLite takes a log for ended where a frame does not verify. It is noticed by the mark, which is
// written each time the database and its log were synced, and before the ring is overwritten that far:
//
//   byte 72  position   64 bits: up to which frames are in the database
//   byte 80  previous   32 bits: the checksum of the frame that ends there
//   byte 84  frames     32 bits: how many frames the log of the database had
//   byte 88  salts      64 bits: of that log; it has others when it has begun again
//   byte 96  checksum   32 bits: CRC-32C of the other bytes
//
// It is in the page cache at the latest when the ring is overwritten, and it may reach the disk late: an older mark
// notices less.

import CPlatform
import KeptSystem
import KeptValues

/// The state that a database has at least.
struct SettledMark: Equatable {
  var position: JournalPosition
  var previous: UInt32
  var log: LogEnd

  static let bytes = 32
  /// Where it is in the file.
  static let offset = 72

  init(_ place: FramePlace, _ log: LogEnd) {
    (position, previous, self.log) = (place.position, place.previous, log)
  }

  /// Reads it; nil if there is none, or if it is damaged, which does no harm by itself.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count == Self.bytes else { return nil }
    func number<Number: FixedWidthInteger>(_ offset: Int, _ type: Number.Type) -> Number {
      Number(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: type))
    }
    position = number(0, UInt64.self)
    previous = number(8, UInt32.self)
    log = LogEnd(salts: number(16, UInt64.self), frames: number(12, UInt32.self))
    guard position > 0 || log.frames > 0, number(24, UInt32.self) == kept_checksum(0, bytes.baseAddress, 24) else {
      return nil
    }
  }

  func encode(into memory: UnsafeMutableRawBufferPointer) {
    memory.storeBytes(of: position.littleEndian, as: UInt64.self)
    memory.storeBytes(of: previous.littleEndian, toByteOffset: 8, as: UInt32.self)
    memory.storeBytes(of: log.frames.littleEndian, toByteOffset: 12, as: UInt32.self)
    memory.storeBytes(of: log.salts.littleEndian, toByteOffset: 16, as: UInt64.self)
    memory.storeBytes(of: kept_checksum(0, memory.baseAddress, 24).littleEndian, toByteOffset: 24, as: UInt32.self)
    memory.storeBytes(of: 0, toByteOffset: 28, as: UInt32.self)
  }

  /// Throws `corrupt` if a database lacks something that it has had.
  func check(_ settled: SettledPlace, _ now: LogEnd, of path: String) throws(StoreError) {
    let isBehind = settled.place.position < position || now.salts == log.salts && now.frames < log.frames
    guard isBehind else { return }
    throw StoreError(
      .corrupt,
      "the database next to \(shown: path) has lost commits: its log is damaged, or it was replaced by an older one")
  }
}

/// How far the log of a database reaches.
struct LogEnd: Equatable {
  var salts: UInt64 = 0
  var frames: UInt32 = 0
}

extension JournalFile {
  /// The state that the database has at least; nil if that is not known.
  func mark() throws(StoreError) -> SettledMark? {
    try withMark { memory throws(StoreError) in
      let count = try Self.read(descriptor, path, into: memory, at: SettledMark.offset)
      return count == memory.count ? SettledMark(UnsafeRawBufferPointer(memory)) : nil
    }
  }

  /// Notes what the database has; it was synced.
  func mark(_ place: FramePlace, _ log: LogEnd) throws(StoreError) {
    // Another ring may have begun, whose mark is later.
    guard place.journal == header.journal, try mark() != SettledMark(place, log) else { return }
    try withMark { memory throws(StoreError) in
      SettledMark(place, log).encode(into: memory)
      try Self.write(descriptor, path, UnsafeRawBufferPointer(memory), at: SettledMark.offset)
    }
  }

  /// Where the frames begin that are not in the database, as far as the mark knows.
  func markedPlace() throws(StoreError) -> FramePlace {
    guard let mark = try mark(), mark.position > header.begin, mark.position < JournalHeader.mostPosition,
      mark.position % 8 == 0
    else { return header.firstPlace }
    return FramePlace(journal: header.journal, position: mark.position, previous: mark.previous)
  }

  private func withMark<Result>(
    _ body: (UnsafeMutableRawBufferPointer) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: SettledMark.bytes, alignment: 8)
    defer { memory.deallocate() }
    return try body(memory)
  }
}
