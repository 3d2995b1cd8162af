// Who waits for whose callback to return, so that callbacks that cancel each other do not wait for ever.

/// Somebody who is called by one thread at a time.
protocol WaitTarget: AnyObject, Sendable {
  /// The thread that is in a call of it now.
  var caller: UInt? { get }
}

/// The threads of this process that wait for a callback to return, so that they can end what it belongs to.
///
/// Callbacks run on several threads: observers when one of them is slow, or when the host dispatches on several, and
/// those of layers on the one that watches files. Two that end each other, or more of them around a ring, would each
/// wait for the next to return. A ring is always closed by somebody who begins to wait: that one does not.
final class CancellationWaits: Sendable {
  private let callees = Monitor<[UInt: any WaitTarget]>([:])

  static let ofThisProcess = {
    let waits = CancellationWaits()
    Fork.join(waits)
    return waits
  }()

  /// Notes that a thread is about to wait for a callback.
  ///
  /// - Returns: false, and nothing is noted, if that callback is this thread's own, or waits for it.
  func begin(_ thread: UInt, waitingFor callee: any WaitTarget) -> Bool {
    callees.updateQuietly { callees in
      var next: (any WaitTarget)? = callee
      // This ends: a ring that this thread is no part of was not let come about.
      while let caller = next?.caller {
        if caller == thread { return false }
        next = callees[caller]
      }
      callees[thread] = callee
      return true
    }
  }

  func end(_ thread: UInt) { callees.updateQuietly { $0[thread] = nil } }
}

extension CancellationWaits: ForkAware {
  func beforeFork() {}

  /// Whoever waited was a thread of the parent.
  func afterForkInChild() { callees.update { $0 = [:] } }
}
