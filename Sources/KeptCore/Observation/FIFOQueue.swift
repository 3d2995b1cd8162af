// Who waits for a turn: first come, first served.

/// A queue whose first one leaves without moving the others.
struct FIFOQueue<Waiting> {
  private var waiting: [Waiting?] = []
  private var first = 0

  var isEmpty: Bool { first == waiting.count }
  var count: Int { waiting.count - first }

  mutating func append(_ next: Waiting) { waiting.append(next) }

  mutating func append(contentsOf others: [Waiting]) { waiting.append(contentsOf: others) }

  /// Takes out the first one; nil: there is none.
  mutating func next() -> Waiting? {
    guard first < waiting.count else { return nil }
    let next = waiting[first]
    waiting[first] = nil
    first += 1
    // The places of those who have left are given back, before they are more than those who wait.
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
