// The file `history.<k>`: the values that commits have replaced, in blocks that are read from the last one on
// (docs/internals/file-format.md describes their bytes). A backup has its history behind the checkpoint.

import CPlatform
import KeptSystem
package import KeptValues

/// The value that a change has replaced, or why the history does not have it.
package enum OldValue: Sendable, Equatable {
  /// The key had none.
  case absent
  case value(kind: UInt8, payload: [UInt8])
  /// It is secret, and was not sealed.
  case secret
  /// It was too large.
  case notKept
  /// It was forgotten to make room.
  case forgotten

  fileprivate var form: UInt8 {
    switch self {
    case .absent: 0
    case .value: 1
    case .secret: 2
    case .notKept: 3
    case .forgotten: 4
    }
  }

  fileprivate init?(form: UInt8, kind: UInt8, payload: UnsafeRawBufferPointer) {
    switch form {
    case 0: self = .absent
    case 1: self = .value(kind: kind, payload: Array(payload))
    case 2: self = .secret
    case 3: self = .notKept
    case 4: self = .forgotten
    default: return nil
    }
  }

  var payload: [UInt8] { if case .value(_, let payload) = self { payload } else { [] } }

  /// The bytes of a secret that was sealed; nil for other values.
  package var sealed: [UInt8]? {
    if case .value(StoredValue.sealed, let payload) = self { payload } else { nil }
  }

  /// The value; nil if it is not known, or if its bytes are not a value.
  ///
  /// For a secret that was sealed, it is the sealed bytes.
  package func value() throws(StoreError) -> Value? {
    guard case .value(let kind, let payload) = self else { return nil }
    return try payload.withUnsafeBytes { bytes in
      Result { () throws(StoreError) in try StoredValue(kind: kind, payload: bytes).value() }
    }.get()
  }
}

/// A past change of a key's value.
package struct OldChange: Sendable, Equatable {
  package var key: KeyName
  /// That of the last commit of the change.
  package var revision: Revision
  /// That of the first one.
  package var first: Revision
  /// Of the last one, in milliseconds since 1970.
  package var time: Int64
  package var tag: String?
  package var old: OldValue

  /// The bytes that the limits count.
  var bytes: Int { 32 + key.exact.withBytes { $0.count } + old.payload.count }

  static let headBytes = 28
  static let noTag: UInt16 = 0xFFFF
  /// How many revisions after its first commit the last one may be.
  static let mostFolded = Revision(UInt16.max)

  fileprivate func write(to buffer: ByteBuffer) throws(StoreError) {
    let (start, tag, payload) = (buffer.count, tag.map { ExactString($0) }, old.payload)
    try buffer.addZeros(Self.headBytes)
    buffer.put(revision, at: start)
    buffer.put(time, at: start + 8)
    buffer.put(old.form, at: start + 20)
    if case .value(let kind, _) = old { buffer.put(kind, at: start + 21) }
    buffer.put(UInt16(clamping: revision &- first), at: start + 22)
    buffer.put(UInt32(truncatingIfNeeded: payload.count), at: start + 24)
    buffer.put(Self.noTag, at: start + 16)
    for (text, offset) in [(tag, 16), (key.exact, 18)] {
      try text?.withBytes { text throws(StoreError) in
        // A frame's tag has no more bytes than this number can be, and a key has 1,024.
        buffer.put(UInt16(truncatingIfNeeded: text.count), at: start + offset)
        try buffer.add(UnsafeRawBufferPointer(text))
      }
    }
    try payload.withUnsafeBytes { bytes in Result { () throws(StoreError) in try buffer.add(bytes) } }.get()
  }

  /// Reads the change at an offset; nil if the bytes are not a change.
  fileprivate static func read(
    _ bytes: UnsafeRawBufferPointer, at start: Int
  ) throws(StoreError) -> (change: OldChange, end: Int)? {
    guard let revision = bytes.number(start, UInt64.self), let time = bytes.number(start + 8, Int64.self),
      let tagBytes = bytes.number(start + 16, UInt16.self), let keyBytes = bytes.number(start + 18, UInt16.self),
      let form = bytes.number(start + 20, UInt8.self), let kind = bytes.number(start + 21, UInt8.self),
      let folded = bytes.number(start + 22, UInt16.self), let valueBytes = bytes.number(start + 24, UInt32.self),
      let tag = bytes.part(from: start + headBytes, tagBytes == noTag ? 0 : Int(tagBytes)),
      let key = bytes.part(from: start + headBytes + tag.count, Int(keyBytes)),
      let payload = bytes.part(from: start + headBytes + tag.count + key.count, Int(valueBytes)),
      let tagText = tag.text, let keyText = key.text, let name = try? KeyName(keyText),
      let old = OldValue(form: form, kind: kind, payload: payload), folded < max(revision, 1)
    else { return nil }
    let change = OldChange(
      key: name, revision: revision, first: revision - Revision(folded), time: time,
      tag: tagBytes == noTag ? nil : tagText, old: old)
    return (change, start + headBytes + tag.count + key.count + payload.count)
  }
}

