// Tracks which thread waits for which callback to return, so that callbacks that cancel each other do not deadlock.

/// A callback owner that is called by one thread at a time.
package protocol WaitTarget: AnyObject, Sendable {
  /// The thread that is currently calling it.
  var caller: UInt? { get }
}

/// The threads of this process that wait for a callback to return before they end its subscription or watch.
///
/// Callbacks run on several threads: observers when one of them is slow or when the host dispatches on several threads,
/// and layer callbacks on the thread that watches files. Two callbacks that end each other, or several in a cycle,
/// would each wait for the next to return. The thread whose wait would close the cycle does not wait.
package final class CancellationWaits: Sendable {
  private let callees = Monitor<[UInt: any WaitTarget]>([:])

  package static let ofThisProcess = {
    let waits = CancellationWaits()
    Fork.join(waits)
    return waits
  }()

  /// Records that a thread is about to wait for a callback.
  ///
  /// - Returns: false, with nothing recorded, if that callback is this thread's own or waits for this thread.
  package func begin(_ thread: UInt, waitingFor callee: any WaitTarget) -> Bool {
    callees.updateQuietly { callees in
      var next: (any WaitTarget)? = callee
      // This loop ends: no cycle that excludes this thread can exist, because `begin` refuses to close one.
      while let caller = next?.caller {
        if caller == thread { return false }
        next = callees[caller]
      }
      callees[thread] = callee
      return true
    }
  }

  package func end(_ thread: UInt) { callees.updateQuietly { $0[thread] = nil } }
}

extension CancellationWaits: ForkAware {
  /// The waiting threads belonged to the parent.
  package func afterForkInChild() { callees.update { $0 = [:] } }
}
