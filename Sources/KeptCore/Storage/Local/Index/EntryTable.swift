// A hash table from the bytes of a key to what is known of it. Lookups use bytes, so no Swift String is created.

import CPlatform

/// What the index knows of a key; it is immutable and is replaced by a newer one.
final class IndexedEntry: Sendable {
  let key: KeyName
  /// What is stored and declared; nil for nothing.
  let entry: Entry?
  /// The value that the key reads as; nil if it is absent.
  let value: Value?
  /// A revision at which this was the state of the key.
  let asOf: Revision

  init(_ key: KeyName, _ entry: Entry?, asOf: Revision, showing value: Value?) {
    self.key = key
    self.entry = entry
    self.value = value
    self.asOf = asOf
  }
}

/// Open addressing by groups of slots with linear probing; at most half full.
///
/// Not thread-safe: a ``ReadersGate`` protects it. Seqlock readers do not pass the gate: they read, and then check
/// whether the table has changed meanwhile. So slots and the bytes of keys are never freed.
struct EntryTable: @unchecked Sendable {
  // Invariants: a slot is empty while its tag and its `hash` are 0; from a key's home group up to its own no group has
  // an empty slot; a slot owns a reference to its entry, and its inline value is the value of that entry.
  private(set) var search: Search
  private var keys = KeyArena()
  // All arrays of slots ever allocated, each twice as large as the one before, and the index of the one in use.
  private var arrays: [UnsafeMutablePointer<kept_slots>] = []
  private var used = 0
  // Where the array in use is published to seqlock readers.
  private let header: UnsafeMutablePointer<kept_index_header>
  private(set) var count = 0
  /// The number of entries for absent keys.
  private(set) var absent = 0

  init(shownIn header: UnsafeMutablePointer<kept_index_header>) {
    self.header = header
    // Small, because a program that opens a store may never read from it: a larger one would touch many new pages.
    search = Search(table: Self.allocate(groups: 2))
    arrays.append(search.table)
    show()
  }

  /// Everything that a search needs: a copy of the whole table would count references.
  struct Search {
    fileprivate let table: UnsafeMutablePointer<kept_slots>

    /// Returns the entry of a key without retaining it: use it before the table changes.
    @inline(__always)
    func find(_ key: UnsafeBufferPointer<UInt8>, hash: UInt64) -> Unmanaged<IndexedEntry>? {
      slot(of: key, hash)?.pointee.indexed
    }

    @inline(__always)
    fileprivate func slot(of key: UnsafeBufferPointer<UInt8>, _ hash: UInt64) -> UnsafeMutablePointer<kept_slot>? {
      kept_find(table, key.baseAddress, key.count, hash)
    }

    fileprivate var slots: UnsafeMutableBufferPointer<kept_slot> { table.pointee.all }
  }

  /// Inserts an entry, or replaces the one of its key; an entry of an earlier revision is ignored.
  mutating func put(_ entry: IndexedEntry, hash: UInt64) {
    let slot: UnsafeMutablePointer<kept_slot>
    if let known = entry.key.exact.withBytes({ search.slot(of: $0, hash) }) {
      if let old = known.pointee.indexed?.takeUnretainedValue() {
        guard old.asOf <= entry.asOf else { return }
        if old.value == nil { absent -= 1 }
      }
      known.pointee.indexed?.release()
      slot = known
    } else {
      slot = kept_take_slot(search.table, hash)
      entry.key.exact.withBytes { bytes in
        slot.pointee.bytes = UnsafePointer(keys.copy(bytes))
        slot.pointee.length = UInt32(truncatingIfNeeded: bytes.count)
      }
      slot.pointee.hash = hash
      count += 1
    }
    if entry.value == nil { absent += 1 }
    slot.pointee.entry = Unmanaged.passRetained(entry).toOpaque()
    slot.pointee.publish(entry.value)
    if count * 2 > search.slots.count { grow() }
  }

  /// Removes everything; the memory is kept for reuse.
  mutating func removeAll() {
    for slot in search.slots { slot.indexed?.release() }
    search.table.pointee.clear()
    keys.removeAll()
    (count, absent) = (0, 0)
  }

  /// Removes everything, and returns most of the memory to the system until it is used again.
  mutating func shrink() {
    for slot in search.slots { slot.indexed?.release() }
    for array in arrays.dropFirst().prefix(used) { array.pointee.giveBack() }
    used = 0
    search = Search(table: arrays[used])
    search.table.pointee.clear()
    show()
    keys.shrink()
    (count, absent) = (0, 0)
  }

  private mutating func grow() {
    let old = search
    used += 1
    if used == arrays.count {
      arrays.append(Self.allocate(groups: old.table.pointee.groups * 2))
    } else {
      arrays[used].pointee.clear()
    }
    search = Search(table: arrays[used])
    for slot in old.slots where slot.hash != 0 { kept_take_slot(search.table, slot.hash).pointee = slot }
    show()
  }

  private func show() { kept_publish_slots(header, search.table) }

  private static func allocate(groups: Int) -> UnsafeMutablePointer<kept_slots> {
    let line = MemoryLayout<kept_slot>.stride
    let slotBytes = groups * Int(KEPT_GROUP) * line
    // The tags follow the slots.
    let bytes = UnsafeMutableRawPointer.allocate(
      byteCount: slotBytes + groups * MemoryLayout<UInt64>.stride, alignment: line)
    let table = UnsafeMutablePointer<kept_slots>.allocate(capacity: 1)
    table.initialize(
      to: kept_slots(
        mask: UInt64(groups - 1), slots: bytes.assumingMemoryBound(to: kept_slot.self),
        tags: (bytes + slotBytes).assumingMemoryBound(to: UInt64.self)))
    table.pointee.clear()
    return table
  }
}

extension kept_slots {
  fileprivate var groups: Int { Int(mask) + 1 }

  fileprivate var all: UnsafeMutableBufferPointer<kept_slot> {
    UnsafeMutableBufferPointer(start: slots, count: groups * Int(KEPT_GROUP))
  }

  /// The memory of the slots and of the tags that follow them.
  private var bytes: UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(
      start: slots, count: all.count * MemoryLayout<kept_slot>.stride + groups * MemoryLayout<UInt64>.stride)
  }

  fileprivate func giveBack() { kept_give_back(bytes.baseAddress, bytes.count) }

  fileprivate func clear() {
    tags.initialize(repeating: 0, count: groups)
    all.initialize(repeating: kept_slot())
  }
}

extension kept_slot {
  @inline(__always)
  fileprivate var indexed: Unmanaged<IndexedEntry>? { entry.map { .fromOpaque($0) } }

  /// Stores the value inline if it fits.
  fileprivate mutating func publish(_ value: Value?) {
    (count, payload) = (0, (0, 0, 0, 0))
    switch value {
    case nil: kind = UInt16(KEPT_SLOT_ABSENT)
    case .bool(let value): (kind, payload.0) = (UInt16(KEPT_SLOT_BOOL), value ? 1 : 0)
    case .int(let value): (kind, payload.0) = (UInt16(KEPT_SLOT_INT), UInt64(bitPattern: value))
    case .double(let value): (kind, payload.0) = (UInt16(KEPT_SLOT_DOUBLE), value.bitPattern)
    case .string(let text) where text.utf8.count <= KEPT_SLOT_BYTES:
      (kind, count) = (UInt16(KEPT_SLOT_TEXT), UInt16(text.utf8.count))
      withUnsafeMutableBytes(of: &payload) { $0.copyBytes(from: text.utf8) }
    default: kind = UInt16(KEPT_SLOT_NONE)
    }
  }
}
