// An event descriptor: a file descriptor that is readable while it is signalled.

import CPlatform

/// Wakes event loops.
final class EventDescriptor: Sendable {
  /// Readable while the event is signalled.
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

  /// Makes the descriptor readable.
  ///
  /// Signalling it twice has the same effect as once.
  func signal() { kept_event_signal(writing) }

  func clear() { kept_event_clear(descriptor) }

  /// Replaces the event with a new one under the same descriptor number, in the child of a fork.
  func renew() { kept_event_renew(descriptor, writing) }
}
