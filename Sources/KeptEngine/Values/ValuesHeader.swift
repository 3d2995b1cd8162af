// The header of a checkpoint.

import CPlatform
package import KeptValues

package struct ValuesHeader: Equatable, Sendable {
  package var store: StoreID
  package var number: UInt64
  /// The end of the last frame that is in it, and the checksum of that frame.
  package var position: Position
  package var previous: UInt32
  package var schemaVersion: UInt32 = 0
  package var revision: Revision = 0
  package var floor: Revision = 0
  package var history: UInt64 = 0
  package var historyLength: UInt64 = 0
  /// The note of a salvage that was not acknowledged, as JSON.
  package var note = ""
  /// The limits of the history, as JSON.
  package var limits = ""
  package var lists: [DeclaredList] = []
  /// Of a backup: what the file `secrets` of the store says, as JSON.
  package var secrets = ""

  // Describe the file; set by its writer.
  package internal(set) var keys: UInt64 = 0
  var recordBlocks: UInt64 = 0
  var hashBlocks: UInt64 = 0
  var seed: UInt64 = 0
  var checksums: UInt32 = 0

  package init(store: StoreID, number: UInt64, position: Position, previous: UInt32) {
    (self.store, self.number, self.position, self.previous) = (store, number, position, previous)
  }

  /// The number of blocks after the header; each has a checksum.
  var blocks: Int { Int(recordBlocks + hashBlocks) }
  var slots: Int { Int(hashBlocks) * ValuesFormat.slotsInBlock }
  var checksumsOffset: Int { (1 + blocks) * ValuesFormat.blockBytes }
  /// Where a backup has its history.
  var historyOffset: Int { checksumsOffset + blocks * ValuesFormat.checksumBytes }
  /// Where the header is again.
  var copyOffset: Int { historyOffset + (isBackup ? Int(clamping: historyLength) : 0) }
  var fileBytes: Int { copyOffset + ValuesFormat.blockBytes }

  // Sums of lengths that a header claims stay below the largest number.
  private static let longestFile = 1 << 60
  private static let listsOffset = ValuesFormat.blockBytes - DeclaredList.most * DeclaredList.bytes

  /// Whether it is the header of a backup: the file also has the history, and needs no journal.
  package var isBackup: Bool { history == Self.ofBackup }
  static let ofBackup = UInt64.max

  /// Writes the header into an empty buffer.
  ///
  /// Throws `tooLarge` if the texts do not fit.
  func write(into block: ByteBuffer) throws(StoreError) {
    guard note.utf8.count + limits.utf8.count + secrets.utf8.count < Self.listsOffset - ValuesFormat.textsOffset else {
      throw StoreError(
        .tooLarge,
        secrets.utf8.isEmpty
          ? "the note of a salvage or the limits of the history are too long; shorten them"
          : "what the file secrets says does not fit into a backup; remove a provider")
    }
    try block.addZeros(ValuesFormat.textsOffset)
    block.put(ValuesFormat.magic, at: 0)
    block.put(ValuesFormat.format, at: 8)
    for (index, word) in [store.high, store.low, number, position].enumerated() { block.put(word, at: 16 + 8 * index) }
    block.put(previous, at: 48)
    block.put(schemaVersion, at: 52)
    let words = [revision, floor, keys, recordBlocks, hashBlocks, seed, history, historyLength]
    for (index, word) in words.enumerated() { block.put(word, at: 56 + 8 * index) }
    block.put(checksums, at: 120)
    block.put(UInt16(note.utf8.count), at: 124)
    block.put(UInt16(limits.utf8.count), at: 126)
    for text in [note, limits, secrets] {
      try ExactString(text).withBytes { text throws(StoreError) in try block.add(UnsafeRawBufferPointer(text)) }
    }
    try block.addZeros(Self.listsOffset - block.count)
    for list in lists { try list.write(to: block) }
    try block.addZeros(ValuesFormat.blockBytes - block.count)
    block.put(Self.checksum(block.bytes), at: 12)
  }

  /// Reads the header in a block; nil if it is damaged, incomplete or of another format.
  ///
  /// - Parameter size: the bytes of the file, which the header must name; nil for a file that may be damaged.
  init?(_ block: UnsafeRawBufferPointer, size: Int?) {
    guard block.count == ValuesFormat.blockBytes, block.number(0, UInt64.self) == ValuesFormat.magic,
      block.number(8, UInt32.self) == ValuesFormat.format, block.number(12, UInt32.self) == Self.checksum(block)
    else { return nil }
    func word(_ offset: Int) -> UInt64 { block.number(offset, UInt64.self) ?? 0 }
    func half(_ offset: Int) -> UInt32 { block.number(offset, UInt32.self) ?? 0 }
    func length(_ offset: Int) -> Int { Int(block.number(offset, UInt16.self) ?? 0) }
    self.init(
      store: StoreID(high: word(16), low: word(24)), number: word(32), position: word(40), previous: half(48))
    (schemaVersion, revision, floor, keys) = (half(52), word(56), word(64), word(72))
    (recordBlocks, hashBlocks, seed) = (word(80), word(88), word(96))
    (history, historyLength, checksums) = (word(104), word(112), half(120))
    guard let note = block.part(from: ValuesFormat.textsOffset, length(124)),
      let limits = block.part(from: ValuesFormat.textsOffset + note.count, length(126)),
      let noteText = note.text, let limitsText = limits.text
    else { return nil }
    (self.note, self.limits) = (noteText, limitsText)
    if isBackup, let rest = block.part(from: ValuesFormat.textsOffset, Self.listsOffset - ValuesFormat.textsOffset) {
      let text = rest[(note.count + limits.count)...].prefix { $0 != 0 }
      secrets = UnsafeRawBufferPointer(rebasing: text).text ?? ""
    }
    lists = DeclaredList.all(in: UnsafeRawBufferPointer(rebasing: block[Self.listsOffset...]))
    // A valid checksum proves nothing about a file that another program made.
    let most = UInt64((size ?? Self.longestFile) / ValuesFormat.blockBytes)
    guard position < .end, position % 8 == 0, number < .max, hashBlocks > 0 || keys == 0, recordBlocks <= most,
      hashBlocks <= most, historyLength <= UInt64(Self.longestFile), size ?? fileBytes == fileBytes
    else { return nil }
  }

  /// The format of a block that is a whole header of another format; nil if it is not.
  static func otherFormat(_ block: UnsafeRawBufferPointer) -> UInt32? {
    guard block.count == ValuesFormat.blockBytes, block.number(0, UInt64.self) == ValuesFormat.magic,
      block.number(12, UInt32.self) == checksum(block),
      let format = block.number(8, UInt32.self), format != ValuesFormat.format
    else { return nil }
    return format
  }

  /// The checksum of a header's block.
  private static func checksum(_ block: UnsafeRawBufferPointer) -> UInt32 {
    var sum = UnsafeRawBufferPointer(rebasing: block[..<12]).checksum
    let rest = UnsafeRawBufferPointer(rebasing: block[16...])
    sum = kept_checksum(sum, rest.baseAddress, rest.count)
    return sum
  }
}
