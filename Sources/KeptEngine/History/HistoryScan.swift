// The values that the commits since a checkpoint have replaced, within the limits of the history.

import CPlatform
import KeptSystem
import KeptValues

/// The past changes of a store: the ones that it was made with, and the changes of the frames that were added.
///
/// Commits of one writer with one tag that change the same keys within a second are one change of each of the keys, if
/// no other commit has changed one of them in between: so a commit is known as a whole or not at all. A commit that
/// restores an old value, such as an undo, is a change of its own. A seal ends such a change. So the same
/// frames have the same history, whenever it is written.
struct HistoryScan {
  /// In the order of their revisions and keys, once ``finish(at:)`` was called.
  private(set) var changes: [OldChange]
  /// No change after this revision is missing.
  private(set) var completeAfter: Revision
  private(set) var limits: HistoryLimits
  /// Whether changes from before the frames are forgotten, or may be.
  private(set) var hasForgotten = false
  /// Whether a damaged block, or its file, is missing in the changes that it was made with.
  let isDamaged: Bool

  /// The value of a key at the last frame, and whether the key is declared secret.
  private typealias Present = (value: OldValue, isSecret: Bool)
  private var present: [KeyName: Present] = [:]
  // The frames with many keys since the checkpoint, for the keys that are not in `present`.
  private var bulk: [BulkChanges] = []

  /// A commit, or several that are one change of each key.
  private struct Group {
    let writer: UInt64
    let tag: String?
    let time: Int64
    let first: Revision
    let changes: Range<Int>
  }
  private var groups: [Group] = []
  // The last group of each key, and the key's change in it.
  private var last: [KeyName: (group: Int, change: Int)] = [:]
  private var allowance = Allowance()
  private var pruned = 0

  /// A larger value is not kept.
  private static let mostBytes = 65_536
  /// How many changes are added before those beyond the limits are removed.
  static let step = 8192
  /// Commits fold within this time, in nanoseconds.
  private static let folding: Int64 = 1_000_000_000

  init(_ changes: [OldChange] = [], completeAfter: Revision, limits: String, isDamaged: Bool = false) {
    (self.changes, self.completeAfter, self.isDamaged) = (changes, completeAfter, isDamaged)
    self.limits = HistoryLimits(stored: limits.isEmpty ? nil : limits)
  }

  /// Adds a frame that follows a checkpoint and the frames before.
  ///
  /// - Parameter bulk: its changes, if they are in memory already.
  mutating func add(_ frame: CommitFrame, _ values: ValuesReader, _ bulk: BulkChanges? = nil) throws(StoreError) {
    if let bulk, bulk.valueCount > limits.changes { return try pass(bulk) }
    var count = 0
    var secrets: Set<KeyName> = []
    // Declarations first: an old value is hidden if the key is secret before or after the commit.
    try frame.forEachChange { change throws(StoreError) in
      switch change.effect {
      case .value, .removed: count += 1
      case .declared, .undeclared:
        let key = try change.keyName()
        let isSecret = change.effect == .declared ? try change.json().declaresSecret : false
        if try know(key, values).isSecret || isSecret { secrets.insert(key) }
        present[key]?.isSecret = isSecret
      case .historyLimits:
        let before = limits
        limits = HistoryLimits(stored: try change.json())
        if before.isOn, limits.isOn { prune() } else { forget(upTo: frame.head.revision) }
        hasForgotten = true
      case .schemaVersion, .acknowledged, .lists: break
      }
    }
    if !secrets.isEmpty { hide(secrets) }
    let isKept = limits.isOn && count <= limits.changes
    if limits.isOn, !isKept { forget(upTo: frame.head.revision) }
    let start = changes.count
    try frame.forEachChange { change throws(StoreError) in
      guard change.effect == .value || change.effect == .removed else { return }
      let key = try change.keyName()
      let before = try know(key, values)
      let stored = change.stored
      let isLarge = stored.payload.count > Self.mostBytes
      let value: OldValue =
        if change.effect == .removed { .absent } else if isLarge { .notKept } else {
          .value(kind: stored.kind, payload: Array(stored.payload))
        }
      present[key]?.value = value
      try allowance.take(before.value.payload.count + 128, to: "read the history")
      guard isKept else { return }
      let isHidden = before.value.isOpen && (before.isSecret || secrets.contains(key))
      changes.append(
        OldChange(
          key: key, revision: frame.head.revision, first: frame.head.revision, time: frame.head.time / 1_000_000,
          tag: frame.head.tag, old: isHidden ? .secret : before.value))
    }
    fold(frame.head, start)
    if changes.count - pruned >= Self.step { prune() }
  }

