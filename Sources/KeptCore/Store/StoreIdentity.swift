// What tells one store object from every other one of this process, also from one that is gone.

import Synchronization

/// Which store of this process it is: held by the store, and by whoever may still ask for it after its end.
public final class StoreIdentity: Sendable {
  /// What caches may keep for longer than the store.
  ///
  /// As long as somebody keeps it, its address is no other store's.
  package final class Mark: Sendable {
    private let isOver = Atomic<Bool>(false)

    /// Whether nobody can ask for this store any more.
    package var isGone: Bool { isOver.load(ordering: .acquiring) }

    fileprivate func end() { isOver.store(true, ordering: .releasing) }
  }

  package let mark = Mark()

  private let hearer: @Sendable (StoreError) -> Void

  init(report: @escaping @Sendable (StoreError) -> Void) { hearer = report }

  /// Tells the store's error handler of a failure that nobody is there to catch.
  package func report(_ error: StoreError) { hearer(error) }

  deinit { mark.end() }
}
