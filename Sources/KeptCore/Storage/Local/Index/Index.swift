// What this process has read, kept in memory together with the generation under which it is known to be current.
//
// Invariants:
// - An entry is what the database held at some revision up to `applied`, and every key in the table is as it was at
//   `applied` or later.
// - The gate is open for a generation G only if the table was brought up to date between two readings of the pulse that
//   both gave G, and G is even. So whoever reads G from the pulse and passes the gate for G reads nothing stale: had a
//   commit become visible meanwhile, the pulse would have moved first.
// - The table changes only while the gate's sequence number is odd, and that number never returns. So what was copied
//   without passing, between two readings of the same even number, stood there at a moment when the gate was open for
// G.

import CPlatform

/// The index of one open store, and of others before and after it: see ``Indexes``.
///
/// Readers pass without a lock; changes are made by one thread at a time.
final class Index: @unchecked Sendable {
  // `table` and `applied` are touched by readers inside the gate, and by the one changer while it is closed.
  private let gate = ReadersGate()
  private var table: EntryTable
  private(set) var applied: Revision = 0
  // One seed for the process, so that a prepared key serves every store.
  private static let seed = UInt64.random(in: 1 ... .max)

  /// So many absent keys are remembered; with one more all of them are forgotten.
  private static let absentLimit = 16_384

  init() {
    table = EntryTable(shownIn: gate.header)
    gate.header.pointee.index = Unmanaged.passUnretained(self).toOpaque()
  }

  /// The generation for which the index is current; odd: for none.
  var generation: UInt64 { gate.generation }

  @inline(__always)
  static func hash(_ key: UnsafeBufferPointer<UInt8>) -> UInt64 { kept_hash(key.baseAddress, key.count, seed) }

  /// Gives `body` the entry of a key; nil if the index is not current at this generation or does not know the key.
  @inline(__always)
  func read<Result>(
    _ key: PreparedBytes, at generation: UInt64, _ body: (IndexedEntry) -> Result
  ) -> Result? {
    gate.pass(at: generation) {
      table.search.find(key.bytes, hash: key.hash)?._withUnsafeGuaranteedRef { body($0) }
    }
  }

  /// Where those look who take what the index can tell of a key at a glance, and write no word that others see.
  @inline(__always)
  var header: UnsafePointer<kept_index_header> { UnsafePointer(gate.header) }

  /// Whether it holds nothing.
  ///
  /// For the one changer, as the next.
  var isEmpty: Bool { table.count == 0 }

  /// Whether it knows the key; others are not worth the memory until they are read.
  func knows(_ key: KeyName) -> Bool { entry(for: key) != nil }

  /// What it knows of a key, as of `applied`.
  ///
  /// For the one changer, too.
  func entry(for key: KeyName) -> IndexedEntry? {
    key.exact.withBytes { table.search.find($0, hash: key.hash)?.takeUnretainedValue() }
  }

  /// Adds what was read of one key while the index was, and stayed, current.
  func add(_ key: KeyName, _ entry: Entry?, _ reading: any EntryReading) {
    let current = gate.generation
    change(current: current, applied: applied) { $0.put(key, entry, asOf: applied, reading) }
  }

  /// Brings the table to another revision; afterwards it is current at `current`, or at no generation for nil.
  func change(current: UInt64?, applied: Revision, _ body: (inout Changes) -> Void) {
    gate.close {
      var changes = Changes(table: table)
      body(&changes)
      if changes.table.absent > Self.absentLimit { changes.table.removeAll() }
      table = changes.table
      self.applied = applied
      return current
    }
  }

  /// Forgets everything, and gives the memory back: it is as a new one.
  func clear() {
    gate.close {
      table.shrink()
      applied = 0
      return nil
    }
  }

  /// In the child of a fork: the table is whole, since nobody was changing it, and as current as it was.
  func afterForkInChild() { gate.forgetReaders() }

  /// Says that nothing in it may be used until it was brought up to date.
  func distrust() { gate.close { nil } }

  /// What a change may do while the gate is closed.
  struct Changes {
    fileprivate var table: EntryTable

    /// How many keys are known, the absent ones too.
    var count: Int { table.count }

    /// Puts in what a key has at a revision, and what it reads as.
    mutating func put(_ key: KeyName, _ entry: Entry?, asOf revision: Revision, _ reading: any EntryReading) {
      let known = entry?.isThere == true ? entry : nil
      let indexed = IndexedEntry(key, known, asOf: revision, showing: reading.value(of: key, known))
      table.put(indexed, hash: key.hash)
    }

    mutating func removeAll() { table.removeAll() }
  }
}
