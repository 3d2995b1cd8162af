// A file descriptor that is readable while it rings.

import CPlatform

/// Wakes event loops.
final class EventBell: Sendable {
  /// Readable while the bell rings.
  let descriptor: Int32
  private let writing: Int32

  init() throws(StoreError) {
    var ends: (Int32, Int32) = (-1, -1)
    guard kept_bell_open(&ends.0, &ends.1) == 0 else {
      let words = String(cString: strerror(kept_errno()))
      throw StoreError(.failed, "could not make a descriptor for the event loop: \(words); close some files")
    }
    (descriptor, writing) = ends
  }

  deinit { kept_bell_close(descriptor, writing) }

  /// Makes it readable; ringing twice is ringing once.
  func ring() { kept_bell_ring(writing) }

  func silence() { kept_bell_silence(descriptor) }

  /// In the child of a fork: another bell under the same number.
  func renew() { kept_bell_renew(descriptor, writing) }
}
