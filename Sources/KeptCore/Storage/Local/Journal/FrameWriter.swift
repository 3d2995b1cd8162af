// Builds the frames of a group of commits in one buffer, which is written with one call.

import CPlatform

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

  init(capacity: Int = 4096) {
    self.capacity = capacity
    memory = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit { memory.deallocate() }

  /// The frames that were ended.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory, count: start) }

  func removeAll() { (start, count, changes) = (0, 0, 0) }

  /// Begins a frame.
  ///
  /// A tag that is longer than a frame admits is cut off.
  func begin(_ head: FrameHead) {
    count = start
    changes = 0
    let at = reserve(FrameFormat.headBytes)
    put(head.writer, at + 8)
    put(head.revision, at + 16)
    put(head.time, at + 24)
    put(UInt32(0), at + 36)
    guard let tag = head.tag else { return put(FrameFormat.noTag, at + 36) }
    ExactString(tag).withBytes { bytes in
      let length = min(bytes.count, FrameFormat.longestTag)
      copy(UnsafeRawBufferPointer(bytes).prefix(length))
      put(UInt16(length), start + 36)
    }
  }

  /// Adds a change without a payload.
  func add(_ effect: FrameEffect, _ key: KeyName) { key.exact.withBytes { add(effect, 0, $0) {} } }

  /// Adds a value.
  func add(_ value: Value, _ key: KeyName) throws(StoreError) {
    try key.exact.withBytes { bytes throws(StoreError) in
      switch value {
      case .null: add(.removed, 0, bytes) {}
      case .bool(let value): add(number: value ? UInt8(1) : 0, .bool, bytes)
      case .int(let value): add(number: value, .int, bytes)
      case .uint(let value): add(number: value, .uint, bytes)
      case .double(let value): add(number: value.bitPattern, .double, bytes)
      case .string(let text):
        ExactString(text).withBytes { text in add(.value, 5, bytes) { copy(UnsafeRawBufferPointer(text)[...]) } }
      case .bytes(let content):
        content.withUnsafeBytes { content in add(.value, 6, bytes) { copy(content[...]) } }
      case .date(let date):
        add(.value, 7, bytes) {
          let at = reserve(12)
          put(date.seconds, at)
          put(date.nanoseconds, at + 8)
        }
      case .array, .dictionary:
        try value.withJSON { text throws(StoreError) in
          add(.value, value.kind.number, bytes) { copy(UnsafeRawBufferPointer(text)[...]) }
        }
      }
    }
  }

  /// Adds a value that is a body in the database.
  func add(staged body: UInt64, _ key: KeyName) {
    key.exact.withBytes { add(.staged, 0, $0) { put(body, reserve(8)) } }
  }

  /// Adds a declaration.
  func add(declaration json: ExactString, _ key: KeyName) {
    key.exact.withBytes { key in
      json.withBytes { json in add(.declared, 0, key) { copy(UnsafeRawBufferPointer(json)[...]) } }
    }
  }

  /// Adds the schema version of the store.
  func add(schemaVersion version: UInt32) {
    add(.schemaVersion, 0, UnsafeBufferPointer(start: nil, count: 0)) { put(version, reserve(4)) }
  }

  /// Ends the frame, for a place in the journal.
  ///
  /// - Returns: its checksum, which the next frame's place contains.
  func end(at place: FramePlace) -> UInt32 {
    let length = FrameFormat.aligned(count - start)
    let end = reserve(length - (count - start))
    (memory + end).initializeMemory(as: UInt8.self, repeating: 0, count: count - end)
    put(UInt32(truncatingIfNeeded: length), start)
    put(changes, start + 32)
    return seal(at: place, upTo: length)
  }

  /// The length that the frame has once it is ended.
  var length: Int { FrameFormat.aligned(count - start) }

  /// Adds the head of a frame that has no content and fills the end of the ring.
  ///
  /// - Returns: its checksum.
  func pad(_ length: Int, at place: FramePlace) -> UInt32 {
    count = start
    put(UInt32(truncatingIfNeeded: length) | 1, reserve(FrameFormat.paddingBytes))
    return seal(at: place, upTo: FrameFormat.paddingBytes)
  }

  /// Removes the frame that was begun.
  func cancel() { count = start }

  private func seal(at place: FramePlace, upTo end: Int) -> UInt32 {
    let sum = place.checksum(of: UnsafeRawBufferPointer(start: memory + start, count: count - start), upTo: end)
    put(sum, start + 4)
    start = count
    return sum
  }

  private func add(number: some FixedWidthInteger, _ kind: Value.Kind, _ key: UnsafeBufferPointer<UInt8>) {
    add(.value, kind.number, key) { put(number, reserve(number.bitWidth / 8)) }
  }

  @inline(__always)
  private func add(_ effect: FrameEffect, _ kind: UInt8, _ key: UnsafeBufferPointer<UInt8>, _ payload: () -> Void) {
    let at = reserve(FrameFormat.changeBytes)
    put(effect.rawValue, at)
    put(kind, at + 1)
    put(UInt16(truncatingIfNeeded: key.count), at + 2)
    copy(UnsafeRawBufferPointer(key)[...])
    let payloadStart = count
    payload()
    put(UInt32(truncatingIfNeeded: count - payloadStart), at + 4)
    changes += 1
  }

  private func put<Number: FixedWidthInteger>(_ number: Number, _ offset: Int) {
    memory.storeBytes(of: number.littleEndian, toByteOffset: offset, as: Number.self)
  }

  private func copy(_ bytes: Slice<UnsafeRawBufferPointer>) {
    let at = reserve(bytes.count)
    UnsafeMutableRawBufferPointer(start: memory + at, count: bytes.count).copyBytes(from: bytes)
  }

  /// Makes room at the end; returns where it begins.
  private func reserve(_ more: Int) -> Int {
    let at = count
    if at + more > capacity { grow(for: at + more) }
    count = at + more
    return at
  }

  private func grow(for wanted: Int) {
    capacity = max(2 * capacity, wanted)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    larger.copyMemory(from: memory, byteCount: count)
    memory.deallocate()
    memory = larger
  }
}
