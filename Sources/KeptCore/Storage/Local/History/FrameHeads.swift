// The authors, times and sizes of the commits that are settled together, for the history.

import KeptValues

/// The heads of the frames that are settled by one transaction.
///
/// Commits of one author that change the same keys fold: of the changes that a program makes in between, the last
/// stays. The changes of another program, with another tag, or of further keys, are kept apart, so that each commit is
/// in the history whole, or not at all.
struct FrameHeads {
  private struct Origin: Equatable {
    let writer: UInt64
    let tag: String?
  }
  private struct Head {
    let revision: Revision
    let time: Int64
    let origin: Int
    /// How many values it changed.
    let changes: Int
  }
  // In the order of their revisions.
  private var heads: [Head] = []
  private var origins: [Origin] = []
  // A key may be written in turns by several programs, or together with others in turns: beyond these, its changes
  // fold, too, and cannot be undone.
  private var partings = 64
  // Whether patches that are not written yet have several origins, or are of a commit of several keys.
  private var isMixed = false
  // The first revision of the patches that are not written yet.
  private var first: Revision?

  /// How the changes of a frame meet those that are not written yet.
  enum Meeting {
    /// They fold, or touch other keys.
    case fold
    /// Those must be written first.
    case part
    /// They fold, though that leaves a part of a commit.
    case tear
  }

  /// The head of the commit with a revision.
  subscript(revision: Revision) -> FrameHead? {
    guard let head = find(revision) else { return nil }
    let origin = origins[head.origin]
    return FrameHead(writer: origin.writer, revision: revision, time: head.time, tag: origin.tag)
  }

  /// Adds the head of a frame.
  mutating func add(_ frame: FrameReader, over patches: JournalPatches) throws(StoreError) -> Meeting {
    let origin = place(of: Origin(writer: frame.head.writer, tag: frame.head.tag))
    var changes = frame.count
    if changes != 1 {
      changes = 0
      try frame.forEachChange { change in if change.changesValue { changes += 1 } }
    }
    let head = Head(revision: frame.head.revision, time: frame.head.time, origin: origin, changes: changes)
    if let last = heads.last, last.origin != origin || changes > 1 { isMixed = true }
    try Memory.makeRoom(in: &heads, to: "read the changes")
    heads.append(head)
    guard let first else { return begin(head, .fold) }
    guard head.revision &- first <= PackedChange.mostFolded else { return begin(head, .part) }
    guard isMixed, try meets(frame, head, patches) else { return .fold }
    guard partings > 0 else { return .tear }
    partings -= 1
    return begin(head, .part)
  }

  /// Whether a frame changes a key again that a commit of another origin, or of other keys, has changed.
  private func meets(
    _ frame: FrameReader, _ head: Head, _ patches: JournalPatches
  ) throws(StoreError) -> Bool {
    var earlier: Revision?
    var (known, isMet) = (0, false)
    try frame.forEachChange { change throws(StoreError) in
      guard change.changesValue, let value = patches[PreparedBytes(change.key)]?.value else { return }
      known += 1
      if value.revision != earlier ?? value.revision { isMet = true }
      earlier = value.revision
    }
    guard let earlier else { return false }
    guard !isMet, known == head.changes, let other = find(earlier) else { return true }
    return other.origin != head.origin || other.changes != head.changes
  }

  private mutating func begin(_ head: Head, _ meeting: Meeting) -> Meeting {
    (first, isMixed) = (head.revision, head.changes > 1)
    return meeting
  }

  private mutating func place(of origin: Origin) -> Int {
    if let known = origins.lastIndex(of: origin) { return known }
    origins.append(origin)
    return origins.count - 1
  }

  private func find(_ revision: Revision) -> Head? {
    var (low, high) = (0, heads.count)
    while low < high {
      let middle = (low + high) / 2
      if heads[middle].revision < revision { low = middle + 1 } else { high = middle }
    }
    return low < heads.count && heads[low].revision == revision ? heads[low] : nil
  }
}
