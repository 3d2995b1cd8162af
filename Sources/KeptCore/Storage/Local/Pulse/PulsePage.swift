// The mapped page that every process with the store open shares: its layout and its invariants.
//
//   byte  0  magic         "KeptPuls"
//   byte  8  format        1
//   byte 16  store         the id of the database it belongs to, 16 bytes
//   byte 64  generation    64 bits
//   byte 128 sleeping      32 bits: 1 if a thread may sleep on `wake`
//   byte 192 wake          32 bits: the futex word, moved to wake the sleepers
//
// Invariants:
// - The generation never returns to a number that it has left. A reader that has seen an even number G and sees G again
//   knows that no commit of Kept became visible in between.
// - While a commit becomes visible the generation is an odd number that no other writer has used. It is moved there
//   under SQLite's write lock, before COMMIT, so a commit is never visible under the even number that was there before.
// - A writer that is killed leaves its odd number. The next writer moves on from there, or a maintenance thread that
//   takes the write lock for it; until then readers query SQLite.
// - The page holds no data: a reader that finds the generation odd or moved queries SQLite.
//
// Words that different writers touch lie on different cache lines.

import CPlatform

/// The words of a mapped pulse.
///
/// The address stays mapped until the process ends, see ``PulsePages``.
struct PulsePage: @unchecked Sendable {
  // The words are atomic; the header is written before the page is shared and only compared afterwards.
  private let start: UnsafeMutableRawPointer

  static let size = 4096
  private static let magic: UInt64 = 0x736C_7550_7470_654B
  private static let format: UInt64 = 1

  init(_ start: UnsafeMutableRawPointer) { self.start = start }

  var generation: UnsafeMutablePointer<UInt64> { (start + 64).assumingMemoryBound(to: UInt64.self) }
  var sleeping: UnsafeMutablePointer<UInt32> { (start + 128).assumingMemoryBound(to: UInt32.self) }
  var wakeWord: UnsafeMutablePointer<UInt32> { (start + 192).assumingMemoryBound(to: UInt32.self) }

  /// Whether the header identifies this page as the pulse of a store.
  func belongs(to store: StoreID) -> Bool {
    start.load(as: UInt64.self) == Self.magic && start.load(fromByteOffset: 8, as: UInt64.self) == Self.format
      && start.load(fromByteOffset: 16, as: UInt64.self) == store.high
      && start.load(fromByteOffset: 24, as: UInt64.self) == store.low
  }

  /// Rewrites the header, and moves the generation to a new odd number.
  ///
  /// Other processes may have the page mapped, and a commit of theirs may be about to become visible: an even number
  /// would hide it. The next commit makes it even, or the maintenance thread of a process that reads meanwhile.
  func initialize(for store: StoreID) {
    start.storeBytes(of: Self.magic, as: UInt64.self)
    start.storeBytes(of: Self.format, toByteOffset: 8, as: UInt64.self)
    start.storeBytes(of: store.high, toByteOffset: 16, as: UInt64.self)
    start.storeBytes(of: store.low, toByteOffset: 24, as: UInt64.self)
    moveToNewOdd()
    kept_store32(sleeping, 1)
  }

  /// Moves the generation to a random odd number, which no process can have seen before.
  func moveToNewOdd() {
    // Below 2^62, so that no number of commits makes it overflow.
    kept_store64(generation, UInt64.random(in: 1..<(1 << 61)) * 2 + 1)
  }

  /// Maps another page in place of this one, at the same address.
  func replace(by other: PulsePage) -> Int32 { kept_replace_mapping(start, other.start, Self.size) }
}

/// The id of a database; a pulse holds the id of the database to which it belongs.
struct StoreID: Hashable, Sendable {
  let high: UInt64
  let low: UInt64
}
