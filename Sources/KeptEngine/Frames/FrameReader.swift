// Reads frames whose checksum was right. Everything in them is checked all the same: the checksum finds damage, and a
// file that another program made may have any bytes under a valid checksum.

import CPlatform
package import KeptValues

/// A frame in a buffer: of a commit, or a seal.
enum Frame {
  /// The id of the journal that a seal names; nil for the frame of a commit.
  ///
  /// Throws `corrupt` if it does not have the form of a frame.
  static func next(_ bytes: UnsafeRawBufferPointer) throws(StoreError) -> UInt64? {
    guard let word = bytes.number(0, UInt32.self) else { throw CommitFrame.malformed }
    if word & FrameFormat.sealBit == 0 { return nil }
    guard bytes.count == FrameFormat.sealBytes, let next = bytes.number(8, UInt64.self) else {
      throw CommitFrame.malformed
    }
    return next
  }

  /// The length that the first word of a frame names; nil if no frame has such a word.
  static func length(_ word: UInt32) -> Int? {
    let length = Int(word & ~7)
    let least = word & 7 == FrameFormat.sealBit ? FrameFormat.sealBytes : FrameFormat.headBytes
    return word & 6 == 0 && length >= least ? length : nil
  }
}

/// The frame of one commit.
package struct CommitFrame {
  package let head: FrameHead
  /// How many changes it has.
  package let count: Int
  let changes: UnsafeRawBufferPointer
  /// Where they begin in the frame.
  let start: Int

  /// Throws `corrupt` if it does not have the form of one.
  init(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    guard let writer = bytes.number(8, UInt64.self), let revision = bytes.number(16, UInt64.self),
      let time = bytes.number(24, Int64.self), let count = bytes.number(32, UInt32.self),
      let length = bytes.number(36, UInt16.self), let flags = bytes.number(38, UInt16.self)
    else { throw Self.malformed }
    let tagBytes = bytes.part(from: FrameFormat.headBytes, length == FrameFormat.noTag ? 0 : Int(length))
    guard let tagBytes, let tag = tagBytes.text else { throw Self.malformed }
    head = FrameHead(
      writer: writer, revision: revision, time: time, tag: length == FrameFormat.noTag ? nil : tag,
      erases: flags & FrameFormat.erases != 0)
    self.count = Int(count)
    start = FrameFormat.headBytes + tagBytes.count
    changes = UnsafeRawBufferPointer(rebasing: bytes[start...])
  }

  /// Calls `body` with each change, in the order of the commit.
  ///
  /// Throws `corrupt` if the content does not have the form that its head says.
  package func forEachChange(_ body: (FrameChange) throws(StoreError) -> Void) throws(StoreError) {
    var at = 0
    for _ in 0..<count {
      guard let change = FrameChange(changes, at: at, changesStart: start) else { throw Self.malformed }
      try body(change)
      at += change.bytes.count
    }
  }

  /// A bound of the changes that does not depend on the head: the shortest has eight bytes.
  var mostChanges: Int { min(count, changes.count / FrameFormat.changeBytes) }

  static let malformed = StoreError(
    .corrupt,
    "a commit in the journal is malformed; close the store everywhere, and the next program that opens it salvages the "
      + "readable data")
}

/// One change of a frame; its bytes are in the buffer.
package struct FrameChange {
  package let effect: FrameEffect
  /// The bytes of the key, which may be invalid; empty if the change is not about a key.
  package let key: UnsafeRawBufferPointer
  /// The kind and the payload; the kind is of `value` alone.
  package let stored: StoredValue
  /// Where the payload begins in the frame.
  let offset: Int
  /// All of its bytes.
  let bytes: UnsafeRawBufferPointer

  package func keyName() throws(StoreError) -> KeyName {
    guard let name = key.keyName else { throw CommitFrame.malformed }
    return name
  }

  /// The value, for the effect `value`.
  package func value() throws(StoreError) -> Value {
    guard let value = try stored.value() else { throw CommitFrame.malformed }
    return value
  }

  /// The text, for the effects `declared` and `historyLimits`.
  package func json() throws(StoreError) -> String {
    guard let text = stored.payload.text else { throw CommitFrame.malformed }
    return text
  }

  /// The version, for the effect `schemaVersion`.
  package func schemaVersion() throws(StoreError) -> UInt32 {
    guard stored.payload.count == 4, let version = stored.payload.number(0, UInt32.self) else {
      throw CommitFrame.malformed
    }
    return version
  }
}

extension FrameChange {
  /// Reads the change at an offset; nil if the bytes do not have the form of one.
  ///
  /// - Parameter changesStart: where the bytes begin in the frame.
  init?(_ bytes: UnsafeRawBufferPointer, at start: Int, changesStart: Int = 0) {
    guard let effect = bytes.number(start, UInt8.self).flatMap(FrameEffect.init),
      let kind = bytes.number(start + 1, UInt8.self), let keyBytes = bytes.number(start + 2, UInt16.self),
      let payloadBytes = bytes.number(start + 4, UInt32.self),
      let key = bytes.part(from: start + FrameFormat.changeBytes, Int(keyBytes)),
      let payload = bytes.part(from: start + FrameFormat.changeBytes + key.count, Int(payloadBytes)),
      effect.hasKey != key.isEmpty
    else { return nil }
    (self.effect, self.key, stored) = (effect, key, StoredValue(kind: kind, payload: payload))
    let length = FrameFormat.changeBytes + key.count
    offset = changesStart + start + length
    self.bytes = UnsafeRawBufferPointer(rebasing: bytes[start..<start + length + payload.count])
  }
}
