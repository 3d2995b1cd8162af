// What observers of handles received, in the order of delivery.

import Kept
import Synchronization
import Testing

/// Notes that a test can wait for.
struct Received<Element: Sendable> {
  /// To be called by the observer.
  let note: @Sendable (Element) -> Void
  private var notes: AsyncStream<Element>.Iterator

  init() {
    let (stream, feed) = AsyncStream.makeStream(of: Element.self)
    note = { feed.yield($0) }
    notes = stream.makeAsyncIterator()
  }

  /// The next notes.
  mutating func take(_ count: Int = 1) async throws -> [Element] {
    var taken: [Element] = []
    while taken.count < count { taken.append(try #require(await notes.next(isolation: #isolation))) }
    return taken
  }
}

/// Notes that a test reads when no more can follow.
final class ReceivedNotes<Element: Sendable>: Sendable {
  private let values = Mutex<[Element]>([])
  func add(_ value: Element) { values.withLock { $0.append(value) } }
  var all: [Element] { values.withLock { $0 } }
}
