// The updates of a watcher, which a test takes one after the other.

import Configuration
import Testing

/// The states of a key or a store, in order.
struct States<Element: Sendable> {
  private var iterator: any AsyncIteratorProtocol<Element, Never>

  init(_ updates: ConfigUpdatesAsyncSequence<Element, Never>) { iterator = updates.makeAsyncIterator() }

  mutating func take() async throws -> Element {
    let state = await iterator.next(isolation: #isolation)
    return try #require(state)
  }

  mutating func isOver() async -> Bool { await iterator.next(isolation: #isolation) == nil }
}
