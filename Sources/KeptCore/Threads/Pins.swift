// Looking at something for an instant while nobody frees it, without a lock that all would meet at.

import CPlatform

/// Counts the threads that look, in stripes, so that they seldom write to the same cache line.
package final class Pins: @unchecked Sendable {
  // The compiler cannot see it: the words are only touched atomically.
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

  /// Runs `body`, which is short, calls nobody and waits for nothing.
  @inline(__always)
  package func hold<Result>(_ body: () -> Result) -> Result {
    let stripe = stripes + Int(kept_stripe(UInt32(Self.stripeCount))) * Self.wordsApart
    kept_add64(stripe, 1)
    defer { kept_subtract64(stripe, 1) }
    return body()
  }

  /// Waits for those who look now, but for nobody who begins later.
  package func awaitAll() {
    for stripe in 0..<Self.stripeCount {
      while kept_load64(stripes + stripe * Self.wordsApart) != 0 { sched_yield() }
    }
  }
}

extension Pins: ForkAware {
  package func beforeFork() {}

  /// Whoever looked was a thread of the parent.
  package func afterForkInChild() {
    for stripe in 0..<Self.stripeCount { kept_store64(stripes + stripe * Self.wordsApart, 0) }
  }
}
