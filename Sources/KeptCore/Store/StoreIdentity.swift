// What tells one store object from every other one of this process, also from one that is gone.

import Synchronization

/// Held by a store, and by whoever may still ask for it after its end.
package final class StoreIdentity: Sendable {
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

  init() {}

  deinit { mark.end() }
}
