// A commit of many keys. It is made ready without the write lock, so that other writers wait only while it is written.

import KeptEngine
import KeptSystem
import KeptValues

/// A commit of many keys that is ready to be written.
///
/// Invariant: the conditions of the batch hold at `base`, and the changes are those that the batch makes there.
struct LongCommit {
  private var batch: Batch
  private var base: (revision: Revision, schemaVersion: UInt32)
  // The keys of the conditions, and those without a key: looking at each would take long with the write lock.
  private var relied: Set<KeyName> = []
  private var otherConditions: [Condition] = []
  private let author: (writer: UInt64, now: @Sendable () -> Int64)
  private(set) var commit: Commit
  /// The frame of the commit; empty if it changes nothing.
  let frames = FrameWriter()

  /// Whether other writers would wait too long for a batch.
  static func isLong(_ batch: Batch) -> Bool {
    batch.edits.count + batch.declarations.count >= least || batch.replacement != nil
  }

  private static let least = 1024
  /// Others may change this many keys until it is written, or it is made again.
  private static let mostChanged = 1024
  /// How often it is made without the write lock; if all are in vain, it is made with the lock.
  static let mostAttempts = 3

  init(_ batch: Batch, _ chain: Chain, _ storage: LocalStorage) throws(StoreError) {
    var batch = batch
    if batch.replacement != nil {
      var others: [KeyName] = []
      try chain.forEachState(below: "") { key, _ in if batch.edits[key] == nil { others.append(key) } }
      for key in others { batch.edit(key, .remove) }
    }
    (self.batch, author) = (batch, (storage.engine.author, storage.now))
    base = (chain.revision, chain.schemaVersion)
    commit = Commit(revision: chain.revision, changes: [])
    for condition in batch.conditions {
      if condition.mayFail(at: chain.revision) { try chain.check(condition, of: batch) }
      if let key = condition.key { relied.insert(key) } else { otherConditions.append(condition) }
    }
    let revision = chain.revision + 1
    try Memory.ask(for: batch.edits.count * MemoryLayout<StoredChange>.stride, to: "commit the changes")
    var changes: [StoredChange] = []
    changes.reserveCapacity(batch.edits.count)
    if batch.declarations.isEmpty || batch.replacement != nil {
      // Looking up each edit would take longer than the rest.
      for (key, edit) in Array(batch.edits).inOrder(of: \.key.exact) {
        if let change = try batch.change(of: key, by: edit, chain, at: revision) { changes.append(change) }
      }
    } else {
      for key in batch.keys {
        if let change = try batch.change(of: key, by: batch.edits[key], chain, at: revision) { changes.append(change) }
      }
    }
    try write(changes, after: chain)
  }

  var hasFrame: Bool { !frames.bytes.isEmpty }

  /// Brings it up to date with all commits until now, with the write lock held.
  ///
  /// - Returns: false if it must be made again.
  mutating func settle(_ chain: Chain) throws(StoreError) -> Bool {
    guard chain.schemaVersion == base.schemaVersion else { return false }
    guard chain.revision > base.revision else {
      move(to: chain)
      return true
    }
    guard !chain.hasBulk(after: base.revision), let changed = try chain.keys(changedAfter: base.revision),
      changed.count <= Self.mostChanged
    else { return false }
    let conditions = changed.contains(where: relied.contains) ? batch.conditions : otherConditions
    for condition in conditions where condition.mayDepend(on: changed) {
      try chain.check(condition, of: batch, changed: changed)
    }
    if batch.replacement != nil {
      for key in changed where batch.edits[key] == nil { batch.edit(key, .remove) }
    }
    let again = changed.filter { batch.edits[$0] != nil || batch.declarations[$0] != nil }
    if again.isEmpty { move(to: chain) } else { try write(changes(again, chain), after: chain) }
    base.revision = chain.revision
    return true
  }

  /// The changes, with those of some keys made again.
  private func changes(_ again: Set<KeyName>, _ chain: Chain) throws(StoreError) -> [StoredChange] {
    let revision = chain.revision + 1
    var left = commit.changes.filter { !again.contains($0.key) }
    for index in left.indices where left[index].isOfValue { left[index].new.revision = revision }
    var made: [StoredChange] = []
    for key in Array(again).inOrder(of: \.exact) {
      if let change = try batch.change(of: key, by: batch.edits[key], chain, at: revision) { made.append(change) }
    }
    // In the order of the keys.
    var (merged, next): ([StoredChange], Int) = ([], 0)
    merged.reserveCapacity(left.count + made.count)
    for change in left {
      while next < made.count, made[next].key < change.key {
        merged.append(made[next])
        next += 1
      }
      merged.append(change)
    }
    return merged + made[next...]
  }

  private mutating func write(_ changes: [StoredChange], after chain: Chain) throws(StoreError) {
    frames.begin(at: chain.place)
    commit = try frames.add(changes, by: batch, chain, author.writer, time: author.now())
  }

  /// Makes it the next commit after a chain, with the same changes.
  private mutating func move(to chain: Chain) {
    let time = author.now()
    commit.revision = chain.revision
    if !commit.changes.isEmpty {
      commit.revision += 1
      commit.time = Timestamp(nanosecondsSince1970: time)
      for index in commit.changes.indices where commit.changes[index].isOfValue {
        commit.changes[index].new.revision = commit.revision
      }
    }
    if hasFrame { frames.move(to: chain.place, revision: commit.revision, time: time) }
  }
}

extension Condition {
  /// Whether it may not hold at a revision, by that alone: an import has one for each key.
  fileprivate func mayFail(at revision: Revision) -> Bool {
    switch self {
    case .unchanged(_, let base), .unchangedPrefix(_, let base): base < revision
    case .revision, .schemaVersion: true
    }
  }

  /// The key that it is about; nil if it is about several.
  fileprivate var key: KeyName? {
    switch self {
    case .revision(let key, _), .unchanged(let key, _): key
    case .unchangedPrefix, .schemaVersion: nil
    }
  }

  /// Whether it may hold no longer after keys have changed.
  fileprivate func mayDepend(on changed: Set<KeyName>) -> Bool {
    switch self {
    case .revision(let key, _), .unchanged(let key, _): changed.contains(key)
    case .unchangedPrefix(let prefix, _): changed.contains { $0.exact.hasPrefix(prefix) }
    case .schemaVersion: true
    }
  }
}
