// A subscription that a task reads: what a sequence's iterator has in its hand.

import KeptCore

/// Takes the notices of one subscription, one after the other.
///
/// The subscription keeps the store open: the compiler may let go of a program's own reference after its last use,
/// which is where the loop begins.
final class Inbox: Sendable {
  private let bell = TaskSignal()
  // nil: there was nothing to subscribe to, and the error handler knows why.
  let subscription: Subscription?

  init(_ scope: () throws(StoreError) -> Scope, of store: Store, initial: Bool) {
    let bell = bell
    do throws(StoreError) {
      subscription = try store.subscribeToTake(try scope(), initial: initial, toldBy: bell, afterEnd: { bell.end() })
    } catch {
      subscription = nil
      store.report(error)
    }
  }

  /// The notice that comes next; nil when the store was closed or the task is cancelled.
  func next(isolation: isolated (any Actor)? = #isolation) async -> Notice? {
    guard let observer = subscription?.observer, !Task.isCancelled else { return nil }
    repeat {
      if let notice = observer.take() { return notice }
    } while await bell.waitForRing()
    return nil
  }
}

/// What a sequence knows: how to subscribe, and the subscription that was made with it and nobody reads yet.
final class Listening: Sendable {
  private let scope: @Sendable () throws(StoreError) -> Scope
  private let store: Store
  private let initial: Bool
  private let unread: Monitor<Inbox?>

  init(_ scope: @escaping @Sendable () throws(StoreError) -> Scope, of store: Store, initial: Bool) {
    (self.scope, self.store, self.initial) = (scope, store, initial)
    unread = Monitor(Inbox(scope, of: store, initial: initial))
  }

  /// The subscription that was made with the sequence for the first who asks, and one of their own for all others.
  func begin() -> Inbox {
    let first = unread.update { unread in
      defer { unread = nil }
      return unread
    }
    return first ?? Inbox(scope, of: store, initial: initial)
  }
}
