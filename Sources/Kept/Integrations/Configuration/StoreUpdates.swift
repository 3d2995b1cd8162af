// What a watcher of swift-configuration hears: how things are, and then how they are after each change.

#if Configuration
import KeptCore

/// Tells something about a store now, and again after each commit in a scope and each change of a layer.
///
/// It ends when the store is closed and when the reading task is cancelled. A slow reader misses states between, never
/// the last. It subscribes when it is made: nothing that comes after is missed.
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

    /// The first comes at once, also of a store that cannot be read: it says so.
    mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      guard hasBegun else {
        hasBegun = true
        return current()
      }
      guard await inbox.next(isolation: actor) != nil else { return nil }
      // It is the last state that counts, and one reading of it.
      while inbox.subscription?.observer.take() != nil {}
      return current()
    }
  }
}
#endif
