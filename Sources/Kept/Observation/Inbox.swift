// A subscription that a task reads, held by the iterator of a sequence.

import KeptCore
import KeptSystem
import KeptValues

/// Takes the notices of one subscription in order.
///
/// The subscription keeps the store open: the compiler may release a program's own reference after its last use, which
/// is where the loop begins.
final class Inbox: Sendable {
  private let signal = TaskSignal()
  // nil if subscribing failed; the error handler has received the reason.
  let subscription: Subscription?

  init(_ scope: () throws(StoreError) -> Scope, of store: Store, initial: Bool) {
    let signal = signal
    do throws(StoreError) {
      subscription = try store.subscribeToTake(
        try scope(), initial: initial, through: signal, afterEnd: { signal.end() })
    } catch {
      subscription = nil
      store.report(error)
    }
  }

  /// Waits for the next notice; nil if the store was closed or the task was cancelled.
  func next(isolation: isolated (any Actor)? = #isolation) async -> Notice? {
    guard let observer = subscription?.observer, !Task.isCancelled else { return nil }
    repeat {
      if let notice = observer.take() { return notice }
    } while await signal.waitForSignal()
    return nil
  }
}

/// The state of a sequence: how to subscribe, and the subscription that was created with it and has no reader yet.
final class Listening: Sendable {
  private let scope: @Sendable () throws(StoreError) -> Scope
  private let store: Store
  private let initial: Bool
  private let unread: Monitor<Inbox?>

  init(_ scope: @escaping @Sendable () throws(StoreError) -> Scope, of store: Store, initial: Bool) {
    (self.scope, self.store, self.initial) = (scope, store, initial)
    unread = Monitor(Inbox(scope, of: store, initial: initial))
  }

  /// The subscription created with the sequence for the first iterator, and a new one for each further iterator.
  func begin() -> Inbox {
    let first = unread.update { unread in
      defer { unread = nil }
      return unread
    }
    return first ?? Inbox(scope, of: store, initial: initial)
  }
}