/// The head and the foot of a block, which also describe the blocks before it.
struct HistoryBlock {
  var after: Revision
  var last: Revision
  /// The changes in the file up to its end, and the time of the oldest.
  var count: UInt64
  var oldest: Int64
  /// Where it begins in the file, and where it ends.
  var start: Int
  var end = 0

  private static let headBytes = 32
  private static let footBytes = 8
  // The size of a read before the block is verified: its length may be damaged.
  private static let piece = 64 << 10

  /// Adds a block of changes to a buffer, which begins at an offset of the file.
  func write(_ changes: ArraySlice<OldChange>, to buffer: ByteBuffer, file number: UInt64) throws(StoreError) {
    let begin = buffer.count
    for word in [after, last, count, UInt64(bitPattern: oldest)] { try buffer.add(number: word) }
    for change in changes { try change.write(to: buffer) }
    try buffer.addZeros(-buffer.count & 7)
    let length = buffer.count - begin + Self.footBytes
    guard let bytes = UInt32(exactly: length) else {
      throw StoreError(.tooLarge, "a commit has replaced values of 4 GiB or more; lower the limits of the history")
    }
    try buffer.add(number: bytes)
    var sum = Self.sum(number, start)
    Self.add(UnsafeRawBufferPointer(rebasing: buffer.bytes[begin...]), to: &sum)
    try buffer.add(number: sum)
  }

  /// Reads the block that ends at an offset of a file; nil if it does not verify.
  ///
  /// - Parameter base: where the history begins in the file.
  static func read(
    _ file: StoreFile, number: UInt64, end: Int, base: Int = 0
  ) throws(StoreError) -> (block: HistoryBlock, bytes: ByteBuffer)? {
    let buffer = ByteBuffer(to: "read the history")
    func read(_ offset: Int, _ count: Int) throws(StoreError) -> Bool {
      buffer.removeAll()
      return try file.read(try buffer.add(count), at: base + offset) == count
    }
    guard end >= headBytes + footBytes, end % 8 == 0, try end <= file.size() - base,
      try read(end - footBytes, footBytes),
      let length = buffer.bytes.number(0, UInt32.self).map({ Int($0) }),
      let checksum = buffer.bytes.number(4, UInt32.self), length >= headBytes + footBytes, length <= end,
      length % 8 == 0
    else { return nil }
    let (start, covered) = (end - length, length - 4)
    var sum = Self.sum(number, start)
    for offset in stride(from: 0, to: covered, by: piece) where covered > piece {
      guard try read(start + offset, min(piece, covered - offset)) else { return nil }
      add(buffer.bytes, to: &sum)
    }
    guard covered <= piece || sum == checksum, try read(start, covered) else { return nil }
    if covered <= piece { add(buffer.bytes, to: &sum) }
    guard sum == checksum, let after = buffer.bytes.number(0, UInt64.self),
      let last = buffer.bytes.number(8, UInt64.self), let count = buffer.bytes.number(16, UInt64.self),
      let oldest = buffer.bytes.number(24, Int64.self), after <= last
    else { return nil }
    return (HistoryBlock(after: after, last: last, count: count, oldest: oldest, start: start, end: end), buffer)
  }

  /// The changes of a block, in their order; nil if they do not have the form of changes.
  static func changes(_ buffer: ByteBuffer, _ allowance: inout Allowance) throws(StoreError) -> [OldChange]? {
    var (changes, at): ([OldChange], Int) = ([], headBytes)
    let bytes = UnsafeRawBufferPointer(rebasing: buffer.bytes[..<(buffer.count - 4)])
    while bytes.count - at >= OldChange.headBytes {
      guard let (change, end) = try OldChange.read(bytes, at: at) else { return nil }
      try allowance.take(change.bytes, to: "read the history")
      try Memory.makeRoom(in: &changes, to: "read the history")
      changes.append(change)
      at = end
    }
    return changes
  }

  private static func sum(_ number: UInt64, _ start: Int) -> UInt32 {
    var words = (number.littleEndian, UInt64(start).littleEndian)
    return withUnsafeBytes(of: &words) { $0.checksum }
  }

  private static func add(_ bytes: UnsafeRawBufferPointer, to sum: inout UInt32) {
    sum = kept_checksum(sum, bytes.baseAddress, bytes.count)
  }
}
