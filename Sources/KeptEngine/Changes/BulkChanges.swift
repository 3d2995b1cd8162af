// The changes of a commit with many keys, in memory in the format of its frame: an object for each key would take more
// time than writing the frame.

import CPlatform
import KeptSystem
import KeptValues

/// The changes that one frame makes to keys.
///
/// Invariants:
/// - `bytes` has a change in the format of a frame at each offset in `order`. Its key is valid, and its value or its
///   declaration can be read. A payload of more than 4 KiB stays in the journal: the kind is then `placed`, and the
///   payload is an index of `places`.
/// - `order` has each change once, in the order of the keys, and for one key in the order of the frame.
/// - `slots` has each change once, as bits of the hash of its key and its offset plus 1. No slot from the home of the
///   hash up to there is 0. Changes of one key are there in the order of the frame. At most half of the slots are used.
///
/// Thread-safe, because nothing changes it.
// The compiler cannot check it.
final class BulkChanges: @unchecked Sendable {
  let revision: Revision
  private let bytes = ByteBuffer(to: BulkChanges.purpose)
  private var order: [UInt32] = []
  private let slots = ByteBuffer(to: BulkChanges.purpose)
  private let mask: Int
  private var places: [PlacedValue] = []
  /// How many of the changes are of a value.
  private(set) var valueCount = 0

  private static let purpose: StaticString = "read the changes"
  private static let placed: UInt8 = 0xFF

  /// A frame with fewer changes is not worth it.
  static let least = 4096

  /// Reads a frame.
  ///
  /// Throws `corrupt` if it is malformed.
  /// - Parameter passOther: called with the changes that are not about a key.
  init(
    _ frame: CommitFrame, at position: Position, in journal: Journal,
    _ passOther: (FrameChange) throws(StoreError) -> Void
  ) throws(StoreError) {
    revision = frame.head.revision
    var capacity = 8
    while capacity < 2 * frame.mostChanges { capacity *= 2 }
    mask = capacity - 1
    try slots.addZeros(8 * capacity)
    try bytes.reserve(frame.byteCount)
    try Memory.ask(for: 4 * frame.mostChanges, to: "\(Self.purpose)")
    order.reserveCapacity(frame.mostChanges)
    var (last, isOrdered) = (UnsafeRawBufferPointer(start: nil, count: 0), true)
    try frame.forEachChange { change throws(StoreError) in
      guard change.effect.hasKey else { return try passOther(change) }
      try change.check()
      let offset = UInt32(truncatingIfNeeded: bytes.count)
      try copy(change, position, journal)
      order.append(offset)
      if change.effect == .value || change.effect == .removed { valueCount += 1 }
      put(KeyHash.of(change.key.bindMemory(to: UInt8.self)), offset)
      if change.key.isBefore(last) { isOrdered = false }
      last = change.key
    }
    if !isOrdered {
      order.sort { one, other in
        let (a, b) = (key(at: one), key(at: other))
        return a.isBefore(b) || one < other && !b.isBefore(a)
      }
    }
  }

  private func copy(_ change: FrameChange, _ position: Position, _ journal: Journal) throws(StoreError) {
    guard change.effect == .value, let place = PlacedValue(change, at: position, in: journal) else {
      return try bytes.add(change.bytes)
    }
    let at = bytes.count
    try bytes.add(UnsafeRawBufferPointer(rebasing: change.bytes[..<(FrameFormat.changeBytes + change.key.count)]))
    bytes.put(Self.placed, at: at + 1)
    bytes.put(UInt32(4), at: at + 4)
    try bytes.add(number: UInt32(truncatingIfNeeded: places.count))
    places.append(place)
  }

  // MARK: - By key

