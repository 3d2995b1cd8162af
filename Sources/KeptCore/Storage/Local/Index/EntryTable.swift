// A hash table from the bytes of a key to what is known of it. Found by bytes: no Swift String is made.

import CPlatform

/// What the index knows of a key; it never changes, a newer one takes its place.
final class IndexedEntry: Sendable {
  let key: KeyName
  /// What is stored and declared; nil: nothing.
  let entry: Entry?
  /// The value that the key reads as; nil: it is absent.
  let value: Value?
  /// A revision at which it was so.
  let asOf: Revision

  init(_ key: KeyName, _ entry: Entry?, asOf: Revision, showing value: Value?) {
    self.key = key
    self.entry = entry
    self.value = value
    self.asOf = asOf
  }
}

/// Open addressing with linear probing; at most half full.
///
/// Not thread-safe: a ``ReadersGate`` stands before it. But who only glances stands outside the gate, and looks whether
/// the table was changed meanwhile: so slots and the bytes of keys are given back only with the whole table.
struct EntryTable: @unchecked Sendable {
  // Invariants: `hash` 0 marks an empty slot; from a key's home slot to its own there is no empty one; the slot owns a
  // reference to its entry, and what it tells at a glance is the value of that entry.
  private(set) var search: Search
  private var slots: UnsafeMutablePointer<kept_slot> { search.slots }
  private var mask: Int { search.mask }
  private var keys = KeyArena()
  // Every array of slots that there ever was, the last one in use; together the others are smaller than that.
  private var arrays: [UnsafeMutablePointer<kept_slots>] = []
  /// The array in use, for those who glance.
  let shown: UnsafeMutablePointer<UnsafeMutablePointer<kept_slots>?>
  private(set) var count = 0
  /// How many entries say that a key is absent.
  private(set) var absent = 0

  init() {
    // Few, because a program that opens a store need not read from it: more would be many new pages of memory.
    search = Search(slots: Self.allocate(16), mask: 15)
    shown = .allocate(capacity: 1)
    shown.initialize(to: nil)
    show()
  }

  /// All that a search needs: a copy of the whole table would count references.
  struct Search {
    fileprivate let slots: UnsafeMutablePointer<kept_slot>
    fileprivate let mask: Int

    /// The entry of a key, without a reference of its own: use it before the table changes.
    @inline(__always)
    @_optimize(speed)
    func find(_ key: UnsafeBufferPointer<UInt8>, hash: UInt64) -> Unmanaged<IndexedEntry>? {
      var place = Int(truncatingIfNeeded: kept_home(hash, UInt64(truncatingIfNeeded: mask)))
      while true {
        let slot = slots + place
        if slot.pointee.hash == 0 { return nil }
        if slot.pointee.hash == hash, slot.pointee.holds(key) { return slot.pointee.indexed }
        place = (place &+ 1) & mask
      }
    }
  }

  /// Puts an entry in, or in place of the one that its key has; one of an earlier revision is left out.
  @_optimize(speed)
  mutating func put(_ entry: IndexedEntry, hash: UInt64) {
    let slot = entry.key.exact.withBytes { place(for: $0, hash) }
    if let old = slot.pointee.indexed?.takeUnretainedValue() {
      guard old.asOf <= entry.asOf else { return }
      if old.value == nil { absent -= 1 }
      slot.pointee.indexed?.release()
    } else {
      entry.key.exact.withBytes { bytes in
        slot.pointee.bytes = UnsafePointer(keys.copy(bytes))
        slot.pointee.length = UInt32(truncatingIfNeeded: bytes.count)
      }
      slot.pointee.hash = hash
      count += 1
    }
    if entry.value == nil { absent += 1 }
    slot.pointee.entry = Unmanaged.passRetained(entry).toOpaque()
    slot.pointee.tell(entry.value)
    if count * 2 > mask { grow() }
  }

  /// Forgets everything; the memory is kept for what comes.
  mutating func removeAll() {
    for place in 0...mask {
      slots[place].indexed?.release()
      slots[place] = kept_slot()
    }
    keys.removeAll()
    (count, absent) = (0, 0)
  }

  /// Frees what the table owns; it must not be used again, nor glanced at.
  func deallocate() {
    for place in 0...mask { slots[place].indexed?.release() }
    for array in arrays {
      UnsafeMutableRawPointer(array.pointee.slots).deallocate()
      array.deallocate()
    }
    keys.deallocate()
    shown.deallocate()
  }

  @_optimize(speed)
  private func place(for key: UnsafeBufferPointer<UInt8>, _ hash: UInt64) -> UnsafeMutablePointer<kept_slot> {
    var place = Int(truncatingIfNeeded: kept_home(hash, UInt64(truncatingIfNeeded: mask)))
    while slots[place].hash != 0 {
      if slots[place].hash == hash, slots[place].holds(key) { break }
      place = (place + 1) & mask
    }
    return slots + place
  }

  private mutating func grow() {
    let old = (slots: slots, mask: mask)
    search = Search(slots: Self.allocate((mask + 1) * 2), mask: mask * 2 + 1)
    for place in 0...old.mask where old.slots[place].hash != 0 {
      var free = Int(truncatingIfNeeded: kept_home(old.slots[place].hash, UInt64(truncatingIfNeeded: mask)))
      while slots[free].hash != 0 { free = (free + 1) & mask }
      slots[free] = old.slots[place]
    }
    show()
  }

  private mutating func show() {
    let array = UnsafeMutablePointer<kept_slots>.allocate(capacity: 1)
    array.initialize(to: kept_slots(mask: UInt64(mask), slots: slots))
    arrays.append(array)
    kept_publish_slots(shown, array)
  }

  private static func allocate(_ count: Int) -> UnsafeMutablePointer<kept_slot> {
    let size = MemoryLayout<kept_slot>.stride
    let bytes = UnsafeMutableRawPointer.allocate(byteCount: count * size, alignment: size)
    return bytes.initializeMemory(as: kept_slot.self, repeating: kept_slot(), count: count)
  }
}

extension kept_slot {
  @inline(__always)
  fileprivate func holds(_ key: UnsafeBufferPointer<UInt8>) -> Bool {
    guard Int(length) == key.count, let bytes, let start = key.baseAddress else { return false }
    return kept_same_bytes(bytes, start, key.count)
  }

  @inline(__always)
  fileprivate var indexed: Unmanaged<IndexedEntry>? { entry.map { .fromOpaque($0) } }

  /// Says at a glance what can be said.
  fileprivate mutating func tell(_ value: Value?) {
    (count, payload) = (0, (0, 0, 0, 0))
    switch value {
    case nil: kind = UInt16(KEPT_GLANCE_ABSENT)
    case .bool(let value): (kind, payload.0) = (UInt16(KEPT_GLANCE_BOOL), value ? 1 : 0)
    case .int(let value): (kind, payload.0) = (UInt16(KEPT_GLANCE_INT), UInt64(bitPattern: value))
    case .double(let value): (kind, payload.0) = (UInt16(KEPT_GLANCE_DOUBLE), value.bitPattern)
    case .string(let text) where text.utf8.count <= KEPT_GLANCE_BYTES:
      (kind, count) = (UInt16(KEPT_GLANCE_TEXT), UInt16(text.utf8.count))
      withUnsafeMutableBytes(of: &payload) { $0.copyBytes(from: text.utf8) }
    default: kind = UInt16(KEPT_NO_GLANCE)
    }
  }
}
