// Distinguishes a store object from every other one of this process, including those that no longer exist.

package import KeptValues
import Synchronization

/// The identity of a store in this process, held by the store and by objects that may use it after its end.
public final class StoreIdentity: Sendable {
  /// An object that caches may keep for longer than the store.
  ///
  /// While it is kept, no other store has its address.
  package final class Mark: Sendable {
    private let isOver = Atomic<Bool>(false)

    /// Whether the store can no longer be used.
    package var isGone: Bool { isOver.load(ordering: .acquiring) }

    fileprivate func end() { isOver.store(true, ordering: .releasing) }
  }

  package let mark = Mark()

  private let hearer: @Sendable (StoreError) -> Void

  init(report: @escaping @Sendable (StoreError) -> Void) { hearer = report }

  /// Reports to the store's error handler a failure that no caller can catch.
  package func report(_ error: StoreError) { hearer(error) }

  deinit { mark.end() }
}
