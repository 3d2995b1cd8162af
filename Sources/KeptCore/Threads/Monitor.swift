// A lock with a place to wait: `Synchronization.Mutex` has no condition, and Dispatch does not survive a fork.

import CPlatform

/// State that one thread at a time may touch, and whose changes others can wait for.
///
/// Never call a user's code inside ``read(_:)`` or ``update(_:)``: they hold the lock.
final class Monitor<State>: @unchecked Sendable {
  // The compiler cannot see it: `state` is touched only between lock and unlock of `mutex`.
  private var state: State
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  init(_ state: sending State) {
    self.state = state
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(changed, nil)
  }

  deinit {
    pthread_cond_destroy(changed)
    pthread_mutex_destroy(mutex)
    changed.deallocate()
    mutex.deallocate()
  }

  /// Looks at the state.
  func read<Result, Failure: Error>(_ body: (State) throws(Failure) -> Result) throws(Failure) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(state)
  }

  /// Changes the state and wakes everyone who waits for it.
  func update<Result, Failure: Error>(_ body: (inout State) throws(Failure) -> Result) throws(Failure) -> Result {
    pthread_mutex_lock(mutex)
    defer {
      pthread_cond_broadcast(changed)
      pthread_mutex_unlock(mutex)
    }
    return try body(&state)
  }

  /// Changes the state where nobody who waits can be concerned, and wakes nobody.
  func updateQuietly<Result, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&state)
  }

  /// Waits until `body` gives a result, at most so long; nil when the time is up.
  func wait<Result>(milliseconds: Int64, until body: (inout State) -> Result?) -> Result? {
    let deadline = kept_deadline(milliseconds)
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&state) { return result }
      guard kept_wait_until(changed, mutex, deadline) else { return nil }
    }
  }

  /// Waits until `body` gives a result; it is asked now, and again after each change.
  func wait<Result>(until body: (inout State) -> Result?) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      if let result = body(&state) { return result }
      pthread_cond_wait(changed, mutex)
    }
  }
}
