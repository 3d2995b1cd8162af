// Pins objects for short reads, so that they are not freed meanwhile, without a lock that all readers share.

import CPlatform

/// Counts the reading threads in stripes, so that they seldom write to the same cache line.
package final class Pins: @unchecked Sendable {
  // The compiler cannot check it: the words are only accessed atomically.
  private let stripes: UnsafeMutablePointer<UInt64>

  private static let stripeCount = 64
  private static let wordsApart = 16

  package init() {
    let bytes = Self.wordsApart * 8
    stripes = UnsafeMutableRawPointer.allocate(byteCount: Self.stripeCount * bytes, alignment: bytes)
      .initializeMemory(as: UInt64.self, repeating: 0, count: Self.stripeCount * Self.wordsApart)
    Fork.join(self)
  }

  deinit { stripes.deallocate() }

  /// Runs `body`, which must be short, call no user code and not wait.
  @inline(__always)
  package func hold<Result>(_ body: () -> Result) -> Result {
    let stripe = stripes + Int(kept_stripe(UInt32(Self.stripeCount))) * Self.wordsApart
    kept_add64(stripe, 1)
    defer { kept_subtract64(stripe, 1) }
    return body()
  }

  /// Waits for the current readers, but not for later ones.
  package func awaitAll() {
    for stripe in 0..<Self.stripeCount {
      while kept_load64(stripes + stripe * Self.wordsApart) != 0 { sched_yield() }
    }
  }
}

extension Pins: ForkAware {
  package func beforeFork() {}

  /// The readers were threads of the parent.
  package func afterForkInChild() {
    for stripe in 0..<Self.stripeCount { kept_store64(stripes + stripe * Self.wordsApart, 0) }
  }
}
