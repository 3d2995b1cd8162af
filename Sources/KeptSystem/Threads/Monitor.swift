// A lock with a condition that stays usable across a fork. `Synchronization.Mutex` has no condition and identifies its
// holder by a thread id that differs in the child, and Dispatch does not survive a fork.

public import CPlatform
public import Synchronization

/// State that one thread at a time may access, and whose changes others can wait for.
///
/// Never call user code inside ``read(_:)`` or ``update(_:)``: they hold the lock, and a fork waits for it.
@usableFromInline package final class Monitor<State>: @unchecked Sendable {
  // The compiler cannot check it: `state` is accessed only while `mutex` is locked. It is allocated separately, because
  // Swift checks at run time that accesses to a property do not overlap, which took 1,400 instructions of each set.
  @usableFromInline package let state = UnsafeMutablePointer<State>.allocate(capacity: 1)
  @usableFromInline package let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  @usableFromInline package let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  // The fork count at which both were created: in a child, vanished threads may still appear to wait for them.
  @usableFromInline package let made: Atomic<UInt64>
  @usableFromInline package let gate = Fork.gate

  package init(_ state: sending State) {
    self.state.initialize(to: state)
    made = Atomic(gate.forks)
    pthread_mutex_init(mutex, nil)
    kept_condition_init(changed)
  }

  deinit {
    // Destroying a condition waits for its waiting threads, even if they have vanished.
    if made.load(ordering: .acquiring) == gate.forks {
      pthread_cond_destroy(changed)
      pthread_mutex_destroy(mutex)
    }
    changed.deallocate()
    mutex.deallocate()
    state.deinitialize(count: 1)
    state.deallocate()
  }

  /// Reads the state.
  @inlinable package func read<Result, Failure: Error>(_ body: (State) throws(Failure) -> Result) throws(Failure)
    -> Result
  {
    lock()
    defer { unlock() }
    return try body(state.pointee)
  }

  /// Changes the state and wakes all waiting threads.
  @inlinable package func update<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock()
    defer {
      pthread_cond_broadcast(changed)
      unlock()
    }
    return try body(&state.pointee)
  }

  /// Changes the state without waking any thread, for changes that no waiting thread depends on.
  @inlinable package func updateQuietly<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock()
    defer { unlock() }
    return try body(&state.pointee)
  }

  /// Changes the state without waking any thread; nil if another thread has it locked.
  @inlinable package func tryUpdateQuietly<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result?
  ) throws(Failure) -> Result? {
    enter()
    guard pthread_mutex_trylock(mutex) == 0 else {
      gate.leave()
      return nil
    }
    defer { unlock() }
    return try body(&state.pointee)
  }

  /// Waits until `body` returns a result or the time is up; then returns nil.
  @inlinable package func wait<Result>(milliseconds: Int64, until body: (inout State) -> Result?) -> Result? {
    let deadline = kept_deadline(milliseconds)
    lock()
    defer { unlock() }
    while true {
      if let result = body(&state.pointee) { return result }
      guard sleep({ kept_wait_until(changed, mutex, deadline) }) else { return nil }
    }
  }

  /// Waits until `body` returns a result.
  ///
  /// `body` is called now, and again after each change.
  @inlinable package func wait<Result>(until body: (inout State) -> Result?) -> Result {
    lock()
    defer { unlock() }
    while true {
      if let result = body(&state.pointee) { return result }
      sleep { pthread_cond_wait(changed, mutex) }
    }
  }

  @inlinable package func lock() {
    enter()
    pthread_mutex_lock(mutex)
  }

  @inlinable package func enter() {
    gate.enter()
    if made.load(ordering: .acquiring) != gate.forks { renew() }
  }

  @inlinable package func unlock() {
    pthread_mutex_unlock(mutex)
    gate.leave()
  }

  /// Sleeps outside the gate, so that a fork does not wait for sleeping threads.
  @discardableResult
  @inlinable package func sleep<Result>(_ wait: () -> Result) -> Result {
    gate.leave()
    let result = wait()
    // It must not wait at the gate with the mutex locked: a thread inside may need the mutex.
    pthread_mutex_unlock(mutex)
    lock()
    return result
  }

  /// Creates a new mutex and condition in the child of the process that used them.
  ///
  /// The state is consistent: no thread was inside during the fork.
  @usableFromInline package func renew() {
    pthread_mutex_lock(gate.renewal)
    defer { pthread_mutex_unlock(gate.renewal) }
    guard made.load(ordering: .acquiring) != gate.forks else { return }
    pthread_mutex_init(mutex, nil)
    kept_condition_init(changed)
    made.store(gate.forks, ordering: .releasing)
  }
}
