// Pins objects for short reads, so that they are not freed meanwhile, without a lock that all readers share.

import CPlatform
import Synchronization

/// Counts the reading threads in stripes, so that they seldom write to the same cache line.
///
/// There are two sets of stripes. Invariants:
/// - A reader counts itself before it looks at the object, and uncounts itself in the same set.
/// - ``awaitAll()``, one thread at a time, finds the set that is not current empty, makes it current, and then finds
///   the other one empty. So it waits for no reader that begins later, except for those that took the old set just
///   before. A reader that counts itself after its stripe was found empty sees that the object is gone.
package final class Pins: @unchecked Sendable {
  // The compiler cannot check it: the words are only accessed atomically.
  private let sets: (UnsafeMutablePointer<UInt64>, UnsafeMutablePointer<UInt64>)
  private let current: Atomic<UnsafeMutablePointer<UInt64>>
  private let isAwaited = Atomic<Bool>(false)

  private static let stripeCount = 64
  private static let wordsApart = 16

  package init() {
    let words = Self.stripeCount * Self.wordsApart
    let stripes = UnsafeMutableRawPointer.allocate(byteCount: 2 * words * 8, alignment: Self.wordsApart * 8)
      .initializeMemory(as: UInt64.self, repeating: 0, count: 2 * words)
    sets = (stripes, stripes + words)
    current = Atomic(stripes)
    Fork.join(self)
  }

  deinit { sets.0.deallocate() }

  /// Runs `body`, which must be short, call no user code and not wait.
  @inline(__always)
  package func hold<Result>(_ body: () -> Result) -> Result {
    let stripes = current.load(ordering: .relaxed)
    let stripe = stripes + Int(kept_stripe(UInt32(Self.stripeCount))) * Self.wordsApart
    kept_add64(stripe, 1)
    defer { kept_subtract64(stripe, 1) }
    return body()
  }

  /// Waits for the current readers, but not for later ones.
  ///
  /// The object must have been taken away from readers before.
  package func awaitAll() {
    while isAwaited.exchange(true, ordering: .sequentiallyConsistent) { sched_yield() }
    let old = current.load(ordering: .relaxed)
    let new = old == sets.0 ? sets.1 : sets.0
    awaitEmpty(new)
    current.store(new, ordering: .sequentiallyConsistent)
    awaitEmpty(old)
    isAwaited.store(false, ordering: .sequentiallyConsistent)
  }

  /// Whether later readers are counted in the second set.
  var usesSecondSet: Bool { current.load(ordering: .sequentiallyConsistent) == sets.1 }

  private func awaitEmpty(_ stripes: UnsafeMutablePointer<UInt64>) {
    for stripe in 0..<Self.stripeCount {
      while kept_load64(stripes + stripe * Self.wordsApart) != 0 { sched_yield() }
    }
  }
}

extension Pins: ForkAware {
  package func beforeFork() {}

  /// The readers, and those who waited for them, were threads of the parent.
  package func afterForkInChild() {
    for stripes in [sets.0, sets.1] {
      for stripe in 0..<Self.stripeCount { kept_store64(stripes + stripe * Self.wordsApart, 0) }
    }
    isAwaited.store(false, ordering: .sequentiallyConsistent)
  }
}
