// A file descriptor that is readable while it rings.

import CPlatform

/// Wakes event loops.
final class EventDescriptor: Sendable {
  /// Readable while the bell rings.
  let descriptor: Int32
  private let writing: Int32

  init() throws(StoreError) {
    var ends: (Int32, Int32) = (-1, -1)
    guard kept_event_open(&ends.0, &ends.1) == 0 else {
      let words = String(cString: strerror(kept_errno()))
      throw StoreError(.failed, "could not make a descriptor for the event loop: \(words); close some files")
    }
    (descriptor, writing) = ends
  }

  deinit { kept_event_close(descriptor, writing) }

  /// Makes it readable; ringing twice is ringing once.
  func signal() { kept_event_signal(writing) }

  func clear() { kept_event_clear(descriptor) }

  /// In the child of a fork: another bell under the same number.
  func renew() { kept_event_renew(descriptor, writing) }
}
