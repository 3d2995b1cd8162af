// Progress and cancellation of a long export or import.

package import KeptValues

/// Receives the progress of an export or an import; returns true to continue, or false to stop with nothing changed.
///
/// An export counts keys. An import counts the bytes of its text: it reads all of them before it commits, which is one
/// step that cannot be stopped. Called on the thread of the call, with no lock held.
public typealias TransferProgress = @Sendable (_ done: Int, _ total: Int) -> Bool

/// Reports progress about a hundred times, whatever the total.
///
/// A class, so that no exclusive access is open during the callback: if the callback is left by longjmp(), Swift's list
/// of accesses would keep one whose memory is gone.
package final class ProgressReporter {
  private let hears: TransferProgress?
  private let total: Int
  private var next = 0

  package init(_ hears: TransferProgress?, total: Int) {
    self.hears = hears
    self.total = total
  }

  @inline(never)
  package func report(_ done: Int) throws(StoreError) {
    guard let hears, done >= next else { return }
    next = done + max(1, total / 100)
    guard hears(done, total) else {
      throw StoreError(.failed, "the program's progress callback stopped the operation; nothing was changed")
    }
  }

  /// Reports completion.
  func finish() throws(StoreError) {
    next = total
    try report(total)
  }
}
