// Builds the frames of a group of commits in one buffer, which is written with one call.

import CPlatform
import KeptValues

/// The frames of one group, one after the other.
///
/// Not thread-safe. The buffer is reused for the next group.
final class FrameWriter {
  private var memory: UnsafeMutableRawPointer
  private var capacity: Int
  /// Where the current frame begins.
  private var start = 0
  private(set) var count = 0
  private var changes: UInt32 = 0
  /// Whether a frame names a body.
  private(set) var namesBodies = false
  /// The length at which the current frame was too long for any ring.
  private(set) var tooLong: Int?

  init(capacity: Int = 4096) {
    self.capacity = capacity
    memory = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit { memory.deallocate() }

  /// The frames that were ended.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory, count: start) }

  func removeAll() { (start, count, namesBodies, tooLong) = (0, 0, false, nil) }

  /// Begins a frame.
  ///
  /// A tag that is longer than a frame admits is cut off.
  func begin(_ head: FrameHead) {
    count = start
    changes = 0
    tooLong = nil
    let at = room(FrameFormat.headBytes)
    at.put(head.writer, 8)
    at.put(head.revision, 16)
    at.put(head.time, 24)
    guard let tag = head.tag else { return at.put(UInt32(FrameFormat.noTag), 36) }
    ExactString(tag).withBytes { bytes in
      let length = min(bytes.count, FrameFormat.longestTag)
      at.put(UInt32(length), 36)
      copy(UnsafeBufferPointer(rebasing: bytes[..<length]), room(length))
    }
  }

  /// Adds a change without a payload.
  ///
  /// Each change throws `failed` if the buffer cannot grow, and `tooLarge` if no ring has room for the frame.
  func add(_ effect: FrameEffect, _ key: KeyName) throws(StoreError) {
    try key.exact.withBytes { key throws(StoreError) in _ = try add(effect, 0, key, 0) }
  }

  /// Adds a value.
  func add(_ value: Value, _ key: KeyName) throws(StoreError) {
    try key.exact.withBytes { key throws(StoreError) in try add(value, key) }
  }

  /// Adds what an edit changes.
  func add(_ edit: Batch.Edit, _ key: UnsafeBufferPointer<UInt8>) throws(StoreError) {
    switch edit {
    case .set(let value): try add(value, key)
    case .remove: _ = try add(.removed, 0, key, 0)
    }
  }

  func add(_ value: Value, _ key: UnsafeBufferPointer<UInt8>) throws(StoreError) {
    switch value {
    case .null: _ = try add(.removed, 0, key, 0)
    case .bool(let value): try add(value ? 1 : 0 as UInt8, .bool, key)
    case .int(let value): try add(value, .int, key)
    case .uint(let value): try add(value, .uint, key)
    case .double(let value): try add(value.bitPattern, .double, key)
    case .string(let text):
      try ExactString(text).withBytes { text throws(StoreError) in try add(.value, 5, key, text) }
    case .bytes(let content):
      try content.withUnsafeBufferPointer { content in
        Result { () throws(StoreError) in try add(.value, 6, key, content) }
      }.get()
    case .date(let date):
      let at = try add(.value, 7, key, 12)
      at.put(date.seconds, 0)
      at.put(date.nanoseconds, 8)
    case .array, .dictionary:
      try value.withJSON { text throws(StoreError) in try add(.value, value.kind.number, key, text) }
    }
  }

  /// Adds a value that is a body in the database.
  func add(staged body: UInt64, _ key: KeyName) throws(StoreError) {
    namesBodies = true
    try key.exact.withBytes { key throws(StoreError) in try add(.staged, 0, key, 8).put(body, 0) }
  }

  /// Adds the changes of many keys that are bodies in the database.
  func add(bulk bodies: UInt64) throws(StoreError) {
    namesBodies = true
    try add(.bulk, 0, Self.noKey, 8).put(bodies, 0)
  }

  /// Adds a declaration.
  func add(declaration json: ExactString, _ key: KeyName) throws(StoreError) {
    try key.exact.withBytes { key throws(StoreError) in
      try json.withBytes { json throws(StoreError) in try add(.declared, 0, key, json) }
    }
  }

  /// Adds the schema version of the store.
  func add(schemaVersion version: UInt32) throws(StoreError) {
    try add(.schemaVersion, 0, Self.noKey, 4).put(version, 0)
  }

  private static var noKey: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: nil, count: 0) }

  /// Ends the frame, for a place in the journal.
  ///
  /// - Returns: its checksum, which the next frame's place contains.
  func end(at place: FramePlace) -> UInt32 {
    let length = self.length
    let missing = length - (count - start)
    room(missing).initializeMemory(as: UInt8.self, repeating: 0, count: missing)
    (memory + start).put(UInt32(truncatingIfNeeded: length), 0)
    (memory + start).put(changes, 32)
    return seal(at: place, upTo: length)
  }

  /// The length that the frame has once it is ended, a multiple of 8.
  var length: Int { (count - start + 7) & ~7 }

  /// Adds the head of a frame that has no content and fills the end of the ring.
  ///
  /// - Returns: its checksum.
  func pad(_ length: Int, at place: FramePlace) -> UInt32 {
    count = start
    room(FrameFormat.paddingBytes).put(UInt32(truncatingIfNeeded: length) | 1, 0)
    return seal(at: place, upTo: FrameFormat.paddingBytes)
  }

  private func seal(at place: FramePlace, upTo end: Int) -> UInt32 {
    let sum = place.checksum(of: UnsafeRawBufferPointer(start: memory + start, count: count - start), upTo: end)
    (memory + start).put(sum, 4)
    start = count
    return sum
  }

  private func add(
    _ number: some FixedWidthInteger, _ kind: Value.Kind, _ key: UnsafeBufferPointer<UInt8>
  ) throws(StoreError) {
    try add(.value, kind.number, key, number.bitWidth / 8).put(number, 0)
  }

  private func add(
    _ effect: FrameEffect, _ kind: UInt8, _ key: UnsafeBufferPointer<UInt8>, _ payload: UnsafeBufferPointer<UInt8>
  ) throws(StoreError) {
    copy(payload, try add(effect, kind, key, payload.count))
  }

  /// Adds a change with room for its payload; returns where that is.
  private func add(
    _ effect: FrameEffect, _ kind: UInt8, _ key: UnsafeBufferPointer<UInt8>, _ bytes: Int
  ) throws(StoreError) -> UnsafeMutableRawPointer {
    let more = FrameFormat.changeBytes + key.count + bytes
    if count + more > capacity { try makeRoom(for: more) }
    let at = room(more)
    at.put(UInt16(effect.rawValue) | UInt16(kind) << 8, 0)
    at.put(UInt16(truncatingIfNeeded: key.count), 2)
    at.put(UInt32(truncatingIfNeeded: bytes), 4)
    copy(key, at + FrameFormat.changeBytes)
    changes += 1
    return at + FrameFormat.changeBytes + key.count
  }

  private func copy(_ bytes: UnsafeBufferPointer<UInt8>, _ place: UnsafeMutableRawPointer) {
    if let start = bytes.baseAddress { place.copyMemory(from: start, byteCount: bytes.count) }
  }

  private func makeRoom(for more: Int) throws(StoreError) {
    guard count - start + more <= JournalHeader.mostBytes / 4 else {
      tooLong = count - start + more
      throw StoreError(
        .tooLarge,
        "the commit needs at least \(count - start + more) bytes in the journal; at most "
          + "\(JournalHeader.mostBytes / 4) are allowed; split it")
    }
    try Memory.ask(for: 2 * capacity + more, to: JournalWriter.purpose)
    grow(for: count + more)
  }

  /// Takes bytes at the end; returns where they begin.
  @inline(__always)
  private func room(_ more: Int) -> UnsafeMutableRawPointer {
    let at = count
    if at + more > capacity { grow(for: at + more) }
    count = at + more
    return memory + at
  }

  private func grow(for wanted: Int) {
    capacity = max(2 * capacity, wanted)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    larger.copyMemory(from: memory, byteCount: count)
    memory.deallocate()
    memory = larger
  }
}

extension UnsafeMutableRawPointer {
  @inline(__always)
  fileprivate func put<Number: FixedWidthInteger>(_ number: Number, _ offset: Int) {
    storeBytes(of: number.littleEndian, toByteOffset: offset, as: Number.self)
  }
}
