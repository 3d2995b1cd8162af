// The updates that a watcher of swift-configuration receives: the current state, and then the state after each change.

#if Configuration
import KeptCore
import KeptValues

/// Delivers a state of a store now, and again after each commit in a scope and each change of a layer.
///
/// The sequence ends when the store is closed and when the reading task is cancelled. A slow reader misses intermediate
/// states, never the last. It subscribes when it is created, so no later change is missed.
struct StoreUpdates<Element: Sendable>: AsyncSequence, Sendable {
  typealias Failure = Never
  private let listening: Listening
  private let current: @Sendable () -> Element

  init(
    of store: Store, _ scope: @escaping @Sendable () throws(StoreError) -> Scope,
    current: @escaping @Sendable () -> Element
  ) {
    listening = Listening(scope, of: store, initial: false)
    self.current = current
  }

  func makeAsyncIterator() -> Iterator { Iterator(inbox: listening.begin(), current: current) }

  struct Iterator: AsyncIteratorProtocol {
    let inbox: Inbox
    let current: @Sendable () -> Element
    private var hasBegun = false

    init(inbox: Inbox, current: @escaping @Sendable () -> Element) {
      (self.inbox, self.current) = (inbox, current)
    }

    /// Returns the first state at once; if the store cannot be read, the state has the error.
    mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      guard hasBegun else {
        hasBegun = true
        return current()
      }
      guard await inbox.next(isolation: actor) != nil else { return nil }
      // Only the last state is needed, so it is read once.
      while inbox.subscription?.observer.take() != nil {}
      return current()
    }
  }
}
#endif
