// A gate that many readers pass at once without contention, and that one changing thread closes briefly.

import CPlatform
import KeptSystem

/// Counts readers in ``Stripes``.
///
/// Invariant: while ``generation`` is odd no reader is inside, except those that entered before it became odd; the
/// changing thread waits for these. A reader is inside only if it has found ``generation`` equal to the even number
/// that it was given.
struct ReadersGate: @unchecked Sendable {
  // All words are atomic. They are never freed, because a late reader may still use them.
  private let stripes = Stripes()
  /// The header for seqlock readers, which do not pass the gate; on cache lines of its own.
  let header: UnsafeMutablePointer<kept_index_header>
  private let open: UnsafeMutablePointer<UInt64>
  private let sequence: UnsafeMutablePointer<UInt64>

  private static let lineBytes = 128
  /// Odd, so it differs from every generation for which the gate opens.
  private static let closed: UInt64 = 1

  init() {
    header = UnsafeMutableRawPointer.allocate(byteCount: Self.lineBytes, alignment: Self.lineBytes)
      .initializeMemory(as: kept_index_header.self, repeating: kept_index_header(), count: 1)
    (open, sequence) = (kept_index_header_open(header), kept_index_header_sequence(header))
    open.pointee = Self.closed
  }

  /// The generation for which the gate is open; odd while it is closed.
  var generation: UInt64 { kept_load64(open) }

  /// Runs `body` inside if the gate is open for this generation; returns nil otherwise.
  @inline(__always)
  func pass<Result>(at generation: UInt64, _ body: () -> Result?) -> Result? {
    let stripe = stripes.own
    // A reader counts itself before it checks, and the changer closes before it counts: one of the two sees the other.
    kept_add64(stripe, 1)
    defer { kept_subtract64(stripe, 1) }
    guard kept_load64(open) == generation else { return nil }
    return body()
  }

  /// Resets the counts in the child of a fork: readers that were inside do not exist there.
  func forgetReaders() { stripes.forget() }

  /// Closes the gate, waits until no reader is inside, runs `body`, and opens it for the generation that it returns.
  ///
  /// One thread at a time may call this, and never from inside the gate.
  func close(_ body: () -> UInt64?) {
    kept_store64(open, Self.closed)
    stripes.awaitEmpty()
    kept_add64(sequence, 1)
    kept_fence()
    let generation = body() ?? Self.closed
    kept_add64(sequence, 1)
    kept_store64(open, generation)
  }
}
