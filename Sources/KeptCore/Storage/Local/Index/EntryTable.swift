// A hash table from the bytes of a key to what is known of it. Found by bytes: no Swift String is made.

import CPlatform

/// What the index knows of a key; it never changes, a newer one takes its place.
final class IndexedEntry: Sendable {
  let key: KeyName
  /// nil: the key is absent.
  let value: Value?
  /// The revision that last changed the key, or at which it was found to be absent.
  let revision: Revision

  init(_ key: KeyName, _ entry: Entry) {
    self.key = key
    value = entry.value
    revision = entry.revision
  }

  var entry: Entry? { value.map { Entry(value: $0, revision: revision) } }
}

/// Open addressing with linear probing; at most half full.
///
/// Not thread-safe: a ``ReadersGate`` stands before it.
struct EntryTable: @unchecked Sendable {
  // Invariants: `hash` 0 marks an empty slot; from a key's home slot to its own there is no empty one; the slot owns a
  // reference to its entry, and `bytes` point into a copy of the key that the slot owns.
  fileprivate struct Slot {
    var hash: UInt64 = 0
    var bytes: UnsafeMutablePointer<UInt8>?
    var length = 0
    var entry: Unmanaged<IndexedEntry>?
  }

  private var slots: UnsafeMutablePointer<Slot>
  private var mask: Int
  private(set) var count = 0
  /// How many entries say that a key is absent.
  private(set) var absent = 0

  init() {
    slots = Self.allocate(1024)
    mask = 1023
  }

  /// The entry of a key, without a reference of its own: use it before the table changes.
  @inline(__always)
  func find(_ key: UnsafeBufferPointer<UInt8>, hash: UInt64) -> Unmanaged<IndexedEntry>? {
    var place = Int(truncatingIfNeeded: hash) & mask
    while true {
      let slot = slots + place
      if slot.pointee.hash == 0 { return nil }
      if slot.pointee.hash == hash, slot.pointee.length == key.count, let bytes = slot.pointee.bytes,
        let start = key.baseAddress, kept_same_bytes(bytes, start, key.count)
      {
        return slot.pointee.entry
      }
      place = (place &+ 1) & mask
    }
  }

  /// Puts an entry in, or in place of the one that its key has; one of a lower revision is left out.
  mutating func put(_ entry: IndexedEntry, hash: UInt64) {
    let slot = entry.key.exact.withBytes { place(for: $0, hash) }
    if let old = slot.pointee.entry?.takeUnretainedValue() {
      guard old.revision <= entry.revision else { return }
      if old.value == nil { absent -= 1 }
      slot.pointee.entry?.release()
    } else {
      entry.key.exact.withBytes { slot.pointee.own($0, hash) }
      count += 1
    }
    if entry.value == nil { absent += 1 }
    slot.pointee.entry = .passRetained(entry)
    if count * 2 > mask { grow() }
  }

  /// Forgets everything, and the memory with it.
  mutating func removeAll() {
    for place in 0...mask { slots[place].free() }
    slots.deallocate()
    self = EntryTable()
  }

  /// Frees what the table owns; it must not be used again.
  func deallocate() {
    for place in 0...mask { slots[place].free() }
    slots.deallocate()
  }

  private func place(for key: UnsafeBufferPointer<UInt8>, _ hash: UInt64) -> UnsafeMutablePointer<Slot> {
    var place = Int(truncatingIfNeeded: hash) & mask
    while slots[place].hash != 0 {
      if slots[place].hash == hash, slots[place].holds(key) { break }
      place = (place + 1) & mask
    }
    return slots + place
  }

  private mutating func grow() {
    let old = (slots: slots, mask: mask)
    slots = Self.allocate((mask + 1) * 2)
    mask = mask * 2 + 1
    for place in 0...old.mask where old.slots[place].hash != 0 {
      var free = Int(truncatingIfNeeded: old.slots[place].hash) & mask
      while slots[free].hash != 0 { free = (free + 1) & mask }
      slots[free] = old.slots[place]
    }
    old.slots.deallocate()
  }

  private static func allocate(_ count: Int) -> UnsafeMutablePointer<Slot> {
    let slots = UnsafeMutablePointer<Slot>.allocate(capacity: count)
    slots.initialize(repeating: Slot(), count: count)
    return slots
  }
}

extension EntryTable.Slot {
  fileprivate func holds(_ key: UnsafeBufferPointer<UInt8>) -> Bool {
    guard length == key.count, let bytes, let start = key.baseAddress else { return false }
    return kept_same_bytes(bytes, start, length)
  }

  fileprivate mutating func own(_ key: UnsafeBufferPointer<UInt8>, _ hash: UInt64) {
    let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: max(key.count, 1))
    if let start = key.baseAddress { copy.update(from: start, count: key.count) }
    self.hash = hash
    bytes = copy
    length = key.count
  }

  fileprivate func free() {
    bytes?.deallocate()
    entry?.release()
  }
}
