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

/// Open addressing by groups of slots, one after the other; at most half full.
///
/// Not thread-safe: a ``ReadersGate`` stands before it. But who only glances stands outside the gate, and looks whether
/// the table was changed meanwhile: so slots and the bytes of keys are never freed.
struct EntryTable: @unchecked Sendable {
  // Invariants: a slot is empty while its tag and its `hash` are 0; from a key's home group up to its own no group has
  // an empty slot; a slot owns a reference to its entry, and what it tells at a glance is the value of that entry.
  private(set) var search: Search
  private var keys = KeyArena()
  // Every array of slots that there ever was, each twice as large as the one before, and which of them is in use.
  private var arrays: [UnsafeMutablePointer<kept_slots>] = []
  private var used = 0
  // Where the array in use is shown to those who glance.
  private let header: UnsafeMutablePointer<kept_index_header>
  private(set) var count = 0
  /// How many entries say that a key is absent.
  private(set) var absent = 0

  init(shownIn header: UnsafeMutablePointer<kept_index_header>) {
    self.header = header
    // Few, because a program that opens a store need not read from it: more would be many new pages of memory.
    search = Search(table: Self.allocate(groups: 2))
    arrays.append(search.table)
    show()
  }

  /// All that a search needs: a copy of the whole table would count references.
  struct Search {
    fileprivate let table: UnsafeMutablePointer<kept_slots>

    /// The entry of a key, without a reference of its own: use it before the table changes.
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

  /// Puts an entry in, or in place of the one that its key has; one of an earlier revision is left out.
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
    slot.pointee.tell(entry.value)
    if count * 2 > search.slots.count { grow() }
  }

  /// Forgets everything; the memory is kept for what comes.
  mutating func removeAll() {
    for slot in search.slots { slot.indexed?.release() }
    search.table.pointee.clear()
    keys.removeAll()
    (count, absent) = (0, 0)
  }

  /// The same, and the system has most of the memory until then.
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
    // The tags behind the slots.
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

  /// Where they are, in one piece with the tags behind them.
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

  /// Says at a glance what can be said.
  fileprivate mutating func tell(_ value: Value?) {
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
