// A lock on a whole file, which ends with its process.

import CPlatform

package struct FileLock: Sendable {
  package let descriptor: Int32

  package init(descriptor: Int32) { self.descriptor = descriptor }

  package func close() { CPlatform.close(descriptor) }

  /// Takes the lock exclusively; returns false after the timeout.
  package func take(waiting milliseconds: Int) -> Bool {
    let end = MonotonicTime.milliseconds + Int64(milliseconds)
    var attempt = 0
    while !kept_lock_file(descriptor, Int16(F_WRLCK)) {
      guard MonotonicTime.milliseconds < end else { return false }
      MonotonicTime.backOff(attempt: attempt)
      attempt += 1
    }
    return true
  }

  package func release() { _ = kept_lock_file(descriptor, Int16(F_UNLCK)) }
}
