// Counts threads that are in the middle of something, in several words, so that they seldom write to the same cache
// line; and pins objects for short reads, so that they are not freed during the read, without a lock that all readers
// share.

public import CPlatform
public import Synchronization

/// The counts of the threads that are inside something.
///
/// There are only as many as the processors need, because a thread that waits for all others reads every count.
@usableFromInline package struct Stripes: @unchecked Sendable {
  // The words are only accessed atomically. A late reader may still use them, so most owners never free them.
  @usableFromInline package let words: UnsafeMutablePointer<UInt64>
  @usableFromInline package let count = kept_stripe_count()

  @usableFromInline package static let wordsApart = 16

  package init() {
    let words = Int(count) * Self.wordsApart
    self.words = UnsafeMutableRawPointer.allocate(byteCount: words * 8, alignment: Self.wordsApart * 8)
      .initializeMemory(as: UInt64.self, repeating: 0, count: words)
  }

  package func deallocate() { words.deallocate() }

  /// The word that this thread counts in.
  @inlinable @inline(__always)
  package var own: UnsafeMutablePointer<UInt64> { words + Int(kept_stripe(count)) * Self.wordsApart }

  /// Finds every count 0 once, one after the other.
  ///
  /// - Parameter pause: called with a growing number while one is not 0; false gives up.
  /// - Returns: whether it did not give up.
  @discardableResult
  @inline(__always)
  package func awaitEmpty(_ pause: (Int) -> Bool = Self.pause) -> Bool {
    kept_are_zero(words, Int(count), Self.wordsApart) || awaitEach(pause)
  }

  @inline(never)
  private func awaitEach(_ pause: (Int) -> Bool) -> Bool {
    var attempt = 0
    for stripe in 0..<Int(count) {
      while kept_load64(words + stripe * Self.wordsApart) != 0 {
        guard pause(attempt) else { return false }
        attempt += 1
      }
    }
    return true
  }

  /// Lets other threads run, at last also those of a lower priority.
  package static func pause(attempt: Int) -> Bool {
    if attempt < 100 { sched_yield() } else { MonotonicTime.letPass(microseconds: 50) }
    return true
  }

  /// Resets the counts in the child of a fork: the threads that were inside do not exist there.
  package func forget() {
    for stripe in 0..<Int(count) { kept_store64(words + stripe * Self.wordsApart, 0) }
  }
}

/// Counts the reading threads in two sets of ``Stripes``.
///
/// Invariants:
/// - A reader counts itself before it looks at the object, and uncounts itself in the same set.
/// - ``awaitAll()``, one thread at a time, finds the set that is not current empty, makes it current, and then finds
///   the other one empty. So it waits for no reader that begins later, except for those that took the old set just
///   before. A reader that counts itself after its stripe was found empty sees that the object is gone.
@usableFromInline package final class Pins: Sendable {
  @usableFromInline package let sets = (Stripes(), Stripes())
  @usableFromInline package let isSecondCurrent = Atomic<Bool>(false)
  private let isAwaited = Atomic<Bool>(false)

  package init() { Fork.join(self) }

  deinit {
    sets.0.deallocate()
    sets.1.deallocate()
  }

  /// Runs `body`, which must be short, call no user code and not wait.
  @inlinable @inline(__always)
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
  /// The readers, and those who waited for them, were threads of the parent.
  package func afterForkInChild() {
    sets.0.forget()
    sets.1.forget()
    isAwaited.store(false, ordering: .sequentiallyConsistent)
  }
}
