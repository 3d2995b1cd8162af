// The notices that wait for one observer. For a slow observer they are merged, so they take little more memory than the
// values of its keys.

import KeptSystem
import KeptValues

struct Mailbox {
  // Each element becomes one notice. Consecutive notices of other processes are coalesced.
  private var waiting: [CoalescedNotice] = []

  /// The number of notices that wait separately; above it they become one.
  static let limit = 4096
  /// The number of bytes of values that wait separately; also allowed is twice the size after the last merge.
  static let mostBytes = 1 << 20

  // Bytes of all waiting notices. A notice in an otherwise empty mailbox is not counted, because it is usually taken at
  // once.
  private(set) var bytes = 0
  private var bytesLimit = Self.mostBytes

  var isEmpty: Bool { waiting.isEmpty }

  /// The largest number of notices that wait; a coalesced notice may turn out to have no changes.
  var count: Int { waiting.count }

  /// Adds the next notice.
  ///
  /// A notice without changes represents commits that changed nothing in this scope. They are in the revision range of
  /// a merged notice, so their tag counts. One of a layer reports locks.
  mutating func add(_ notice: Notice) {
    let size = waiting.isEmpty ? 0 : notice.bytes
    if let last = waiting.indices.last, waiting[last].origin == .otherProcess, notice.origin == .otherProcess {
      bytes -= waiting[last].bytes
      waiting[last].add(notice, size)
      bytes += waiting[last].bytes
    } else if !notice.changes.isEmpty || notice.origin == .layer {
      let isFull = waiting.count == Self.limit + (isBeginning ? 1 : 0)
      if isFull || bytes + size > bytesLimit { coalesceAll() }
      waiting.append(CoalescedNotice(notice, size))
      bytes += size
    }
  }

  /// Puts the initial notice before everything else.
  mutating func begin(with notice: Notice) { waiting.insert(CoalescedNotice(notice, 0), at: 0) }

  /// Removes and returns the next notice, if there is one.
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

  /// Coalesces all waiting notices into one.
  ///
  /// The initial notice stays separate.
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

/// Notices that become one when they are taken.
///
/// They are merged then, or when they have grown to twice their size after the last merge. So each added change costs
/// little, however many keys there are.
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
    // The sizes of its notices were counted together.
    for (place, notice) in other.notices.enumerated() { add(notice, place == 0 ? other.bytes : 0) }
  }

  /// The merged notice; nil if nothing changed.
  func merged() -> Notice? {
    let merged = notices.count > 1 ? Notice(merging: notices) : notices[0]
    // An initial notice may have no changes, and one of a layer.
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
  /// The approximate memory use.
  ///
  /// The old values are mostly the new values of the notice before.
  fileprivate var bytes: Int {
    changes.reduce(0) { $0 + MemoryLayout<Change>.stride + $1.key.text.utf8.count + ($1.new?.bytes ?? 0) }
  }
}
