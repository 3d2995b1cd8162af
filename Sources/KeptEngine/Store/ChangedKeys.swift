// The keys that have changed since a checkpoint, in their order.

import KeptSystem
import KeptValues

/// The changes of keys, one key after the other.
///
/// Not thread-safe.
final class ChangedKeys {
  private let known: [(key: KeyName, value: KeyChange)]
  // The bytes of the known keys, one after the other: those of a String are valid in a closure only.
  private let names = ByteBuffer(to: "list the keys")
  private var ends = [0]
  private var nextKnown = 0
  // Changes in bulk, the oldest first.
  private var bulk: [Cursor] = []

  /// The bytes of the key; nil at the end.
  private(set) var key: UnsafeRawBufferPointer?
  // Whether it is one of the known keys.
  private var isKnown = false
  // From the first to the last one in `bulk` that has changes of it.
  private var holders = 0..<0

  /// - Parameters:
  ///   - known: in the order of the keys; these are whole.
  ///   - prefix: of the keys from `bulk`.
  init(
    _ known: [(key: KeyName, value: KeyChange)], _ bulk: [BulkChanges], _ prefix: ExactString
  ) throws(StoreError) {
    self.known = known
    ends.reserveCapacity(known.count + 1)
    for (key, _) in known {
      try key.exact.withBytes { bytes throws(StoreError) in try names.add(UnsafeRawBufferPointer(bytes)) }
      ends.append(names.count)
    }
    prefix.withBytes { prefix in
      self.bulk = bulk.map { Cursor($0, $0.range(below: UnsafeRawBufferPointer(prefix))) }
    }
    findKey()
  }

  private var knownKey: UnsafeRawBufferPointer? {
    guard nextKnown < known.count else { return nil }
    return UnsafeRawBufferPointer(rebasing: names.bytes[ends[nextKnown]..<ends[nextKnown + 1]])
  }

  private func findKey() {
    (key, isKnown, holders) = (knownKey, nextKnown < known.count, 0..<0)
    for index in bulk.indices {
      guard let other = bulk[index].first?.key else { continue }
      if let least = key, !other.isBefore(least) {
        if other.isSame(as: least) { holders = (holders.first ?? index)..<index + 1 }
      } else {
        (key, isKnown, holders) = (other, false, index..<index + 1)
      }
    }
  }

  /// Calls `body` with each change in bulk of the key.
  private func forEachInBulk(_ body: (BulkChanges, FrameChange) throws(StoreError) -> Void) throws(StoreError) {
    guard let key else { return }
    for index in holders {
      guard let first = bulk[index].first, first.key.isSame(as: key) else { continue }
      try body(bulk[index].changes, first)
      for other in bulk[index].others { try body(bulk[index].changes, bulk[index].changes.change(other)) }
    }
  }

  /// Goes to the next key.
  func pass() {
    guard let key else { return }
    if isKnown { nextKnown += 1 }
    for index in holders where bulk[index].first?.key.isSame(as: key) == true { bulk[index].pass() }
    findKey()
  }

  /// The change of the key.
  func change() throws(StoreError) -> KeyChange {
    if isKnown { return known[nextKnown].value }
    var found = KeyChange()
    try forEachInBulk { changes, change throws(StoreError) in try changes.apply(change, to: &found) }
    return found
  }

  /// How many bytes reading its value adds to the memory.
  func bytesToRead() throws(StoreError) -> Int {
    if isKnown { return known[nextKnown].value.value?.bytesToRead ?? 0 }
    var bytes = 0
    try forEachInBulk { changes, change throws(StoreError) in bytes = changes.bytesToRead(change) }
    return bytes
  }

  /// The revision of the last change of the key.
  func changed() throws(StoreError) -> Revision {
    if isKnown { return known[nextKnown].value.changed }
    var last: Revision = 0
    try forEachInBulk { changes, _ throws(StoreError) in last = changes.revision }
    return last
  }

  /// The last value of the key, if it is in memory and all changes of the key are of its value, and the revision.
  func onlyValue() -> (value: StoredValue, revision: Revision)? {
    guard let key, !isKnown else { return nil }
    var found: (StoredValue, Revision)?
    for index in holders {
      guard let first = bulk[index].first, first.key.isSame(as: key) else { continue }
      guard bulk[index].others.isEmpty, first.effect == .value || first.effect == .removed else { return nil }
      found = bulk[index].changes.value(first).map { ($0, bulk[index].changes.revision) }
    }
    return found
  }

  func name() throws(StoreError) -> KeyName {
    if isKnown { return known[nextKnown].key }
    guard let name = key?.keyName else { throw CommitFrame.malformed }
    return name
  }
}

/// The changes of a frame that have not been passed, in the order of the keys.
private struct Cursor {
  let changes: BulkChanges
  /// The first change of the next key; nil at the end.
  private(set) var first: FrameChange?
  /// The other changes of this key.
  private(set) var others = 0..<0
  private var following: FrameChange?
  private let end: Int

  init(_ changes: BulkChanges, _ range: Range<Int>) {
    (self.changes, end, others) = (changes, range.upperBound, range.lowerBound..<range.lowerBound)
    if let first = range.first { following = changes.change(first) }
    pass()
  }

  /// Goes to the next key; each change is decoded once.
  mutating func pass() {
    first = following
    guard let first else { return }
    let start = others.upperBound + 1
    var index = start
    following = nil
    while index < end {
      let next = changes.change(index)
      guard next.key.isSame(as: first.key) else {
        following = next
        break
      }
      index += 1
    }
    others = start..<index
  }
}
