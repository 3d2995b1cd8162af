// The values that this process has read, kept in memory with the generation at which it is current.
//
// Invariants:
// - An entry is what the store held at some revision up to `applied`, and every key in the table is as it was at
//   `applied` or later.
// - The gate is open for a generation G only if the table was brought up to date between two readings of the pulse that
//   both gave G, and G is even. So a reader that reads G from the pulse and passes the gate for G reads nothing stale:
//   if a commit had become visible in between, the pulse would have moved first.
// - The table changes only while the gate's sequence number is odd, and that number never repeats. So a copy that a
//   seqlock reader made between two readings of the same even number was the state at a time when the gate was open
//   for G.

import CPlatform
import KeptEngine
import KeptValues

/// The index of one open store, and later of others: see ``Indexes``.
///
/// Readers pass without a lock; one thread at a time changes it.
final class Index: MemoryIndex, @unchecked Sendable {
  // Readers use `table` and `applied` inside the gate; the changing thread uses them while the gate is closed.
  let table: EntryTable
  private(set) var applied: Revision = 0

  /// The number of absent keys that are remembered; above it everything is removed.
  private static let absentLimit = 16_384

  init() {
    let gate = ReadersGate()
    table = EntryTable(shownIn: gate.header)
    super.init(gate)
    gate.header.pointee.index = Unmanaged.passUnretained(self).toOpaque()
  }

  /// The generation for which the index is current; odd if there is none.
  var generation: UInt64 { gate.generation }

  /// The header for seqlock readers, which read inline values and write no shared word.
  @inline(__always)
  var header: UnsafePointer<kept_index_header> { UnsafePointer(gate.header) }

  /// Whether it knows the key; a key that was never read is not worth the memory.
  func knows(_ key: KeyName) -> Bool { entry(for: key) != nil }

  /// Returns what it knows of a key, as of `applied`.
  ///
  /// Only the changing thread may call this.
  @inline(never)
  func entry(for key: KeyName) -> IndexedEntry? { key.withPrepared { entry(for: $0) } }

  func entry(for key: PreparedBytes) -> IndexedEntry? {
    table.search.find(key.bytes, hash: key.hash)?.takeUnretainedValue()
  }

  /// Whether there is room for a key that has not changed: one that is absent, or whose value takes long to read.
  func hasRoom(for value: StoredValue?) -> Bool {
    guard let value else { return table.count < Self.mostRead / 2 }
    return value.payload.count <= Self.longestRead && table.count < Self.mostRead
  }

  private static let mostRead = 2048
  private static let longestRead = 1024

  /// Moves the table to another revision; afterwards it is current at `current`, or at no generation for nil.
  ///
  func change(current: UInt64?, applied: Revision, _ body: (EntryTable) -> Void) {
    gate.close {
      body(table)
      if mustBeEmptied {
        table.removeAll()
        // Changes of the records beneath would be missing.
        kept_publish_records(gate.header, nil)
      }
      self.applied = applied
      return current
    }
  }

  /// Whether the table has enough absent keys to be emptied.
  var mustBeEmptied: Bool { table.absent > Self.absentLimit }

  /// Puts other records beneath the index, and removes everything else.
  ///
  /// From then on it is current at a generation, with what `body` puts into it.
  /// - Parameter records: nil if there are none, so that the storage is asked for each key that is not in the table.
  func change(current: UInt64, applied: Revision, _ records: UnsafeRawPointer?, _ body: (EntryTable) -> Void) {
    gate.close {
      table.removeAll()
      kept_publish_records(gate.header, records)
      body(table)
      self.applied = applied
      return current
    }
  }

  /// Removes everything, and returns the memory to the system, as in a new index.
  func clear() {
    gate.close {
      table.shrink()
      kept_publish_records(gate.header, nil)
      applied = 0
      return nil
    }
  }

  /// Resets the readers in the child of a fork: no thread was changing the table, so it is intact, and stays current.
  func afterForkInChild() { gate.forgetReaders() }

  /// Makes the index unusable until it is brought up to date.
  func distrust() { gate.close { nil } }
}
