// A hash table from the bytes of a key to its known state. Lookups use bytes, so no Swift String is created.

import CPlatform
import KeptSchema
import KeptValues

/// The index's state of a key.
///
/// Readers see it inside the gate of the index, and the changing thread changes it while the gate is closed.
final class IndexedEntry: MemoryEntry, @unchecked Sendable {
  let key: KeyName
  // Apart, because copying an Entry calls five functions.
  fileprivate(set) var revision: Revision = 0
  // Most keys have neither a declaration nor layers, and need not have their value twice.
  private var origin: Origin?
  /// Whether the value is not in memory, but only in the storage.
  fileprivate(set) var isElsewhere = false
  fileprivate var isAbsent: Bool { value == nil && !isElsewhere }

  init(_ key: KeyName) { self.key = key }

  /// The origin of a value that is not read as it is stored.
  private final class Origin {
    var stored: Value?
    let declaration: Declaration?

    init(_ stored: Value?, _ declaration: Declaration?) { (self.stored, self.declaration) = (stored, declaration) }
  }

  var stored: Value? { if let origin { origin.stored } else { value } }

  var declaration: Declaration? { origin?.declaration }

  /// Sets the stored value and the declaration, and how the key reads.
  ///
  /// - Parameters:
  ///   - isAdmitted: whether the value is known to be one that the declaration admits.
  ///   - reading: what makes the value; nil for a reader without layers.
  fileprivate func set(
    _ stored: Value?, _ declaration: Declaration?, isAdmitted: Bool, _ reading: (any EntryReading)?
  ) {
    guard reading != nil || declaration != nil else { return (value, origin) = (stored, nil) }
    if let origin, origin.declaration === declaration {
      origin.stored = stored
    } else {
      origin = Origin(stored, declaration)
    }
    value =
      if let reading { reading.value(of: key, entry) } else if isAdmitted { stored ?? declaration?.defaultValue } else {
        entry?.shown
      }
  }

  /// The stored value and the declaration; nil for neither.
  var entry: Entry? {
    isThere ? Entry(value: stored, revision: revision, declaration: declaration) : nil
  }

  var isThere: Bool { stored != nil || declaration != nil }
}

/// Open addressing by groups of slots with linear probing; at most seven eighths full.
///
/// Not thread-safe: a ``ReadersGate`` protects it. Seqlock readers do not pass the gate: they read, and then check
/// whether the table has changed since. So slots and the bytes of keys are never freed.
final class EntryTable: @unchecked Sendable {
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

  /// Sets the state of a key.
  ///
  /// - Parameters:
  ///   - reading: how the entry reads; nil for a reader without layers.
  ///   - hidesRecord: whether a record of the key beneath the index is out of date.
  @inline(never)
  func put(
    _ key: KeyName, _ entry: Entry?, _ reading: (any EntryReading)? = nil, hidesRecord: Bool = true
  ) {
    if hidesRecord { kept_hide_record(header, key.hash) }
    let known = key.exact.withBytes { search.slot(of: $0, key.hash) }
    set(known ?? newSlot(key), entry?.value, entry?.revision ?? 0, entry?.declaration, isAdmitted: false, reading)
    if known == nil, count * 8 > search.slots.count * 7 { grow() }
  }

  /// Sets the value of a key, which its declaration admits; returns false, with nothing done, if the declaration is not
  /// in the table.
  @inline(never)
  func put(_ value: Value?, ofKnown key: KeyName, _ revision: Revision, _ reading: (any EntryReading)?) -> Bool {
    guard let slot = key.exact.withBytes({ search.slot(of: $0, key.hash) }), let indexed = slot.pointee.indexed,
      !indexed._withUnsafeGuaranteedRef({ $0.isElsewhere })
    else { return false }
    kept_hide_record(header, key.hash)
    set(slot, value, revision, indexed._withUnsafeGuaranteedRef { $0.declaration }, isAdmitted: true, reading)
    return true
  }

  private func set(
    _ slot: UnsafeMutablePointer<kept_slot>, _ stored: Value?, _ revision: Revision, _ declaration: Declaration?,
    isAdmitted: Bool, _ reading: (any EntryReading)?
  ) {
    slot.pointee.indexed?._withUnsafeGuaranteedRef { indexed in
      if indexed.isAbsent { absent -= 1 }
      indexed.revision = revision
      indexed.isElsewhere = false
      indexed.set(stored, declaration, isAdmitted: isAdmitted, reading)
      if indexed.isAbsent { absent += 1 }
      slot.pointee.publish(indexed.value)
    }
  }

  /// Notes that the storage must be asked for a key, whatever lies beneath the index.
  func putElsewhere(_ key: KeyName) {
    put(key, nil)
    guard let slot = key.withPrepared({ search.slot(of: $0.bytes, $0.hash) }) else { return }
    slot.pointee.kind = UInt16(KEPT_SLOT_UNKNOWN)
    slot.pointee.indexed?._withUnsafeGuaranteedRef { $0.isElsewhere = true }
    absent -= 1
  }

  private func newSlot(_ key: KeyName) -> UnsafeMutablePointer<kept_slot> {
    let slot: UnsafeMutablePointer<kept_slot> = kept_take_slot(search.table, key.hash)
    key.exact.withBytes { bytes in
      slot.pointee.bytes = UnsafePointer(keys.copy(bytes))
      slot.pointee.length = UInt32(truncatingIfNeeded: bytes.count)
    }
    slot.pointee.hash = key.hash
    slot.pointee.entry = Unmanaged.passRetained(IndexedEntry(key)).toOpaque()
    count += 1
    absent += 1
    return slot
  }

  /// Removes everything; the memory is kept for reuse.
  func removeAll() {
    for slot in search.slots { slot.indexed?.release() }
    search.table.pointee.clear()
    keys.removeAll()
    kept_hide_no_record(header)
    (count, absent) = (0, 0)
  }

  /// Removes everything, and returns most of the memory to the system until it is used again.
  func shrink() {
    for slot in search.slots { slot.indexed?.release() }
    if used > 0 { search.table.pointee.giveBack() }
    used = 0
    search = Search(table: arrays[used])
    search.table.pointee.clear()
    show()
    keys.shrink()
    kept_hide_no_record(header)
    (count, absent) = (0, 0)
  }

  private func grow() {
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
    // A seqlock reader that is in the old array finds nothing there from now on, and then that the table has changed.
    old.table.pointee.giveBack()
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

  fileprivate mutating func clear() {
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