  /// Adds a frame that has more changes of values than are kept, and none of the limits.
  private mutating func pass(_ changes: BulkChanges) throws(StoreError) {
    forget(upTo: changes.revision)
    for key in Array(present.keys) {
      if let known = present[key] { present[key] = try Self.state(of: key, after: changes, known) }
    }
    bulk.append(changes)
  }

  private static func state(
    of key: KeyName, after changes: BulkChanges, _ before: Present
  ) throws(StoreError) -> Present {
    var known = before
    try changes.forEach(of: key) { change throws(StoreError) in
      switch change.effect {
      case .removed: known.value = .absent
      case .value:
        known.value = .notKept
        try changes.withValue(change, upTo: mostBytes) {
          known.value = .value(kind: $0.kind, payload: Array($0.payload))
        }
      case .declared, .undeclared:
        known.isSecret = change.effect == .declared ? try change.json().declaresSecret : false
      case .schemaVersion, .historyLimits, .acknowledged, .lists: break
      }
    }
    return known
  }

  /// The state of a key now, which is read from the checkpoint at first.
  private mutating func know(_ key: KeyName, _ values: ValuesReader) throws(StoreError) -> Present {
    if let known = present[key] { return known }
    var found: Present = (.absent, false)
    do throws(StoreError) {
      try key.exact.withBytes { bytes throws(StoreError) in
        let window = BlockWindow(values)
        defer { withExtendedLifetime(window) {} }
        guard let record = try values.record(of: UnsafeRawBufferPointer(bytes), in: window) else { return }
        let stored = record.value
        found.isSecret = record.declaration.text?.declaresSecret ?? true
        if stored.payload.count > Self.mostBytes {
          found.value = .notKept
        } else if stored.kind != StoredValue.none {
          found.value = .value(kind: stored.kind, payload: Array(stored.payload))
        }
      }
    } catch {
      guard error.code == .corrupt else { throw error }
      found.value = .forgotten
    }
    for changes in bulk { found = try Self.state(of: key, after: changes, found) }
    present[key] = found
    return found
  }

  // MARK: - Commits that are one change

  /// Makes the changes of a commit, which are the last ones, part of those of an earlier commit if they fold.
  private mutating func fold(_ head: FrameHead, _ start: Int) {
    // Not a slice: with that in use, each change of the array would copy all of it.
    let added = start..<changes.count
    guard !added.isEmpty else { return }
    if let place = last[changes[start].key]?.group, added.allSatisfy({ isPart(changes[$0].key, of: place) }) {
      let group = groups[place]
      let (passed, isFar) = head.time.subtractingReportingOverflow(group.time)
      if !isFar, 0..<Self.folding ~= passed, group.writer == head.writer, group.tag == head.tag,
        group.changes.count == added.count,
        head.revision &- group.first <= OldChange.mostFolded
      {
        for index in group.changes {
          (changes[index].revision, changes[index].time) = (head.revision, head.time / 1_000_000)
        }
        changes.removeLast(added.count)
        return
      }
    }
    for index in added { last[changes[index].key] = (groups.count, index) }
    groups.append(Group(writer: head.writer, tag: head.tag, time: head.time, first: head.revision, changes: added))
  }

  /// Whether a group was the last to change a key, and the key now has another value than before the group.
  private func isPart(_ key: KeyName, of group: Int) -> Bool {
    guard let known = last[key], known.group == group else { return false }
    let old = changes[known.change].old
    return old == .notKept || old == .secret || present[key]?.value != old
  }

  /// Ends the changes that commits may be a part of.
  mutating func endGroups() {
    groups.removeAll()
    last.removeAll()
  }

