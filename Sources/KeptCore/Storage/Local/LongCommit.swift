// A commit of many keys. It is made ready without the write lock, so that other writers wait only while it is written.

import KeptEngine
import KeptSystem
import KeptValues

/// A commit of many keys that is ready to be written.
///
/// Invariant: the conditions of the batch hold at `base`, and `frames` has the changes that the batch makes there.
/// `changes` are those, and `places` says where each begins in the frame, once ``finish()`` was called.
///
/// Not thread-safe.
final class LongCommit {
  private let batch: Batch
  private var base: (revision: Revision, schemaVersion: UInt32)
  // The keys of the conditions, and those without a key: looking at each would take long with the write lock.
  private var relied: Set<KeyName> = []
  private var otherConditions: [Condition] = []
  private let author: (writer: UInt64, now: @Sendable () -> Int64)
  private var changes: [StoredChange] = []
  private var places: [FrameWriter.Mark] = []
  // What becomes of the changes at some indices, one change or none, and where that is in the frame.
  private var amendments:
    [(replaced: Range<Int>, change: StoredChange?, start: FrameWriter.Mark, end: FrameWriter.Mark)] = []
  private var time: Int64 = 0
  /// The frame of the commit; empty if it changes nothing.
  private(set) var frames = FrameWriter()

  /// Whether other writers would wait too long for a batch.
  static func isLong(_ batch: Batch) -> Bool {
    batch.edits.count + batch.declarations.count >= least || batch.completion != nil
  }

  private static let least = 1024
  /// Others wait while this many keys are looked at again.
  static let mostChanged = 1024
  /// With more, making it again is faster.
  private static let mostAtAll = 1 << 16
  /// How often others may change more keys until it is written; then they wait while these are looked at again.
  static let mostAttempts = 3

  init(_ batch: Batch, _ chain: Chain, _ storage: LocalStorage) throws(StoreError) {
    var batch = batch
    try batch.completion?.complete(&batch, chain)
    (self.batch, author) = (batch, (storage.engine.author, storage.now))
    base = (chain.revision, chain.schemaVersion)
    for condition in batch.conditions {
      if condition.mayFail(at: chain.revision) { try chain.check(condition, of: batch) }
      if let key = condition.key { relied.insert(key) } else { otherConditions.append(condition) }
    }
    try Memory.ask(for: batch.edits.count * MemoryLayout<StoredChange>.stride, to: "commit the changes")
    changes.reserveCapacity(batch.edits.count)
    // Looking up each edit would take longer than the rest.
    let named: [(key: KeyName, edit: Batch.Edit?)] =
      batch.declarations.isEmpty || batch.replacesDeclarations
      ? batch.edits.map { ($0.key, $0.value) }.inOrder(of: \.key.exact) : batch.keys.map { ($0, batch.edits[$0]) }
    try chain.forEachState(of: named.map(\.key)) { index, state throws(StoreError) in
      let (key, edit) = named[index]
      let known: Entry?? = state.map { Entry($0) }
      let change = try batch.change(of: key, by: edit, chain, at: chain.revision + 1, known: known)
      if let change { changes.append(change) }
    }
    (time, count) = (author.now(), changes.count)
    frames = try frame(chain, erases: changes.contains(where: \.erases)) { frames throws(StoreError) in
      for change in changes {
        places.append(frames.mark)
        try frames.add(change)
      }
      places.append(frames.mark)
    }
  }

  /// The frame of changes that `body` adds; empty if there are none.
  private func frame(
    _ chain: Chain, erases: Bool, _ body: (FrameWriter) throws(StoreError) -> Void
  ) throws(StoreError) -> FrameWriter {
    let (frames, revision) = (FrameWriter(), chain.revision + (count > 0 ? 1 : 0))
    frames.begin(at: chain.place)
    try frames.begin(
      FrameHead(writer: author.writer, revision: revision, time: time, tag: batch.author.tag, erases: erases))
    try body(frames)
    if let version = batch.schemaVersion, version != chain.schemaVersion { try frames.add(schemaVersion: version) }
    if frames.mark.count > 0 { try frames.end() }
    return frames
  }

  var hasFrame: Bool { !frames.bytes.isEmpty }

  /// How many keys it changes.
  private(set) var count = 0

  var revision: Revision { base.revision + (count > 0 ? 1 : 0) }

