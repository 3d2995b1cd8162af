// Who waits for whose callback to return, so that callbacks that cancel each other do not wait for ever.

/// The threads of this process that wait in ``Observer/cancel()``, each for one observer.
///
/// Observers run on several threads when one of them is slow, or when the host dispatches on several. Then two
/// callbacks that cancel each other, or more of them around a ring, would each wait for the next to return. A ring is
/// always closed by somebody who begins to wait: that one does not.
final class CancelWaits: Sendable {
  private let observers = Monitor<[UInt: Observer]>([:])

  static let ofThisProcess = {
    let waits = CancelWaits()
    Fork.join(waits)
    return waits
  }()

  /// Notes that a thread is about to wait for an observer.
  ///
  /// - Returns: false, and nothing is noted, if that observer's callback waits for this thread.
  func begin(_ thread: UInt, waitingFor observer: Observer) -> Bool {
    observers.updateQuietly { observers in
      var next: Observer? = observer
      // This ends: a ring that this thread is no part of was not let come about.
      while let caller = next?.caller {
        if caller == thread { return false }
        next = observers[caller]
      }
      observers[thread] = observer
      return true
    }
  }

  func end(_ thread: UInt) { observers.updateQuietly { $0[thread] = nil } }
}

extension CancelWaits: ForkAware {
  func beforeFork() {}

  /// Whoever waited was a thread of the parent.
  func afterForkInChild() { observers.update { $0 = [:] } }
}
