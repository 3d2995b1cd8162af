// The notices that wait for one observer: a slow one finds them merged, and they take little more memory than the
// values of its keys.

struct Mailbox {
  // Each will be one notice. Those of other processes that come one after the other lie on one next.
  private var waiting: [CoalescedNotice] = []

  /// So many notices wait one by one; then they become one.
  static let limit = 4096
  /// And so many bytes of values, or twice of what they came to when they last became one.
  static let mostBytes = 1 << 20

  // Of the waiting together. What comes into an empty mailbox is not weighed: it is taken at once most of the time.
  private(set) var bytes = 0
  private var bytesLimit = Self.mostBytes

  var isEmpty: Bool { waiting.isEmpty }

  /// How many notices wait, at most: waiting may come to nothing.
  var count: Int { waiting.count }

  /// Adds what happened next.
  ///
  /// A notice without changes tells of commits that came to nothing here. They are among those that a merged notice
  /// leads over, so their tag counts.
  mutating func add(_ notice: Notice) {
    let size = waiting.isEmpty ? 0 : notice.bytes
    if let last = waiting.indices.last, waiting[last].origin == .otherProcess, notice.origin == .otherProcess {
      bytes -= waiting[last].bytes
      waiting[last].add(notice, size)
      bytes += waiting[last].bytes
    } else if !notice.changes.isEmpty {
      let isFull = waiting.count == Self.limit + (isBeginning ? 1 : 0)
      if isFull || bytes + size > bytesLimit { coalesceAll() }
      waiting.append(CoalescedNotice(notice, size))
      bytes += size
    }
  }

  /// Puts what was there at first before everything else.
  mutating func begin(with notice: Notice) { waiting.insert(CoalescedNotice(notice, 0), at: 0) }

  /// The notice that comes next, if there is one.
  mutating func take() -> Notice? {
    while !waiting.isEmpty {
      let next = waiting.removeFirst()
      bytes -= next.bytes
      if waiting.isEmpty { bytesLimit = Self.mostBytes }
      if let notice = next.merged() { return notice }
    }
    return nil
  }

  private var isBeginning: Bool { waiting.first?.origin == .initial }

  /// Lays everything on one next; the initial notice stays what it is.
  private mutating func coalesceAll() {
    let initial = isBeginning ? waiting.removeFirst() : nil
    guard !waiting.isEmpty else { return waiting = initial.map { [$0] } ?? [] }
    var all = waiting.removeFirst()
    for next in waiting { all.add(next) }
    all.shrink()
    waiting = (initial.map { [$0] } ?? []) + [all]
    bytes = all.bytes
    bytesLimit = max(Self.mostBytes, 2 * bytes)
  }
}

/// Notices that will be one when they are taken.
///
/// They are merged then, or when they have grown to twice of what they came to the last time: for each change that is
/// added there is little to do, however many keys there are.
private struct CoalescedNotice {
  private var notices: [Notice]
  private var isMerged = false
  private(set) var origin: Notice.Origin
  private(set) var bytes: Int
  private var changes: Int
  private var limit = 1024
  private var bytesLimit = Mailbox.mostBytes

  init(_ notice: Notice, _ bytes: Int) {
    (notices, origin, changes) = ([notice], notice.origin, notice.changes.count)
    self.bytes = bytes
  }

  mutating func add(_ notice: Notice, _ size: Int) {
    if notice.origin != origin { origin = .several }
    notices.append(notice)
    changes += max(1, notice.changes.count)
    bytes += size
    if changes > limit || bytes > bytesLimit { shrink() }
  }

  mutating func add(_ other: CoalescedNotice) {
    // Its notices were weighed together.
    for (place, notice) in other.notices.enumerated() { add(notice, place == 0 ? other.bytes : 0) }
  }

  /// nil: it came to nothing.
  func merged() -> Notice? {
    let merged = notices.count > 1 ? Notice(merging: notices) : notices[0]
    // An initial notice may have no changes, too.
    return merged.changes.isEmpty && (isMerged || notices.count > 1) ? nil : merged
  }

  mutating func shrink() {
    let merged = Notice(merging: notices)
    notices = [merged]
    isMerged = true
    changes = merged.changes.count
    limit = max(1024, 2 * changes)
    bytes = merged.bytes
    bytesLimit = max(Mailbox.mostBytes, 2 * bytes)
  }
}

extension Notice {
  /// About so much memory it takes; its old values are mostly the new ones of the notice before.
  fileprivate var bytes: Int {
    changes.reduce(0) { $0 + MemoryLayout<Change>.stride + $1.key.text.utf8.count + ($1.new?.bytes ?? 0) }
  }
}
