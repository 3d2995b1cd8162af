// An event descriptor: a file descriptor that is readable while it is signalled.

import CPlatform
package import KeptValues

/// Wakes event loops.
package final class EventDescriptor: Sendable {
  /// Readable while the event is signalled.
  package let descriptor: Int32
  private let writing: Int32

  package init() throws(StoreError) {
    var ends: (Int32, Int32) = (-1, -1)
    guard kept_event_open(&ends.0, &ends.1) == 0 else {
      let error = kept_errno()
      let words = String(cString: strerror(error))
      let remedy = error == ENOMEM ? "free some memory" : "close some files"
      throw StoreError(.failed, "could not create a descriptor for the event loop: \(words); \(remedy)")
    }
    (descriptor, writing) = ends
  }

  deinit { kept_event_close(descriptor, writing) }

  /// Makes the descriptor readable.
  ///
  /// Signalling it twice has the same effect as once.
  package func signal() { kept_event_signal(writing) }

  package func clear() { kept_event_clear(descriptor) }

  /// Replaces the event with a new one under the same descriptor number, in the child of a fork.
  package func renew() { kept_event_renew(descriptor, writing) }
}
