// Reads a checkpoint. A block is read and verified when it is first needed.

import CPlatform
import KeptSystem
package import KeptValues
import Synchronization

/// An open checkpoint.
///
/// Thread-safe. Memory: the blocks of the records that were looked for more than once, and 16 bytes for each block of
/// the file.
package final class ValuesReader: @unchecked Sendable {
  package let header: ValuesHeader
  /// The file, and when it was written, in nanoseconds since 1970.
  let identity: FileIdentity
  let modified: Int64
  /// Its blocks, also for readers without a lock.
  package let image: Image
  let path: String
  // nil if all of it was read.
  let file: StoreFile?
  // Does not change.
  private let checksums = ByteBuffer(to: "read a checkpoint")
  // One thread at a time reads blocks into the image.
  private let loading = Monitor(())
  // And once the image has as many as it may, those that were read without it.
  private let loaded = Atomic<Int>(0)

  /// A file of at most this size is read at once.
  private static let mostAtOnce = 64 << 10
  /// The most blocks in memory.
  private static let mostLoaded = (64 << 20) / ValuesFormat.blockBytes

  /// Reads the header and the checksums of the blocks.
  ///
  /// Throws `corrupt` if they are damaged, or if the file is longer or shorter than they say, and `unsupported` for a
  /// file of another format.
  /// - Parameter keepsOpen: whether a small file stays open, so that its identity is that of no other file.
  package init(_ file: StoreFile, keepsOpen: Bool = false) throws(StoreError) {
    path = file.path
    let status = FileStatus(try file.status())
    (identity, modified) = (status.identity, status.modified)
    let size = status.size
    let first = ByteBuffer(to: "read a checkpoint")
    let isSmall = size <= Self.mostAtOnce
    first.truncate(to: try file.read(try first.add(isSmall ? size : ValuesFormat.blockBytes), at: 0))
    let block = first.bytes.part(from: 0, ValuesFormat.blockBytes)
    guard let header = block.flatMap({ ValuesHeader($0, size: size) }) else {
      if let block, let error = Self.otherFormat(block, path) { throw error }
      throw Self.damaged(path, "its header is damaged, or the file was truncated or extended")
    }
    self.header = header
    let count = header.blocks * ValuesFormat.checksumBytes
    if isSmall {
      guard let table = first.bytes.part(from: header.checksumsOffset, count) else {
        throw Self.damaged(path, "it was truncated while it was read")
      }
      try checksums.add(table)
    } else {
      checksums.truncate(to: try file.read(try checksums.add(count), at: header.checksumsOffset))
    }
    guard checksums.count == count, checksums.bytes.checksum == header.checksums else {
      throw Self.damaged(path, "the checksums of its blocks are damaged")
    }
    image = try Image(blocks: 1 + header.blocks)
    image.describe(header)
    let isRead = isSmall && Self.add(first.bytes, checksums.bytes, to: image, header.blocks)
    self.file = isRead && !keepsOpen ? nil : file
  }

  /// The error for a header of another format.
  static func otherFormat(_ block: UnsafeRawBufferPointer, _ path: String) -> StoreError? {
    guard let format = ValuesHeader.otherFormat(block) else { return nil }
    return StoreError(
      .unsupported,
      "\(shown: path) has format \(format), but this version of Kept knows format \(ValuesFormat.format); open it "
        + "with the version that wrote it, or a later one")
  }

  /// Reads a damaged checkpoint, as far as it can be read, with the checksum of each block on its own.
  ///
  /// - Parameters:
  ///   - substitute: the header if both copies in the file are damaged: without their seed, no record can be verified.
  ///   - file: nil if it is lost.
  init(salvaging file: StoreFile?, substitute: ValuesHeader) throws(StoreError) {
    let status = FileStatus(try file?.status() ?? stat())
    (path, self.file, identity, modified) = (file?.path ?? "", file, status.identity, status.modified)
    let (first, size) = (ByteBuffer(to: "read a checkpoint"), status.size)
    var header = substitute
    for offset in [max(0, size - ValuesFormat.blockBytes), 0] {
      guard let file else { break }
      first.removeAll()
      first.truncate(to: try file.read(try first.add(ValuesFormat.blockBytes), at: offset))
      if let known = ValuesHeader(first.bytes, size: nil) { header = known }
    }
    // Memory in proportion to the length of the file, not to the length that it claims.
    let most = UInt64(size / ValuesFormat.blockBytes)
    (header.recordBlocks, header.hashBlocks) = (min(header.recordBlocks, most), min(header.hashBlocks, most))
    self.header = header
    if let file {
      let count = header.blocks * ValuesFormat.checksumBytes
      checksums.truncate(to: try file.read(try checksums.add(count), at: header.checksumsOffset))
    }
    image = try Image(blocks: 1 + header.blocks)
    image.describe(header)
  }

  /// Reads a checkpoint again, with no block in memory.
  package init(again other: ValuesReader) throws(StoreError) {
    (header, path, file) = (other.header, other.path, other.file)
    (identity, modified) = (other.identity, other.modified)
    try checksums.add(other.checksums.bytes)
    image = try Image(blocks: 1 + header.blocks)
    image.describe(header)
  }

  /// Whether another reader should take over: its image is full, and other blocks were read for long.
  package var isFull: Bool { loaded.load(ordering: .relaxed) > 4 * Self.mostLoaded }

  /// Adds the blocks of a small file that verify; returns whether all do.
  private static func add(
    _ bytes: UnsafeRawBufferPointer, _ checksums: UnsafeRawBufferPointer, to image: Image, _ blocks: Int
  ) -> Bool {
    var areAll = true
    for block in 1..<1 + blocks {
      if let bytes = bytes.part(from: block * ValuesFormat.blockBytes, ValuesFormat.blockBytes),
        bytes.checksum == checksums.number(ValuesFormat.checksumBytes * (block - 1), UInt32.self)
      {
        image.memory(block, count: 1).copyMemory(from: bytes)
        image.mark(block)
      } else {
        areAll = false
      }
    }
    return areAll
  }

  /// The record of a key, also of one that was removed; nil if there is none.
  ///
  /// Throws `corrupt` if the block that has it is damaged, or may have it.
  /// - Parameter window: for blocks that are not kept in memory; it must live as long as the record is used.
  package func record(of key: UnsafeRawBufferPointer, in window: BlockWindow) throws(StoreError) -> Record? {
    var found: Record?
    _ = try forEachSlot(of: key, in: window) { word throws(StoreError) in
      let record = try record(at: Int(word & ValuesHash.lowBits) * 8, in: window)
      if record.key.isSame(as: key) { found = record }
      return found == nil
    }
    return found
  }

  /// Calls `body` with the slots that may belong to a key, until it returns false; returns whether it never did.
  private func forEachSlot(
    of key: UnsafeRawBufferPointer, in window: BlockWindow? = nil, _ body: (UInt64) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    guard header.hashBlocks > 0 else { return true }
    let (hashed, slots) = (ValuesHash(key, seed: header.seed), header.slots)
    var slot = hashed.home(slots)
    for _ in 0..<slots {
      let offset = (1 + Int(header.recordBlocks)) * ValuesFormat.blockBytes + 8 * slot
      let word = try verified(offset, 8, window).number(0, UInt64.self) ?? 0
      if word == 0 { return true }
      if word & ~ValuesHash.lowBits == hashed.tag, try !body(word) { return false }
      slot = (slot + 1) % slots
    }
    throw Self.damaged(path, "its hash table has no empty slot")
  }

  /// Lets readers find a record from then on, whose value they copy without checking it again.
  ///
  /// Only inside the gate of these readers, or while no other thread can change the image.
  package func remember(_ record: Record, of key: PreparedBytes) { image.remember(key, record) }

  /// The record of a key without reading a block; the outer nil if that is needed, or if something is damaged.
  package func loadedRecord(of key: UnsafeRawBufferPointer) -> Record?? {
    let found = kept_image_search(image.words, key.baseAddress, key.count)
    guard let start = found.record else { return found.kind == KEPT_SLOT_ABSENT ? .some(nil) : nil }
    let offset = start - UnsafePointer(image.words.pointee.memory)
    let bytes = image.bytes(offset, min(ValuesFormat.blockBytes, header.checksumsOffset - offset))
    let length = Record.length(bytes)
    guard length <= header.checksumsOffset - offset, image.has(offset, length) else { return nil }
    return Record(image.bytes(offset, length))
  }

  /// Calls `body` with the records from a key on, in order, until it returns false.
  ///
  /// Throws `corrupt` at a damaged block.
  /// - Parameter damaged: called instead, unless a key of the block is unknown: with nil, and then with the key of each
  ///   of its records.
  package func forEachRecord(
    from key: UnsafeRawBufferPointer,
    damaged: (UnsafeRawBufferPointer?, StoreError) throws(StoreError) -> Bool = { _, error throws(StoreError) in
      throw error
    },
    _ body: (Record) throws(StoreError) -> Bool
  ) throws(StoreError) {
    var block = 1
    do throws(StoreError) { block = try firstBlock(reaching: key) } catch {
      guard error.code == .corrupt else { throw error }
      guard try damaged(nil, error) else { return }
    }
    let window = BlockWindow(self, mostAhead: 64)
    while block <= Int(header.recordBlocks) {
      var bytes: UnsafeRawBufferPointer
      do throws(StoreError) {
        bytes = try window.read(block, count: 1)
        // A long record has its last block for itself.
        let count = blocks(of: Record.length(bytes))
        if count > 1 { bytes = try window.read(block, count: count) }
      } catch {
        guard error.code == .corrupt else { throw error }
        var (goesOn, known) = (try damaged(nil, error), 0)
        _ = try forEachRecord(inDamaged: block) { name, _ throws(StoreError) in
          known += 1
          if goesOn, !name.isBefore(key) { goesOn = try damaged(name, error) }
        }
        guard try known == countRecords(in: block) else { throw error }
        repeat { block += 1 } while block <= Int(header.recordBlocks) && back(block) > 0
        if !goesOn { return }
        continue
      }
      var at = 0
      while case let length = Record.length(bytes, at: at), length > 0 {
        guard let part = bytes.part(from: at, length), let record = Record(part) else {
          throw malformed(at: block * ValuesFormat.blockBytes + at)
        }
        if !record.key.isBefore(key), try !body(record) { return }
        at += length
      }
      block += blocks(of: at)
    }
  }

  /// Calls `body` with the records that begin in a damaged block: those that verify on their own, and the keys of
  /// others that the hash table confirms.
  ///
  /// - Returns: the next block that may begin with a record.
  private func forEachRecord(
    inDamaged block: Int, _ body: (UnsafeRawBufferPointer, Record?) throws(StoreError) -> Void
  ) throws(StoreError) -> Int {
    let (buffer, last) = (ByteBuffer(to: "read a damaged checkpoint"), Int(header.recordBlocks))
    func read(_ count: Int) throws(StoreError) -> UnsafeRawBufferPointer {
      buffer.removeAll()
      // The image has all of a file that is not open.
      guard let file else { return try verified(block * ValuesFormat.blockBytes, count * ValuesFormat.blockBytes) }
      let memory = try buffer.add(count * ValuesFormat.blockBytes)
      buffer.truncate(to: try file.read(memory, at: block * ValuesFormat.blockBytes))
      return buffer.bytes
    }
    func sound(_ bytes: UnsafeRawBufferPointer, _ at: Int) -> Record? {
      guard case let length = Record.length(bytes, at: at), length > 0, let part = bytes.part(from: at, length),
        part.number(0, UInt32.self) == Record.checksum(part, seed: header.seed)
      else { return nil }
      return Record(part)
    }
    var bytes = try read(1)
    let count = blocks(of: Record.length(bytes))
    if count > 1, count <= last + 1 - block {
      bytes = try read(count)
      if let record = sound(bytes, 0) {
        try body(record.key, record)
        return block + count
      }
      bytes = try read(1)
    }
    var at = 0
    while at + Record.headBytes <= bytes.count {
      if let record = sound(bytes, at) {
        try body(record.key, record)
        at += record.length
      } else {
        if let key = confirmedKey(bytes, at, block) { try body(key, nil) }
        at += 8
      }
    }
    return block + 1
  }

  /// How many records begin in a block, by the hash table.
  private func countRecords(in block: Int) throws(StoreError) -> Int {
    var count = 0
    for table in 1 + Int(header.recordBlocks)..<1 + header.blocks {
      let slots = try verified(table * ValuesFormat.blockBytes, ValuesFormat.blockBytes)
      for slot in 0..<ValuesFormat.slotsInBlock {
        let offset = Int((slots.number(8 * slot, UInt64.self) ?? 0) & ValuesHash.lowBits) * 8
        if offset / ValuesFormat.blockBytes == block { count += 1 }
      }
    }
    return count
  }

  /// The key of a damaged record; nil if the hash table does not lead to the record from this key.
  private func confirmedKey(_ bytes: UnsafeRawBufferPointer, _ at: Int, _ block: Int) -> UnsafeRawBufferPointer? {
    guard let count = bytes.number(at + 4, UInt16.self), 1...Limits.keyBytes ~= Int(count),
      let key = bytes.part(from: at + Record.headBytes, Int(count))
    else { return nil }
    let wanted = ValuesHash(key, seed: header.seed).tag | UInt64(block * ValuesFormat.blockBytes + at) / 8
    return (try? forEachSlot(of: key) { $0 != wanted }) == false ? key : nil
  }

  /// The block that begins with the last record that is not after a key; the first block if all are after it.
  private func firstBlock(reaching key: UnsafeRawBufferPointer) throws(StoreError) -> Int {
    // Both begin with a record, and the result is before `high`.
    var (low, high) = (1, Int(header.recordBlocks) + 1)
    while high - low > 1 {
      let middle = low + (high - low) / 2
      var next = middle - back(middle)
      if next <= low { next = low + blocks(of: try length(at: low * ValuesFormat.blockBytes)) }
      guard next > low, next < high else { return low }
      if try key.isBefore(record(at: next * ValuesFormat.blockBytes).key) { high = next } else { low = next }
    }
    return low
  }

  /// Calls `body` with the key of each record that can be found, and with the record if it verifies on its own.
  func forEachSoundRecord(_ body: (UnsafeRawBufferPointer, Record?) throws(StoreError) -> Void) throws(StoreError) {
    var block = 1
    while block <= Int(header.recordBlocks) { block = try forEachRecord(inDamaged: block, body) }
  }

  var hasSoundChecksums: Bool {
    checksums.count == header.blocks * ValuesFormat.checksumBytes && checksums.bytes.checksum == header.checksums
  }

  /// Calls `body` with each block that does not verify.
  func forEachDamagedBlock(_ body: (Int) throws(StoreError) -> Void) throws(StoreError) {
    let buffer = ByteBuffer(to: "verify a checkpoint")
    let memory = try buffer.add(ValuesFormat.blockBytes)
    for block in 1..<1 + header.blocks {
      do throws(StoreError) {
        try read(block, into: memory)
        try verify(block, UnsafeRawBufferPointer(memory))
      } catch {
        guard error.code == .corrupt else { throw error }
        try body(block)
      }
    }
  }

  /// The keys of the records in a damaged block that do not verify on their own, as far as they can be read.
  func lostKeys(inDamaged block: Int) throws(StoreError) -> [KeyName] {
    var keys: [KeyName] = []
    guard block <= Int(header.recordBlocks) else { return [] }
    _ = try forEachRecord(inDamaged: max(1, block - back(block))) { key, record in
      if record == nil, let name = key.keyName { keys.append(name) }
    }
    return keys
  }

  private func back(_ block: Int) -> Int {
    Int(checksums.bytes.number(ValuesFormat.checksumBytes * (block - 1) + 4, UInt32.self) ?? 0)
  }

  private func blocks(of length: Int) -> Int {
    max(1, (length + ValuesFormat.blockBytes - 1) / ValuesFormat.blockBytes)
  }

  private func record(at offset: Int, in window: BlockWindow? = nil) throws(StoreError) -> Record {
    guard offset % 8 == 0, let record = Record(try verified(offset, try length(at: offset, window), window)) else {
      throw malformed(at: offset)
    }
    return record
  }

  private func length(at offset: Int, _ window: BlockWindow? = nil) throws(StoreError) -> Int {
    Record.length(try verified(offset, Record.headBytes, window))
  }

  /// Some bytes of the blocks, which are read and verified now if they were not before.
  ///
  /// A block that is needed for the first time is read into the window: many are never needed again, and new memory
  /// takes longer than the reading.
  private func verified(
    _ offset: Int, _ count: Int, _ window: BlockWindow? = nil
  ) throws(StoreError) -> UnsafeRawBufferPointer {
    guard offset >= ValuesFormat.blockBytes, offset <= header.checksumsOffset,
      count <= header.checksumsOffset - offset
    else { throw Self.damaged(path, "it refers to a place outside the file") }
    let blocks = Image.blocks(offset, count)
    if let window, !image.has(blocks.lowerBound), window.begins(with: blocks.lowerBound) || passes(blocks.lowerBound),
      let bytes = try window.read(blocks.lowerBound, count: blocks.count)
        .part(from: offset % ValuesFormat.blockBytes, count)
    {
      return bytes
    }
    if !image.has(offset, count) { try load(blocks) }
    return image.bytes(offset, count)
  }

  /// Whether a block need not stay in memory.
  private func passes(_ block: Int) -> Bool {
    guard loaded.load(ordering: .relaxed) >= Self.mostLoaded else { return !image.isNeededAgain(block) }
    loaded.add(1, ordering: .relaxed)
    return true
  }

  private func load(_ blocks: ClosedRange<Int>) throws(StoreError) {
    try loading.updateQuietly { _ throws(StoreError) in
      for block in blocks where !image.has(block) {
        // No thread looks at them before they are marked, which is after they were verified.
        let missing = (block...blocks.upperBound).prefix { !image.has($0) }
        let memory = image.memory(block, count: missing.count)
        try read(block, into: memory)
        for (index, block) in missing.enumerated() {
          let start = index * ValuesFormat.blockBytes
          try verify(block, UnsafeRawBufferPointer(rebasing: memory[start..<start + ValuesFormat.blockBytes]))
          image.mark(block)
        }
        loaded.add(missing.count, ordering: .relaxed)
      }
    }
  }

  /// Reads blocks from the file.
  func read(_ block: Int, into memory: UnsafeMutableRawBufferPointer) throws(StoreError) {
    let offset = block * ValuesFormat.blockBytes
    guard let file else {
      throw Self.damaged(path, "the \(memory.count) bytes at byte \(offset) are damaged")
    }
    guard try file.read(memory, at: offset) == memory.count else {
      throw Self.damaged(path, "it was truncated to less than \(offset + memory.count) bytes")
    }
  }

  func verify(_ block: Int, _ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    guard bytes.checksum == checksum(of: block) else {
      throw Self.damaged(
        path, "the \(bytes.count) bytes at byte \(block * ValuesFormat.blockBytes) are damaged")
    }
  }

  /// Blocks of the image, if it has all of them.
  func inImage(_ block: Int, count: Int) throws(StoreError) -> UnsafeRawBufferPointer? {
    guard file == nil else { return nil }
    return try verified(block * ValuesFormat.blockBytes, count * ValuesFormat.blockBytes)
  }

  private func checksum(of block: Int) -> UInt32? {
    checksums.bytes.number(ValuesFormat.checksumBytes * (block - 1), UInt32.self)
  }

  var malformedKey: StoreError { Self.damaged(path, "a record has a malformed key") }

  private func malformed(at offset: Int) -> StoreError {
    Self.damaged(path, "the record at byte \(offset) is malformed")
  }

  static func damaged(_ path: String, _ what: String) -> StoreError {
    StoreError(
      .corrupt,
      "\(shown: path) is damaged: \(what); close the store everywhere, and the next program that opens "
        + "it salvages the readable data")
  }
}

extension UnsafeRawBufferPointer {
  /// Whether the bytes are ordered before those of another key.
  package func isBefore(_ other: UnsafeRawBufferPointer) -> Bool {
    guard let own = baseAddress, let others = other.baseAddress else { return count < other.count }
    let order = memcmp(own, others, Swift.min(count, other.count))
    return order != 0 ? order < 0 : count < other.count
  }

  /// Whether the bytes are those of another key.
  @inline(__always)
  package func isSame(as other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count, let own = baseAddress, let others = other.baseAddress else {
      return count == other.count
    }
    return kept_same_bytes(own, others, count)
  }
}
