// Writes a checkpoint: records in the order of their keys, then the table that finds them, and the header last.

import CPlatform
package import KeptValues

/// The draft of a checkpoint.
///
/// Not thread-safe. Memory: 24 bytes for each record, and a few pages.
package final class ValuesWriter {
  private let file: StoreFile
  private var header: ValuesHeader
  // The bytes from `written` on, which are not written yet; they begin with a block.
  private let buffer = ByteBuffer(to: "write a checkpoint")
  private var written = ValuesFormat.blockBytes
  private var unsynced = 0
  private let pause: (StoreFile?) throws(StoreError) -> Void
  // Two words for each record: the hash of its key, and its offset.
  private let places = ByteBuffer(to: "write a checkpoint")
  // Written after the blocks: for each its checksum, and how far back its first record begins.
  private let checksums = ByteBuffer(to: "write a checkpoint")

  /// The bytes written by one call.
  private static let piece = 256 << 10
  /// The bytes written between two syncs: a sync of other files waits for unsynced bytes.
  private static let mostUnsynced = 2 << 20

  /// - Parameters:
  ///   - file: an empty file.
  ///   - header: its counts are set while the file is written.
  ///   - pause: called after each piece; it syncs a file that it is given.
  package init(
    _ file: StoreFile, _ header: ValuesHeader,
    _ pause: @escaping (StoreFile?) throws(StoreError) -> Void = { file throws(StoreError) in try file?.sync() }
  ) {
    (self.file, self.header, self.pause) = (file, header, pause)
    self.header.seed = .random(in: 0 ... .max)
  }

  /// Adds the record of a key, which must be greater than all keys so far.
  package func add(_ record: Record) throws(StoreError) {
    let (length, used) = (record.length, buffer.count % ValuesFormat.blockBytes)
    // A length that is not a number of 32 bits has no record: a value has 16 MiB.
    guard length <= UInt32.max else {
      throw StoreError(.tooLarge, "the value and its declaration are 4 GiB or larger; store less under one key")
    }
    if used > 0, length > ValuesFormat.blockBytes - used { try fillBlock() }
    if !record.flags.contains(.removal) { header.keys += 1 }
    try places.add(number: ValuesHash(record.key, seed: header.seed).hash)
    try places.add(number: UInt64(written + buffer.count))
    let bytes = try buffer.add(length)
    record.write(to: bytes)
    let sum = Record.checksum(UnsafeRawBufferPointer(bytes), seed: header.seed)
    bytes.storeBytes(of: sum.littleEndian, as: UInt32.self)
    if length > ValuesFormat.blockBytes { try fillBlock() }
    if buffer.count >= Self.piece { try writeBlocks() }
  }

  /// Writes the rest, and syncs the file.
  ///
  /// - Parameter addHistory: writes the history of a backup from an offset of the file on; returns how many bytes.
  /// - Returns: the header.
  package func finish(
    _ addHistory: (_ file: StoreFile, _ offset: Int) throws(StoreError) -> Int = { _, _ in 0 }
  ) throws(StoreError) -> ValuesHeader {
    try fillBlock()
    try writeBlocks()
    header.recordBlocks = UInt64(checksums.count / ValuesFormat.checksumBytes)
    try addTable()
    try writeBlocks()
    header.hashBlocks = UInt64(checksums.count / ValuesFormat.checksumBytes) - header.recordBlocks
    header.checksums = checksums.bytes.checksum
    try file.write(checksums.bytes, at: written)
    if header.isBackup { header.historyLength = UInt64(try addHistory(file, header.historyOffset)) }
    try header.write(into: buffer)
    try file.write(buffer.bytes, at: header.copyOffset)
    try file.write(buffer.bytes, at: 0)
    try pause(file)
    return header
  }

  private func fillBlock() throws(StoreError) {
    try buffer.addZeros(-buffer.count & (ValuesFormat.blockBytes - 1))
  }

  /// Writes the whole blocks of the buffer.
  private func writeBlocks() throws(StoreError) {
    let whole = buffer.count / ValuesFormat.blockBytes * ValuesFormat.blockBytes
    // How many more blocks the record has that the last block began with.
    var (back, rest) = (0, 0)
    for start in stride(from: 0, to: whole, by: ValuesFormat.blockBytes) {
      let block = UnsafeRawBufferPointer(rebasing: buffer.bytes[start..<start + ValuesFormat.blockBytes])
      if rest > 0 {
        (back, rest) = (back + 1, rest - 1)
      } else {
        back = 0
        // A table has no records, and is written apart.
        let length = header.recordBlocks > 0 ? 0 : Record.length(block)
        rest = max(0, (length - 1) / ValuesFormat.blockBytes)
      }
      try checksums.add(number: block.checksum)
      try checksums.add(number: UInt32(truncatingIfNeeded: back))
    }
    try file.write(UnsafeRawBufferPointer(rebasing: buffer.bytes[..<whole]), at: written)
    written += whole
    let left = buffer.count - whole
    if left > 0, whole > 0 {
      buffer.mutableBytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer.bytes[whole...]))
    }
    buffer.truncate(to: left)
    unsynced += whole
    let isMuch = unsynced >= Self.mostUnsynced
    if isMuch { unsynced = 0 }
    try pause(isMuch ? file : nil)
  }

  /// Adds the hash table of all records, which is at most half full: most searches end at their first slot.
  private func addTable() throws(StoreError) {
    let count = places.count / 16
    guard count > 0 else { return }
    let blocks = 2 * count / ValuesFormat.slotsInBlock + 1
    let slots = blocks * ValuesFormat.slotsInBlock
    try buffer.addZeros(8 * slots)
    for index in 0..<count {
      guard let hash = places.bytes.number(16 * index, UInt64.self),
        let offset = places.bytes.number(16 * index + 8, UInt64.self)
      else { continue }
      let hashed = ValuesHash(hash: hash)
      var slot = hashed.home(slots)
      while buffer.bytes.number(8 * slot, UInt64.self) != 0 { slot = (slot + 1) % slots }
      buffer.put(hashed.tag | offset / 8, at: 8 * slot)
    }
  }
}
