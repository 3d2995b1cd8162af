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
///
/// Thread-safe, because nothing changes it.
// The compiler cannot check it.
final class BulkChanges: @unchecked Sendable {
  let revision: Revision
  private let bytes = ByteBuffer(to: BulkChanges.purpose)
  // 32 bits each.
  private let order = ByteBuffer(to: BulkChanges.purpose)
  private var places: [PlacedValue] = []
  /// How many changes there are.
  private(set) var count = 0
  /// How many of them are of a value.
  private(set) var valueCount = 0
  /// How many changes the frame has, and whether one of them is of the limits of the history.
  let frameCount: Int
  private(set) var changesLimits = false

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
    (revision, frameCount) = (frame.head.revision, frame.count)
    let changes = frame.changes
    try bytes.reserve(changes.count)
    let offsets = try order.add(4 * frame.mostChanges).bindMemory(to: UInt32.self)
    // All before `copied` is in `bytes`.
    var (at, copied, left) = (0, 0, frame.count)
    func copy(to end: Int) throws(StoreError) {
      try bytes.add(UnsafeRawBufferPointer(rebasing: changes[copied..<end]))
      copied = end
    }
    while true {
      let found = kept_scan_changes(
        changes.baseAddress, changes.count, &at, Int64(bytes.count - copied), offsets.baseAddress.map { $0 + count },
        min(left, offsets.count - count))
      (count, valueCount, left) = (count + found, valueCount + found, left - found)
      if left == 0 { break }
      guard count < offsets.count, let change = FrameChange(changes, at: at, changesStart: frame.start) else {
        throw CommitFrame.malformed
      }
      if change.effect.hasKey {
        try change.check()
        offsets[count] = UInt32(truncatingIfNeeded: bytes.count + at - copied)
        count += 1
        if change.effect == .value || change.effect == .removed { valueCount += 1 }
        if change.effect == .value, let place = PlacedValue(change, at: position, in: journal) {
          try copy(to: at + FrameFormat.changeBytes + change.key.count)
          bytes.put(Self.placed, at: bytes.count - change.key.count - FrameFormat.changeBytes + 1)
          bytes.put(UInt32(4), at: bytes.count - change.key.count - FrameFormat.changeBytes + 4)
          try bytes.add(number: UInt32(truncatingIfNeeded: places.count))
          places.append(place)
          copied = at + change.bytes.count
        }
      } else {
        try copy(to: at)
        if change.effect == .historyLimits { changesLimits = true }
        try passOther(change)
        copied = at + change.bytes.count
      }
      (at, left) = (at + change.bytes.count, left - 1)
    }
    try copy(to: at)
    order.truncate(to: 4 * count)
    if !kept_are_changes_ordered(bytes.bytes.baseAddress, offsets.baseAddress, count) {
      var sorted = UnsafeMutableBufferPointer(rebasing: offsets[..<count])
      sorted.sort { one, other in
        let (a, b) = (change(at: one).key, change(at: other).key)
        return a.isBefore(b) || one < other && !b.isBefore(a)
      }
    }
  }

  // MARK: - In order

  private var offsets: UnsafePointer<UInt32>? { order.bytes.bindMemory(to: UInt32.self).baseAddress }

  /// The change at a place in the order of the keys, whose bytes are valid as long as this object exists.
  func change(_ index: Int) -> FrameChange { change(at: order.bytes.load(fromByteOffset: 4 * index, as: UInt32.self)) }

  private func change(at offset: UInt32) -> FrameChange {
    // It was checked when it was copied.
    FrameChange(bytes.bytes, at: Int(offset)) ?? FrameChange.none
  }

  /// The first place in the order that has a key, or one after it.
  private func firstIndex(from key: UnsafeRawBufferPointer) -> Int {
    kept_find_change(bytes.bytes.baseAddress, offsets, count, key.baseAddress, key.count)
  }

  /// Calls `body` with the changes of a key, in the order of the frame.
  func forEach(
    of key: KeyName, _ body: (FrameChange) throws(StoreError) -> Void
  ) throws(StoreError) {
    try key.exact.withBytes { bytes throws(StoreError) in
      let bytes = UnsafeRawBufferPointer(bytes)
      for index in firstIndex(from: bytes)..<count {
        let change = change(index)
        guard change.key.isSame(as: bytes) else { return }
        try body(change)
      }
    }
  }

  /// The places in the order that have the keys with a prefix.
  func range(below prefix: UnsafeRawBufferPointer) -> Range<Int> {
    guard let last = prefix.last else { return 0..<count }
    // No byte of a text is 255.
    let following = Array(prefix.dropLast()) + [last &+ 1]
    return firstIndex(from: prefix)..<following.withUnsafeBytes { firstIndex(from: $0) }
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
    case .value where stored.payload.count <= StoredValue.mostInMemory && !stored.isPlain: _ = try value()
    case .declared: _ = try json()
    default: break
    }
  }
}
