// The notices that wait for one observer: a slow one finds them merged, and takes no more memory than there are keys.

struct Mailbox {
  // Each will be one notice. Those of other processes that come one after the other lie on one pile.
  private var piles: [Pile] = []

  /// So many notices wait one by one; then they become one.
  static let limit = 4096

  var isEmpty: Bool { piles.isEmpty }

  /// How many notices wait, at most: piles may come to nothing.
  var count: Int { piles.count }

  /// Adds what happened next.
  ///
  /// A notice without changes tells of commits that came to nothing here. They are among those that a merged notice
  /// leads over, so their tag counts.
  mutating func add(_ notice: Notice) {
    if let last = piles.indices.last, piles[last].origin == .otherProcess, notice.origin == .otherProcess {
      piles[last].add(notice)
    } else if !notice.changes.isEmpty {
      if piles.count == Self.limit + (isBeginning ? 1 : 0) { pileUp() }
      piles.append(Pile(notice))
    }
  }

  /// Puts what was there at first before everything else.
  mutating func begin(with notice: Notice) { piles.insert(Pile(notice), at: 0) }

  /// The notice that comes next, if there is one.
  mutating func take() -> Notice? {
    while !piles.isEmpty { if let notice = piles.removeFirst().merged() { return notice } }
    return nil
  }

  private var isBeginning: Bool { piles.first?.origin == .initial }

  /// Lays everything on one pile; the initial notice stays what it is.
  private mutating func pileUp() {
    let initial = isBeginning ? piles.removeFirst() : nil
    var all = piles.removeFirst()
    for pile in piles { all.add(pile) }
    piles = (initial.map { [$0] } ?? []) + [all]
  }
}

/// Notices that will be one when they are taken.
///
/// They are merged then, or when they have grown to twice of what they came to the last time: for each change that is
/// added there is little to do, however many keys there are.
private struct Pile {
  private var notices: [Notice]
  private(set) var origin: Notice.Origin
  private var changes: Int
  private var limit = 1024

  init(_ notice: Notice) { (notices, origin, changes) = ([notice], notice.origin, notice.changes.count) }

  mutating func add(_ notice: Notice) {
    if notice.origin != origin { origin = .several }
    notices.append(notice)
    changes += max(1, notice.changes.count)
    if changes > limit { shrink() }
  }

  mutating func add(_ other: Pile) { for notice in other.notices { add(notice) } }

  /// nil: it came to nothing.
  func merged() -> Notice? {
    guard notices.count > 1 else { return notices.first }
    let merged = Notice(merging: notices)
    return merged.changes.isEmpty ? nil : merged
  }

  private mutating func shrink() {
    let merged = Notice(merging: notices)
    notices = [merged]
    changes = merged.changes.count
    limit = max(1024, 2 * changes)
  }
}