  private func home(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash >> 1) & mask }

  private func put(_ hash: UInt64, _ offset: UInt32) {
    let slots = slots.mutableBytes
    var slot = home(hash)
    while slots.load(fromByteOffset: 8 * slot, as: UInt64.self) != 0 { slot = (slot + 1) & mask }
    slots.storeBytes(of: (hash >> 32) << 32 | (UInt64(offset) + 1), toByteOffset: 8 * slot, as: UInt64.self)
  }

  /// Calls `body` with the changes of a key, in the order of the frame.
  func forEach(
    of key: KeyName, _ body: (FrameChange) throws(StoreError) -> Void
  ) throws(StoreError) {
    try key.exact.withBytes { bytes throws(StoreError) in
      let (bytes, slots) = (UnsafeRawBufferPointer(bytes), slots.bytes)
      var slot = home(key.hash)
      while case let word = slots.load(fromByteOffset: 8 * slot, as: UInt64.self), word != 0 {
        if word >> 32 == key.hash >> 32 {
          let change = change(at: UInt32(truncatingIfNeeded: word &- 1))
          if change.key.count == bytes.count, change.key.elementsEqual(bytes) { try body(change) }
        }
        slot = (slot + 1) & mask
      }
    }
  }

  // MARK: - In order

  /// How many changes there are.
  var count: Int { order.count }

  /// The change at a place in the order of the keys, whose bytes are valid as long as this object exists.
  func change(_ index: Int) -> FrameChange { change(at: order[index]) }

  private func change(at offset: UInt32) -> FrameChange {
    // It was checked when it was copied.
    FrameChange(bytes.bytes, at: Int(offset)) ?? FrameChange.none
  }

  private func key(at offset: UInt32) -> UnsafeRawBufferPointer { change(at: offset).key }

  /// The places in the order that have the keys with a prefix.
  func range(below prefix: UnsafeRawBufferPointer) -> Range<Int> {
    func first(_ isBehind: (UnsafeRawBufferPointer) -> Bool) -> Int {
      var (low, high) = (0, order.count)
      while low < high {
        let middle = low + (high - low) / 2
        if isBehind(change(middle).key) { high = middle } else { low = middle + 1 }
      }
      return low
    }
    let start = first { !$0.isBefore(prefix) }
    let end = first { !$0.isBefore(prefix) && !$0.prefix(prefix.count).elementsEqual(prefix) }
    return start..<max(start, end)
  }

  /// Adds a change to what is known of its key.
  func apply(_ change: FrameChange, to key: inout KeyChange) throws(StoreError) {
    try key.apply(change, at: revision, place(of: change))
  }

  private func place(of change: FrameChange) -> PlacedValue? {
    guard change.effect == .value, change.stored.kind == Self.placed,
      let index = change.stored.payload.number(0, UInt32.self)
    else { return nil }
    return places[Int(index)]
  }

  /// Passes the value that a change sets to `body`, unless it has more bytes than a limit.
  func withValue(
    _ change: FrameChange, upTo bytes: Int, _ body: (StoredValue) -> Void
  ) throws(StoreError) {
    if let place = place(of: change) {
      guard place.bytes <= bytes else { return }
      try place.withStored { stored throws(StoreError) in body(stored) }
    } else if change.effect == .value {
      body(change.stored)
    }
  }

  /// How many bytes reading the value of a change adds to the memory.
  func bytesToRead(_ change: FrameChange) -> Int { place(of: change)?.bytes ?? change.stored.payload.count }

  /// The value that a change sets, if it is in memory.
  func value(_ change: FrameChange) -> StoredValue? {
    change.effect == .value && change.stored.kind != Self.placed ? change.stored : nil
  }
}

extension FrameChange {
  /// No change.
  fileprivate static var none: FrameChange {
    let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    return FrameChange(
      effect: .acknowledged, key: nothing, stored: StoredValue(kind: StoredValue.none, payload: nothing), offset: 0,
      bytes: nothing)
  }

  /// Throws `corrupt` unless the key is valid, and the value or declaration can be read if it is kept in memory.
  fileprivate func check() throws(StoreError) {
    if !key.isPlainText || key.count > Limits.keyBytes { _ = try keyName() }
    switch effect {
    case .value where stored.payload.count <= PlacedValue.least && !stored.isPlain: _ = try value()
    case .declared: _ = try json()
    default: break
    }
  }
}
