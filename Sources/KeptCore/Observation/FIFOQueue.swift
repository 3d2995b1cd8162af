// A first-in, first-out queue.

/// A queue that removes its first element without moving the others.
struct FIFOQueue<Waiting> {
  private var waiting: [Waiting?] = []
  private var first = 0

  var isEmpty: Bool { first == waiting.count }
  var count: Int { waiting.count - first }

  mutating func append(_ next: Waiting) { waiting.append(next) }

  mutating func append(contentsOf others: [Waiting]) { waiting.append(contentsOf: others) }

  /// Removes and returns the first element; nil if the queue is empty.
  mutating func next() -> Waiting? {
    guard first < waiting.count else { return nil }
    let next = waiting[first]
    waiting[first] = nil
    first += 1
    // The slots of removed elements are released before they outnumber the waiting elements.
    if first * 2 >= waiting.count {
      waiting.removeFirst(first)
      first = 0
    }
    return next
  }
}

extension FIFOQueue: Sequence {
  func makeIterator() -> some IteratorProtocol<Waiting> { waiting[first...].lazy.compactMap(\.self).makeIterator() }
}
