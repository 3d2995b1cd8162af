// How far a long export or import is, and whether it goes on.

/// Hears how far an export or an import is, and gives true to go on; false stops it, and nothing is changed.
///
/// An export counts keys, and an import the bytes of its text: it has read them all before it commits, which is one
/// step that cannot be stopped. Called on the thread of the call, with no lock held.
public typealias TransferProgress = @Sendable (_ done: Int, _ total: Int) -> Bool

/// Tells of progress about a hundred times, whatever there is to do.
struct ProgressTeller {
  private let hears: TransferProgress?
  private let total: Int
  private var next = 0

  init(_ hears: TransferProgress?, total: Int) {
    self.hears = hears
    self.total = total
  }

  @inline(never)
  mutating func tell(_ done: Int) throws(StoreError) {
    guard let hears, done >= next else { return }
    next = done + max(1, total / 100)
    guard hears(done, total) else {
      throw StoreError(.failed, "the program's progress callback has stopped it; nothing was changed")
    }
  }

  /// Tells that all is done.
  mutating func finish() throws(StoreError) {
    next = total
    try tell(total)
  }
}
