// Finds the changes beyond the limits of the history.

import KeptValues

/// The sizes of the changes of a history, in the order of their commits.
struct HistorySizes {
  private var changes: [(revision: Revision, time: Int64, bytes: Int)] = []
  /// The highest revision of a row that another program has damaged.
  var damaged: Revision = 0

  mutating func add(_ revision: Revision, _ time: Int64, _ bytes: Int) throws(StoreError) {
    try Memory.makeRoom(in: &changes, to: "limit the history")
    changes.append((revision, time, bytes))
  }

  mutating func sort() { changes.sort { $0.revision < $1.revision } }

  /// The last revision that is beyond the limits; 0 if none is.
  ///
  /// A commit is kept or forgotten as a whole. One that seems old by a clock that was wrong is kept as long as those
  /// before it.
  func lastBeyond(_ limits: HistoryLimits, at time: Int64) -> Revision {
    var (count, bytes) = (0, 0)
    var last: Revision = 0
    for change in changes.reversed() {
      (count, bytes) = (count + 1, bytes + change.bytes)
      guard count <= limits.changes, bytes <= limits.bytes else {
        last = change.revision
        break
      }
    }
    let dayBefore = limits.dayBefore(time)
    guard let seen = changes.last(where: { $0.time <= dayBefore }) else { return last }
    let oldest = limits.oldest(at: time, last: seen.time)
    let tooOld = changes.prefix { $0.time < oldest || $0.time > time }.filter { $0.time < oldest }
    return max(last, tooOld.last?.revision ?? 0)
  }

  /// Whether a commit has one change only.
  func isAlone(_ revision: Revision) -> Bool {
    var (low, high) = (0, changes.count)
    while low < high {
      let middle = (low + high) / 2
      if changes[middle].revision < revision { low = middle + 1 } else { high = middle }
    }
    return low + 1 >= changes.count || changes[low + 1].revision != revision
  }
}
