// The authors and times of the commits that are settled together, for the history.

/// The heads of the frames that are settled by one transaction.
///
/// Commits of one author fold: of the changes that a program makes to a key in between, the last one stays. The changes
/// of another program, or with another tag, are kept apart, so that each can be shown and undone.
struct FrameHeads {
  private struct Origin: Equatable {
    let writer: UInt64
    let tag: String?
  }
  private struct Head {
    let revision: Revision
    let time: Int64
    let origin: Int
  }
  // In the order of their revisions.
  private var heads: [Head] = []
  private var origins: [Origin] = []
  // Several programs may write one key in turns: beyond these, their changes fold, too.
  private var partings = 64
  // Whether patches that are not written yet have several origins.
  private var isMixed = false

  /// The head of the commit with a revision.
  subscript(revision: Revision) -> FrameHead? {
    guard let head = find(revision) else { return nil }
    let origin = origins[head.origin]
    return FrameHead(writer: origin.writer, revision: revision, time: head.time, tag: origin.tag)
  }

  /// Adds the head of a frame; returns whether the patches of earlier ones must be written before its own are added.
  mutating func add(_ frame: FrameReader, over patches: JournalPatches) throws(StoreError) -> Bool {
    let origin = place(of: Origin(writer: frame.head.writer, tag: frame.head.tag))
    if let last = heads.last, last.origin != origin { isMixed = true }
    try Memory.makeRoom(in: &heads, to: "read what has changed")
    heads.append(Head(revision: frame.head.revision, time: frame.head.time, origin: origin))
    guard isMixed, partings > 0 else { return false }
    var isMet = false
    try frame.forEachChange { change throws(StoreError) in
      guard !isMet, change.changesValue, let earlier = patches[PreparedBytes(change.key)]?.value else { return }
      isMet = find(earlier.revision)?.origin != origin
    }
    if isMet { (partings, isMixed) = (partings - 1, false) }
    return isMet
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
