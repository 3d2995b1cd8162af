// The notices that wait for one observer: a slow one finds them merged, and takes no more memory than there are keys.

struct Mailbox {
  private(set) var notices: [Notice] = []

  /// So many notices wait one by one; then they become one.
  static let limit = 4096

  var isEmpty: Bool { notices.isEmpty }

  /// Adds what happened next.
  mutating func add(_ notice: Notice) {
    if let last = notices.last, last.origin == .otherProcess, notice.origin == .otherProcess {
      mergeLast(notice)
    } else if notices.count < Self.limit || notices.first?.origin == .initial && notices.count == Self.limit {
      notices.append(notice)
    } else {
      mergeAll(notice)
    }
  }

  /// Puts what was there at first before everything else.
  mutating func begin(with notice: Notice) { notices.insert(notice, at: 0) }

  /// The notice that comes next, if there is one.
  mutating func take() -> Notice? { notices.isEmpty ? nil : notices.removeFirst() }

  private mutating func mergeLast(_ notice: Notice) {
    var last = notices.removeLast()
    last.merge(notice)
    if !last.changes.isEmpty { notices.append(last) }
  }

  /// The initial notice stays what it is.
  private mutating func mergeAll(_ notice: Notice) {
    let initial = notices.first.flatMap { $0.origin == .initial ? $0 : nil }
    var waiting = initial == nil ? notices : Array(notices.dropFirst())
    waiting.append(notice)
    var merged = waiting.removeFirst()
    for next in waiting { merged.merge(next) }
    notices = (initial.map { [$0] } ?? []) + (merged.changes.isEmpty ? [] : [merged])
  }
}
