// Pins objects for short reads, so that they are not freed meanwhile, without a lock that all readers share.

import CPlatform
import Synchronization

/// Counts the reading threads in two sets of ``Stripes``.
///
/// Invariants:
/// - A reader counts itself before it looks at the object, and uncounts itself in the same set.
/// - ``awaitAll()``, one thread at a time, finds the set that is not current empty, makes it current, and then finds
///   the other one empty. So it waits for no reader that begins later, except for those that took the old set just
///   before. A reader that counts itself after its stripe was found empty sees that the object is gone.
package final class Pins: Sendable {
  private let sets = (Stripes(), Stripes())
  private let isSecondCurrent = Atomic<Bool>(false)
  private let isAwaited = Atomic<Bool>(false)

  package init() { Fork.join(self) }

  deinit {
    sets.0.deallocate()
    sets.1.deallocate()
  }

  /// Runs `body`, which must be short, call no user code and not wait.
  @inline(__always)
  package func hold<Result>(_ body: () -> Result) -> Result {
    let stripe = isSecondCurrent.load(ordering: .relaxed) ? sets.1.own : sets.0.own
    kept_add64(stripe, 1)
    defer { kept_subtract64(stripe, 1) }
    return body()
  }

  /// Waits for the current readers, but not for later ones.
  ///
  /// The object must have been taken away from readers before.
  package func awaitAll() {
    var attempt = 0
    while isAwaited.exchange(true, ordering: .sequentiallyConsistent) {
      _ = Stripes.pause(attempt: attempt)
      attempt += 1
    }
    let usedSecond = usesSecondSet
    let (old, new) = usedSecond ? (sets.1, sets.0) : sets
    new.awaitEmpty()
    isSecondCurrent.store(!usedSecond, ordering: .sequentiallyConsistent)
    old.awaitEmpty()
    isAwaited.store(false, ordering: .sequentiallyConsistent)
  }

  /// Whether later readers are counted in the second set.
  var usesSecondSet: Bool { isSecondCurrent.load(ordering: .sequentiallyConsistent) }
}

extension Pins: ForkAware {
  package func beforeFork() {}

  /// The readers, and those who waited for them, were threads of the parent.
  package func afterForkInChild() {
    sets.0.forget()
    sets.1.forget()
    isAwaited.store(false, ordering: .sequentiallyConsistent)
  }
}