  /// Brings it up to date with all commits until now.
  ///
  /// With the write lock held it takes as long as looking at the keys that others have changed, and copying the frame.
  /// - Parameter most: how many of these keys are looked at; nil for any number.
  /// - Returns: false if there are more, or if it must be made again for another reason.
  func settle(_ chain: Chain, most: Int? = mostAtAll) throws(StoreError) -> Bool {
    guard chain.schemaVersion == base.schemaVersion else { return false }
    if chain.revision > base.revision {
      if most != nil, chain.hasBulk(after: base.revision) { return false }
      guard let changed = try chain.keys(changedAfter: base.revision), changed.count <= most ?? .max
      else { return false }
      let conditions = changed.contains(where: relied.contains) ? batch.conditions : otherConditions
      for condition in conditions where condition.mayDepend(on: changed) {
        try chain.check(condition, of: batch, changed: changed)
      }
      time = author.now()
      base.revision = chain.revision
      if try amend(changed, chain) { return true }
    }
    if hasFrame, frames.begin != chain.position { frames.move(to: chain.place, revision: revision, time: time) }
    return true
  }

  /// Looks at keys again, and writes the frame again if that may have another change of one.
  private func amend(_ changed: Set<KeyName>, _ chain: Chain) throws(StoreError) -> Bool {
    var part = batch.requests(of: changed)
    try batch.completion?.complete(&part, changed, chain)
    var (found, erases): ([(first: Int, count: Int, change: StoredChange?)], Bool) = ([], frames.erases)
    for key in Array(changed).inOrder(of: \.exact) {
      let edit = part.edits[key]
      let isNamed = edit != nil || part.declarations[key] != nil
      let change = isNamed ? try part.change(of: key, by: edit, chain, at: chain.revision + 1) : nil
      let first = firstIndex(from: key)
      let isThere = first < changes.count && changes[first].key == key
      if !isThere, change == nil { continue }
      found.append((first, isThere ? 1 : 0, change))
      count += (change == nil ? 0 : 1) - (isThere ? 1 : 0)
      if change?.erases == true { erases = true }
    }
    if found.isEmpty { return false }
    let old = frames
    frames = try frame(chain, erases: erases) { frames throws(StoreError) in
      var next = 0
      for (first, count, change) in found {
        try frames.add(old, from: places[next], to: places[first])
        next = first + count
        let start = frames.mark
        if let change { try frames.add(change) }
        amendments.append((first..<next, change, start, frames.mark))
      }
      try frames.add(old, from: places[next], to: places[changes.count])
    }
    return true
  }

  /// Takes over what others have made necessary; this need not be done with the write lock held.
  func finish() {
    if !amendments.isEmpty { amendChanges() }
    for index in changes.indices where changes[index].isOfValue { changes[index].new.revision = revision }
  }

  private func amendChanges() {
    var (merged, found): ([StoredChange], [FrameWriter.Mark]) = ([], [])
    merged.reserveCapacity(changes.count + amendments.count)
    found.reserveCapacity(places.count + amendments.count)
    var (next, place) = (0, places[0])
    for amendment in amendments {
      merged += changes[next..<amendment.replaced.lowerBound]
      found += places[next..<amendment.replaced.lowerBound].map { $0.moved(from: places[next], to: place) }
      if let change = amendment.change {
        merged.append(change)
        found.append(amendment.start)
      }
      (next, place) = (amendment.replaced.upperBound, amendment.end)
    }
    merged += changes[next...]
    found += places[next...].map { $0.moved(from: places[next], to: place) }
    (changes, places, amendments) = (merged, found, [])
  }

  /// The index of the change of a key, or of the first one after it.
  private func firstIndex(from key: KeyName) -> Int {
    var (low, high) = (0, changes.count)
    while low < high {
      let middle = low + (high - low) / 2
      if changes[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// What it has committed, once it was finished.
  var commit: Commit {
    Commit(
      revision: revision, changes: changes,
      time: changes.isEmpty ? nil : Timestamp(nanosecondsSince1970: time))
  }
}

extension Completion {
  /// Adds the requests for all keys that it is about.
  fileprivate func complete(_ batch: inout Batch, _ chain: Chain) throws(StoreError) {
    if let base {
      guard let changed = try chain.keys(changedAfter: base) else {
        throw StoreError(.conflict, "too much has changed since revision \(base); try again")
      }
      try complete(&batch, changed, chain)
    } else {
      var keys: [KeyName] = []
      try chain.forEachName(below: scope) { key, _ in keys.append(key) }
      try complete(&batch, keys, chain)
    }
  }

  fileprivate func complete(
    _ batch: inout Batch, _ keys: some Sequence<KeyName>, _ chain: Chain
  ) throws(StoreError) {
    for key in keys where key.exact.hasPrefix(scope) {
      try add(key, { () throws(StoreError) in try chain.knownEntry(of: key) }, &batch)
    }
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
