// The gate that a fork closes, so that no thread is in the middle of an operation that the child would inherit
// incomplete.

public import CPlatform

/// Counts the threads that hold a ``Monitor``, and keeps others out while the process forks.
///
/// Invariant: while ``closed`` is 1, no thread is inside, except those that entered before it became 1; the fork waits
/// for these. A thread inside may wait for another process for seconds. The gate opens in between, so that only the
/// fork waits with it. A thread that is inside may enter again, so a fork never waits for a thread that waits for the
/// fork. Therefore locks need no order among themselves here. A thread that sleeps on a condition is outside.
@usableFromInline package final class ForkGate: @unchecked Sendable {
  // The words are atomic.
  private let stripes = Stripes()
  private let closed = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)
  @usableFromInline package let forked = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
  // Held by the forking thread; other forks queue for it.
  private let passage = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  /// Guards the renewal of locks in a child.
  ///
  /// It is held only inside the gate, so it is free when a fork happens.
  let renewal = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

  // How long the gate stays closed while threads are inside (most leave within microseconds), and how long a fork then
  // lets other threads enter.
  private static let briefMilliseconds: Int64 = 2
  private static let patienceMilliseconds: Int64 = 10_000

  package init() {
    closed.initialize(to: 0)
    forked.initialize(to: 0)
    pthread_mutex_init(passage, nil)
    pthread_mutex_init(renewal, nil)
  }

  /// The number of forks between this process and the one that first used the library.
  @inlinable package var forks: UInt64 { kept_load64(forked) }

  /// Enters, after the current fork if there is one.
  @inline(never)
  @usableFromInline package func enter() {
    if kept_fork_depth(0) == 0 { while !tryEnter() { kept_sleep_here(closed, 1, 1000) } }
    _ = kept_fork_depth(1)
  }

  @inline(never)
  @usableFromInline package func leave() {
    if kept_fork_depth(-1) == 0 { kept_subtract64(stripes.own, 1) }
  }

  /// Closes the gate and waits until no thread is inside.
  ///
  /// From then on only the caller counts as inside.
  @inline(never)
  package func close() {
    pthread_mutex_lock(passage)
    let end = MonotonicTime.milliseconds + Self.patienceMilliseconds
    kept_store32(closed, 1)
    while !isEmpty(until: MonotonicTime.milliseconds + Self.briefMilliseconds) {
      // When writers wait in turn, some thread is always inside unless new ones are kept out.
      guard MonotonicTime.milliseconds < end else { continue }
      admit()
      MonotonicTime.letPass(microseconds: 1000)
      kept_store32(closed, 1)
    }
    _ = kept_fork_depth(1)
  }

  private func isEmpty(until end: Int64) -> Bool {
    stripes.awaitEmpty { attempt in
      guard MonotonicTime.milliseconds < end else { return false }
      MonotonicTime.backOff(attempt: attempt)
      return true
    }
  }

  private func admit() {
    kept_store32(closed, 0)
    kept_wake_all_here(closed)
  }

  /// Opens the gate again.
  @inline(never)
  package func open() {
    _ = kept_fork_depth(-1)
    admit()
    pthread_mutex_unlock(passage)
  }

  /// In the child, the threads that were about to enter no longer exist.
  func forgetThreads() {
    stripes.forget()
    kept_add64(forked, 1)
    // Nor do the threads that queued for it.
    pthread_mutex_init(passage, nil)
    pthread_mutex_lock(passage)
  }

  private func tryEnter() -> Bool {
    // Entering precedes reading `closed`, and closing precedes counting, so one of the two sees the other.
    kept_add64(stripes.own, 1)
    if kept_load32(closed) == 0 { return true }
    kept_subtract64(stripes.own, 1)
    return false
  }
}