  // MARK: - What is forgotten

  /// Ends the scan after the last frame.
  mutating func finish(at revision: Revision) {
    if !limits.isOn { forget(upTo: revision) }
    finish()
  }

  private mutating func finish() {
    changes = changes.inOrder(of: \.revision, then: \.key.exact)
    endGroups()
  }

  mutating func forget(upTo revision: Revision) {
    changes.removeAll()
    (completeAfter, hasForgotten) = (revision, true)
    endGroups()
  }

  /// Forgets the values of keys, which are secret, unless they were sealed.
  private mutating func hide(_ secrets: Set<KeyName>) {
    for index in changes.indices where changes[index].old.isOpen && secrets.contains(changes[index].key) {
      changes[index].old = .secret
    }
    hasForgotten = true
  }

  /// Seals the values of secrets again; those that cannot be opened are forgotten.
  ///
  /// - Parameter reseal: returns the new sealed bytes; nil if the value stays as it is.
  mutating func resealSecrets(
    _ reseal: (StoredValue, KeyName) throws(StoreError) -> [UInt8]?
  ) throws(StoreError) {
    for index in changes.indices {
      guard let sealed = changes[index].old.sealed else { continue }
      let old: OldValue? = try sealed.withUnsafeBytes { bytes in
        Result { () throws(StoreError) in
          do throws(StoreError) {
            let stored = StoredValue(kind: StoredValue.sealed, payload: bytes)
            let again = try reseal(stored, changes[index].key)
            return again.map { .value(kind: StoredValue.sealed, payload: $0) }
          } catch {
            guard error.isOfValue else { throw error }
            return .secret
          }
        }
      }.get()
      if let old { changes[index].old = old }
    }
  }

  /// Removes the changes beyond the limits: the oldest commits, and of each key all but its last changes.
  ///
  /// If a commit has other changes, the history still says that it changed such a key, and that a key had more changes.
  /// Ages count from the time of the last change.
  mutating func prune() {
    finish()
    let cut = lastBeyond()
    if cut > completeAfter { (completeAfter, hasForgotten) = (cut, true) }
    var (left, newer): ([OldChange], [KeyName: Int]) = ([], [:])
    for (index, change) in changes.enumerated().reversed() where change.revision > cut {
      let count = newer[change.key, default: 0]
      newer[change.key] = count + 1
      if count < limits.changesPerKey {
        left.append(change)
      } else if count == limits.changesPerKey || !isAlone(index) {
        left.append(change)
        left[left.count - 1].old = .forgotten
      }
    }
    changes = left.reversed()
    pruned = changes.count
  }

  /// The last revision that is beyond the limits; 0 if none is.
  ///
  /// A commit is kept or forgotten as a whole. One that seems old by a clock that was wrong is kept as long as those
  /// before it.
  private func lastBeyond() -> Revision {
    guard let time = changes.last?.time else { return 0 }
    var (count, bytes, last) = (0, 0, 0 as Revision)
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
    let tooOld = changes.prefix { $0.time < oldest || $0.time > time }.last { $0.time < oldest }
    return max(last, tooOld?.revision ?? 0)
  }

  /// Whether a change is the only one of its commit.
  private func isAlone(_ index: Int) -> Bool {
    let revision = changes[index].revision
    let isFirst = index == 0 || changes[index - 1].revision != revision
    return isFirst && (index + 1 == changes.count || changes[index + 1].revision != revision)
  }
}

extension String {
  /// Whether it is the JSON of a declaration of a secret.
  ///
  /// The JSON is canonical, so it has no spaces. In a text, the quotes would have backslashes.
  var declaresSecret: Bool {
    let words = "\"secret\":true" as StaticString
    return ExactString(self).withBytes { text in
      guard let start = text.baseAddress, text.count >= words.utf8CodeUnitCount else { return false }
      return (0...text.count - words.utf8CodeUnitCount).contains {
        memcmp(start + $0, words.utf8Start, words.utf8CodeUnitCount) == 0
      }
    }
  }
}

extension OldValue {
  /// Whether it must be forgotten if it is secret.
  fileprivate var isOpen: Bool { self != .absent && sealed == nil }
}
