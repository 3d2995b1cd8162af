// Builds the frames of a group of commits in one buffer, which is written with one call.

import CPlatform
package import KeptValues

/// A new value of a key; nil if it is removed.
// A tuple would be destroyed by the runtime, which looks its parts up.
package struct KeyEdit: Sendable {
  package fileprivate(set) var key: KeyName
  package fileprivate(set) var value: Value?
}

/// Frames that are written and published together.
///
/// Not thread-safe. The buffer is reused for the next group.
package final class FrameWriter {
  private let buffer = ByteBuffer(to: "commit the changes")
  /// The place of the next frame.
  package private(set) var place = FramePlace(journal: 0, position: 0, previous: 0)
  // Where the frame begins that is being built.
  private var start = 0
  private var changes: UInt32 = 0
  /// Whether a change has a payload; others are removals.
  package private(set) var hasPayload = false
  /// Whether it is the seal of a journal.
  package private(set) var isSeal = false
  /// The head of the last frame.
  package private(set) var head = FrameHead(writer: 0, revision: 0, time: 0)
  // The edits of the frame so far, and behind them those of earlier frames: removing one takes longer than overwriting
  // it.
  private var noted: [KeyEdit] = []
  private var notedCount = 0
  private var notesEdits = false

  package init() {}

  /// The changes, if it is one commit that this process need not read again: it only removes values, and sets such as
  /// are kept in memory and stored as they are.
  package var edits: [KeyEdit]? {
    if noted.count > notedCount { noted.removeSubrange(notedCount...) }
    return notesEdits ? noted : nil
  }

  private func note(_ key: KeyName, _ value: Value?) {
    guard notesEdits else { return }
    if notedCount < noted.count {
      // Copying an edit as a whole takes longer.
      (noted[notedCount].key, noted[notedCount].value) = (key, value)
    } else {
      noted.append(KeyEdit(key: key, value: value))
    }
    notedCount += 1
  }

  /// The frames that were ended.
  package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer.bytes[..<start]) }

  /// Begins a group of frames at a place.
  package func begin(at place: FramePlace) {
    buffer.removeAll()
    self.place = place
    start = 0
    (hasPayload, isSeal, notesEdits) = (false, false, false)
  }

  /// Begins the frame of one commit, and drops one that was not ended.
  ///
  /// Throws `failed` without memory, as all that add to it do, and `tooLarge` for a tag that is too long.
  /// - Parameter notesEdits: whether ``edits`` has its changes, whose values the declarations of their keys must admit.
  package func begin(_ head: consuming FrameHead, notesEdits: Bool = false) throws(StoreError) {
    buffer.truncate(to: start)
    changes = 0
    self.head = head
    self.notesEdits = notesEdits && start == 0
    notedCount = 0
    // The rest is known at the end.
    _ = try buffer.add(FrameFormat.headBytes)
    buffer.put(self.head.writer, at: start + 8)
    buffer.put(self.head.revision, at: start + 16)
    buffer.put(self.head.time, at: start + 24)
    buffer.put(FrameFormat.noTag, at: start + 36)
    buffer.put(self.head.erases ? FrameFormat.erases : 0, at: start + 38)
    guard let tag = self.head.tag else { return }
    try ExactString(tag).withBytes { bytes throws(StoreError) in
      try Limits.checkTag(bytes.count)
      buffer.put(UInt16(truncatingIfNeeded: bytes.count), at: start + 36)
      try buffer.add(UnsafeRawBufferPointer(bytes))
    }
  }

  /// Adds a new value of a key.
  package func add(_ value: Value, for key: KeyName) throws(StoreError) {
    try value.withStored { stored throws(StoreError) in try add(.value, key, stored.kind, stored.payload) }
    guard let bytes = value.bytesAsStored, bytes <= StoredValue.mostInMemory else { return notesEdits = false }
    note(key, value)
  }

  /// Adds a new value of a key, which is a secret that was sealed.
  package func add(sealed: [UInt8], for key: KeyName) throws(StoreError) {
    notesEdits = false
    try sealed.withUnsafeBytes { bytes in
      Result { () throws(StoreError) in try add(.value, key, StoredValue.sealed, bytes) }
    }.get()
  }

  /// Adds a change without a payload: `removed`, `undeclared` or `acknowledged`.
  package func add(_ effect: FrameEffect, for key: KeyName? = nil) throws(StoreError) {
    try add(effect, key, StoredValue.none, UnsafeRawBufferPointer(start: nil, count: 0))
    if let key { note(key, nil) }
  }

  /// Adds the declaration of a key, or the limits of the history without a key, as JSON.
  package func add(_ effect: FrameEffect, _ json: ExactString, for key: KeyName? = nil) throws(StoreError) {
    try json.withBytes { json throws(StoreError) in
      try add(effect, key, StoredValue.none, UnsafeRawBufferPointer(json))
    }
  }

  package func add(schemaVersion version: UInt32) throws(StoreError) {
    try withUnsafeBytes(of: version.littleEndian) { bytes throws(StoreError) in
      try add(.schemaVersion, nil, StoredValue.none, bytes)
    }
  }

  package func add(_ lists: [DeclaredList]) throws(StoreError) {
    let buffer = ByteBuffer(to: "declare the keys")
    for list in lists { try list.write(to: buffer) }
    try add(.lists, nil, StoredValue.none, buffer.bytes)
  }

  /// - Parameter key: nil for a change that is not about a key.
  private func add(
    _ effect: FrameEffect, _ key: KeyName?, _ kind: UInt8, _ payload: UnsafeRawBufferPointer
  ) throws(StoreError) {
    guard let payloadBytes = UInt32(exactly: payload.count) else { throw tooLarge }
    if payloadBytes > 0 { hasPayload = true }
    if effect.rawValue > FrameEffect.value.rawValue { notesEdits = false }
    // At most 1,024.
    let keyBytes = key?.text.utf8.count ?? 0
    let bytes = try buffer.add(FrameFormat.changeBytes + keyBytes + payload.count)
    let head = UInt64(effect.rawValue) | UInt64(kind) << 8 | UInt64(keyBytes) << 16 | UInt64(payloadBytes) << 32
    bytes.storeBytes(of: head.littleEndian, as: UInt64.self)
    let texts = UnsafeMutableRawBufferPointer(rebasing: bytes[FrameFormat.changeBytes...])
    key?.exact.withBytes { texts.copyMemory(from: UnsafeRawBufferPointer($0)) }
    UnsafeMutableRawBufferPointer(rebasing: texts[keyBytes...]).copyMemory(from: payload)
    changes += 1
  }

  /// A place between the changes of a frame.
  package struct Mark {
    fileprivate var bytes: Int
    /// How many changes are before it.
    package fileprivate(set) var count: UInt32

    /// The same place if another one has moved.
    package func moved(from old: Mark, to new: Mark) -> Mark {
      Mark(bytes: bytes &- old.bytes &+ new.bytes, count: count &- old.count &+ new.count)
    }
  }

  /// Where the next change of the frame begins.
  package var mark: Mark { Mark(bytes: buffer.count - start, count: changes) }

  /// The changes of its only frame between two places, once it was ended.
  package func forEachChange(
    from start: Mark, to end: Mark, _ body: (FrameChange) throws(StoreError) -> Void
  ) throws(StoreError) {
    var at = start.bytes
    for _ in start.count..<max(start.count, end.count) {
      guard let change = FrameChange(bytes, at: at) else { throw CommitFrame.malformed }
      try body(change)
      at += change.bytes.count
    }
  }

  /// Replaces the sealed bytes of secrets in its only frame by others of the same length, before it is signed.
  ///
  /// - Parameter replace: returns the others; nil if they stay.
  package func replaceSealed(
    _ replace: (KeyName, [UInt8]) throws(StoreError) -> [UInt8]?
  ) throws(StoreError) {
    let tag = buffer.bytes.number(36, UInt16.self) ?? FrameFormat.noTag
    var at = FrameFormat.headBytes + (tag == FrameFormat.noTag ? 0 : Int(tag))
    for _ in 0..<changes {
      guard let change = FrameChange(buffer.bytes, at: at) else { throw CommitFrame.malformed }
      at += change.bytes.count
      let sealed = change.stored
      guard change.effect == .value, sealed.isSealed,
        let other = try replace(try change.keyName(), Array(sealed.payload)), other.count == sealed.payload.count
      else { continue }
      other.withUnsafeBytes {
        UnsafeMutableRawBufferPointer(rebasing: buffer.mutableBytes[change.offset...]).copyMemory(from: $0)
      }
    }
  }

  /// Makes the head of the frame that is being built say that it erases.
  package func markErasing() {
    head.erases = true
    buffer.put(FrameFormat.erases, at: start + 38)
  }

  /// Adds the changes that another writer has in its only frame between two places.
  package func add(_ other: FrameWriter, from start: Mark, to end: Mark) throws(StoreError) {
    guard let bytes = other.bytes.part(from: start.bytes, end.bytes - start.bytes) else { return }
    try buffer.add(bytes)
    changes += end.count &- start.count
    notesEdits = false
    if other.hasPayload { hasPayload = true }
  }

  /// Ends the frame.
  ///
  /// Throws `tooLarge`, and drops it, if it has 4 GiB.
  package func end() throws(StoreError) {
    try buffer.addZeros(-(buffer.count - start) & 7)
    guard let length = UInt32(exactly: buffer.count - start) else {
      buffer.truncate(to: start)
      throw tooLarge
    }
    buffer.put(length, at: start)
    buffer.put(changes, at: start + 32)
    sign(length)
  }

  /// Moves its one frame to another place, where it is the commit of another revision.
  package func move(to place: FramePlace, revision: Revision, time: Int64) {
    guard let length = UInt32(exactly: start) else { return }
    (self.place, start, head.revision, head.time) = (place, 0, revision, time)
    buffer.put(revision, at: 16)
    buffer.put(time, at: 24)
    sign(length)
  }

  /// The position of its first frame.
  package var begin: Position { place.position - Position(start) }

  /// Adds the seal that ends the journal.
  ///
  /// - Parameter next: the id of the journal that follows.
  package func seal(next: UInt64) throws(StoreError) {
    buffer.truncate(to: start)
    try buffer.addZeros(FrameFormat.sealBytes)
    buffer.put(UInt32(FrameFormat.sealBytes) | FrameFormat.sealBit, at: start)
    buffer.put(next, at: start + 8)
    sign(UInt32(FrameFormat.sealBytes))
    isSeal = true
    place.journal = next
  }

  private func sign(_ length: UInt32) {
    let frame = UnsafeRawBufferPointer(rebasing: buffer.bytes[start...])
    var sum = FrameChecksum(place)
    sum.add(frame)
    buffer.put(sum.value, at: start + 4)
    place.previous = sum.value
    place.position += UInt64(length)
    start = buffer.count
  }

  private var tooLarge: StoreError {
    StoreError(.tooLarge, "the commit is 4 GiB or larger; commit fewer keys at a time")
  }
}

/// The checksum of a frame, over pieces of it.
struct FrameChecksum {
  private(set) var value: UInt32
  private var isFirst = true

  init(_ place: FramePlace) {
    var words = (place.journal.littleEndian, place.position.littleEndian, UInt64(place.previous).littleEndian)
    value = withUnsafeBytes(of: &words) { $0.checksum }
  }

  /// Adds the next piece; the first one has at least the length and the checksum, which it does not cover itself.
  mutating func add(_ piece: UnsafeRawBufferPointer) {
    guard isFirst, piece.count >= 8 else { return value = kept_checksum(value, piece.baseAddress, piece.count) }
    isFirst = false
    value = kept_checksum(value, piece.baseAddress, 4)
    let rest = UnsafeRawBufferPointer(rebasing: piece[8...])
    value = kept_checksum(value, rest.baseAddress, rest.count)
  }
}
