// A group of batches as frames of the journal: check the conditions of each, write what changes, and publish all of it
// with one word.

import KeptSchema
import KeptSystem
import KeptValues

/// The commits of a ``GroupWriter``.
///
/// Not thread-safe.
final class JournalWriter {
  let journal: Journal
  let loader: IndexLoader
  let settler: Settler
  let eraser: SecretEraser
  /// Receives commits while they become visible.
  private let commitObserver: (any CommitObserver)?
  /// Calls its argument if nothing observes the store; else it does nothing.
  let whileSilent: (() -> Void) -> Void
  /// Whether a value had to be staged because its key is secret.
  private(set) var mayBeSecret = false
  private(set) var frames: FrameGroup?
  /// Bodies staged for failed commits that could not be removed.
  var unnamed: [StagedBody] = []
  /// Whether the write lock is held while a batch is made.
  private var isLocked = false

  init(
    _ journal: Journal, _ loader: IndexLoader, _ settler: Settler, eraser: SecretEraser,
    commitObserver: (any CommitObserver)?
  ) {
    (self.journal, self.loader, self.settler) = (journal, loader, settler)
    (self.eraser, self.commitObserver) = (eraser, commitObserver)
    whileSilent = Self.whileSilent(commitObserver)
  }

  /// Values of more bytes are bodies in the database, so that the ring has room for many commits.
  static let mostInline = 128 << 10
  static let purpose = "commit the changes"

  /// Commits a group.
  ///
  /// A batch whose conditions do not hold fails alone. All fail with `busy` if others hold the write lock until the
  /// deadline.
  func commit(_ group: [Batch], until deadline: Int64) -> [Result<Commit, StoreError>] {
    do throws(StoreError) { return try commitTogether(group, until: deadline) } catch {
      // Busy is not caused by a single batch, and separate retries would wait for one timeout each.
      guard group.count > 1, error.code != .busy else { return group.map { _ in .failure(error) } }
      // The cause is one of the batches, or the disk: each batch is retried alone to find its own failure.
      return group.map { commit([$0], until: deadline)[0] }
    }
  }

  /// Commits a batch that is made while other writers are kept out.
  func commit(
    until deadline: Int64, making make: () throws(StoreError) -> Batch
  ) throws(StoreError) -> Commit {
    try locked(until: deadline) { () throws(StoreError) in
      isLocked = true
      defer { isLocked = false }
      return try commitTogether([make()], until: deadline)[0].get()
    }
  }

  private func commitTogether(
    _ group: [Batch], until deadline: Int64
  ) throws(StoreError) -> [Result<Commit, StoreError>] {
    while true {
      if let frames { frames.begin(at: frames.first) }
      // Before the lock, so that others need not wait for the database.
      try read(group)
      let staged = try stage(group)
      var unused = staged
      defer { drop(unused.left, mayBeSecret: unused.mayBeSecret) }
      let prefixes = try PrefixChanges(of: group, loader)
      // It may be too long for a frame; for other commits a plan would only cost time.
      let isLong = group.count == 1 && group[0].edits.count >= Self.mostUnplanned
      let plan = isLong ? try planBeforeLock(group[0], prefixes) : nil
      if let plan, Self.leastLength(plan.changes) > Self.mostInFrame {
        return [try bulk(group[0], plan, prefixes, until: deadline)]
      }
      if group.contains(where: \.declaresSecretDefault) {
        guard group.count == 1 else {
          throw StoreError(.unavailable, "the default of a secret must not stay in the journal")
        }
        return [try bulk(group[0], plan, prefixes, until: deadline)]
      }
      do throws(StoreError) {
        return try locked(until: deadline) { () throws(StoreError) in
          var left = staged
          let results = try write(group, plan, &left, prefixes)
          unused = left
          return results
        }
      } catch {
        if let length = frames?.tooLong {
          // Each of them may fit alone.
          guard group.count == 1 else { throw error }
          if length > Self.mostInFrame { return [try bulk(group[0], plan, prefixes, until: deadline)] }
          try locked(until: deadline) { () throws(StoreError) in try settler.beginRing(for: length) }
          frames = nil
          continue
        }
        guard error.code == .busy, MonotonicTime.milliseconds < deadline else { throw error }
        if let frames, frames.isRingFull, frames.header.size < JournalHeader.mostBytes, !journal.words.isDoubtful {
          // It was lapped before it was settled.
          try locked(until: deadline) { () throws(StoreError) in try settler.beginRing(for: frames.header.size / 4 + 1)
          }
          self.frames = nil
          continue
        }
      }
      // The ring is full, or a value has to be staged by now.
      guard journal.words.isDoubtful else {
        try settler.settle()
        continue
      }
      try locked(until: deadline) { () throws(StoreError) in
        if journal.words.isDoubtful { try settler.endDoubt() }
      }
    }
  }

  /// Reads what the group depends on, so that it is in the index; a single key costs less under the lock.
  private func read(_ group: [Batch]) throws(StoreError) {
    for batch in group {
      var keys = batch.conditions.compactMap { condition -> KeyName? in
        switch condition {
        case .revision(let key, _), .unchanged(let key, _): key
        case .unchangedPrefix, .schemaVersion: nil
        }
      }
      if batch.edits.count + batch.declarations.count > 1 { keys += batch.edits.map(\.key) + batch.declarations.keys }
      if !keys.isEmpty { try loader.load(keys) }
    }
  }

  private func locked<Result>(
    until deadline: Int64, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    if isLocked { return try body() }
    try journal.lockForWriting(until: deadline)
    defer { journal.unlockForWriting() }
    if journal.isRingMissing { try settler.beginRing(for: 0) }
    return try body()
  }

  /// A longer frame would not leave a ring, however large, room for others.
  private static let mostInFrame = JournalHeader.mostBytes / 4
  private static let mostUnplanned = 4096

  /// A lower bound for the length of a frame of some changes.
  private static func leastLength(_ changes: [StoredChange]) -> Int {
    var length = 0
    for change in changes {
      length += change.key.text.utf8.count
      if change.isOfValue, let value = change.new.value, !StagedBodies.mustStage(value, change.new.declaration) {
        length += value.bytes
      }
    }
    return length
  }

  /// The changes of a commit, computed before the lock, and the state of the store for which that holds.
  private struct Plan {
    let place: FramePlace
    let changes: [StoredChange]
  }

  /// Returns the plan of a commit; nil if it is refused: under the lock a condition may not hold, and that comes first.
  private func planBeforeLock(_ batch: Batch, _ prefixes: PrefixChanges?) throws(StoreError) -> Plan? {
    do throws(StoreError) { return try plan(batch, prefixes) } catch {
      guard error.isRefusal else { throw error }
      return nil
    }
  }

  private func plan(_ batch: Batch, _ prefixes: PrefixChanges?) throws(StoreError) -> Plan {
    let keys = batch.keys
    let present = try loader.present(keys)
    return Plan(
      place: present.place, changes: try changes(by: batch, of: keys, present.keys, progress(present, prefixes)))
  }

  /// Commits a batch whose frame would be too long for any ring: the database holds its changes, and a frame names
  /// them.
  private func bulk(
    _ batch: Batch, _ first: Plan?, _ prefixes: PrefixChanges?, until deadline: Int64
  ) throws(StoreError) -> Result<Commit, StoreError> {
    var first = first
    for _ in 0..<Self.mostPreparations {
      if first == nil { try read([batch]) }
      let plan = if let first { first } else { try plan(batch, prefixes) }
      first = nil
      if plan.changes.isEmpty {
        // Its conditions are still to be checked.
        return try locked(until: deadline) { () throws(StoreError) in
          var none = StagedBodies()
          return try write([batch], nil, &none, prefixes)[0]
        }
      }
      let bodies = try StagedBulk(plan.changes, settler)
      var isNamed = false
      defer { if !isNamed { drop([bodies.id], mayBeSecret: bodies.mayBeSecret) } }
      let result = try locked(until: deadline) { () throws(StoreError) in try write(batch, plan, bodies, prefixes) }
      guard let result else { continue }
      if case .success = result {
        isNamed = true
        // It is committed, whether or not this succeeds now.
        try? settler.settle()
      }
      return result
    }
    throw StoreError(
      .busy,
      "other writers keep changing keys of the commit (\(batch.edits.count) keys); try again, or commit fewer keys")
  }

  /// How often a large commit is prepared before it gives way to the writers that change what it depends on.
  private static let mostPreparations = 8

  /// Writes the frame of a large commit; nil if others have changed what it was planned on.
  private func write(
    _ batch: Batch, _ plan: Plan, _ bodies: StagedBulk, _ prefixes: PrefixChanges?
  ) throws(StoreError) -> Result<Commit, StoreError>? {
    let present = try loader.present([])
    let frames = try frames(at: present.place)
    var progress = progress(present, prefixes)
    try progress.prefixes?.catchUp(loader)
    var changes = plan.changes
    do throws(StoreError) {
      for condition in batch.conditions { try check(condition, progress) }
      if present.place != plan.place { changes = try self.changes(by: batch, progress) }
    } catch {
      guard error.isRefusal else { throw error }
      return .failure(error)
    }
    guard present.place == plan.place || bodies.match(changes) else { return nil }
    let head = journal.head(progress.revision + 1, batch.author.tag)
    frames.begin(head)
    try frames.frame.add(bulk: bodies.id)
    if let version = batch.schemaVersion { try frames.frame.add(schemaVersion: version) }
    try frames.end()
    for change in changes where change.leavesSecret { eraser.note(change) }
    let commit = Commit(revision: head.revision, changes: changes, time: head.date)
    let result: Result<Commit, StoreError> = .success(commit)
    try publish(frames, [batch], [result], after: present.revision)
    return result
  }

  private func progress(_ present: IndexLoader.Present, _ prefixes: PrefixChanges?) -> Progress {
    Progress(
      revision: present.revision, schemaVersion: present.schemaVersion, staged: StagedBodies(), prefixes: prefixes)
  }

  /// The progress of a group.
  private struct Progress {
    var revision: Revision
    var schemaVersion: UInt32
    var staged: StagedBodies
    var prefixes: PrefixChanges?
    /// The writes of the previous batches.
    var written: [KeyName: IndexLoader.PresentKey] = [:]
  }

  private func write(
    _ group: [Batch], _ plan: Plan?, _ staged: inout StagedBodies, _ prefixes: PrefixChanges?
  ) throws(StoreError) -> [Result<Commit, StoreError>] {
    let firstKeys = group[0].keys
    var planned: [StoredChange]?
    let present: IndexLoader.Present
    if let plan {
      (present, planned) = try check(plan, firstKeys)
    } else {
      present = try loader.present(firstKeys)
    }
    let frames = try frames(at: present.place)
    var progress = Progress(
      revision: present.revision, schemaVersion: present.schemaVersion, staged: staged, prefixes: prefixes)
    try progress.prefixes?.catchUp(loader)
    var results = [try apply(group[0], of: group.count, firstKeys, present.keys, planned, frames, &progress)]
    for batch in group.dropFirst() {
      let keys = batch.keys
      results.append(try apply(batch, of: group.count, keys, loader.present(keys).keys, nil, frames, &progress))
    }
    staged = progress.staged
    guard frames.next.position > frames.first.position else { return results }
    try publish(frames, group, results, after: present.revision)
    var commits: [Commit] = []
    for case .success(let commit) in results where !commit.changes.isEmpty { commits.append(commit) }
    loader.apply(
      commits, from: present.place, to: frames.next, revision: progress.revision, schemaVersion: progress.schemaVersion)
    return results
  }

  /// Returns the changes of a plan if they hold now, or else the stored values of its keys.
  private func check(
    _ plan: Plan, _ keys: [KeyName]
  ) throws(StoreError) -> (IndexLoader.Present, planned: [StoredChange]?) {
    let present = try loader.present([])
    return present.place == plan.place ? (present, plan.changes) : (try loader.present(keys), nil)
  }

  /// Applies one batch; a refusal is its result, and any other error fails the group.
  private func apply(
    _ batch: Batch, of group: Int, _ keys: [KeyName], _ present: [IndexLoader.PresentKey], _ planned: [StoredChange]?,
    _ frames: FrameGroup, _ progress: inout Progress
  ) throws(StoreError) -> Result<Commit, StoreError> {
    let changes: [StoredChange]
    do throws(StoreError) {
      for condition in batch.conditions { try check(condition, progress) }
      changes = if let planned { planned } else { try self.changes(by: batch, of: keys, present, progress) }
    } catch {
      guard error.isRefusal else { throw error }
      return .failure(error)
    }
    let version = batch.schemaVersion.flatMap { $0 == progress.schemaVersion ? nil : $0 }
    guard !changes.isEmpty || version != nil else { return .success(Commit(revision: progress.revision, changes: [])) }
    if !changes.isEmpty { progress.revision += 1 }
    let head = journal.head(progress.revision, batch.author.tag)
    frames.begin(head)
    for change in changes { try add(change, frames.frame, &progress.staged) }
    if let version { try frames.frame.add(schemaVersion: version) }
    try frames.end()
    for change in changes {
      if change.leavesSecret { eraser.note(change) }
      progress.prefixes?.note(change.key, progress.revision)
      // A batch has one edit for each key, so only another batch of the group can read this.
      if group > 1 {
        progress.written[change.key] = IndexLoader.PresentKey(entry: change.new, changed: progress.revision)
      }
    }
    if let version { progress.schemaVersion = version }
    return .success(Commit(revision: progress.revision, changes: changes, time: head.date))
  }

  private func add(_ change: StoredChange, _ frame: FrameWriter, _ staged: inout StagedBodies) throws(StoreError) {
    if change.new.declaration != change.old?.declaration {
      if let declaration = change.new.declaration {
        try frame.add(declaration: ExactString(declaration.json), change.key)
      } else {
        try frame.add(.undeclared, change.key)
      }
    }
    guard change.isOfValue else { return }
    guard let value = change.new.value else { return try frame.add(.removed, change.key) }
    guard StagedBodies.mustStage(value, change.new.declaration) else { return try frame.add(value, change.key) }
    guard let body = staged.take(change.key, value) else {
      mayBeSecret = true
      throw StoreError(.busy, key: change.key.text, "was declared during the write; try again")
    }
    try frame.add(staged: body, change.key)
  }

  private func check(_ condition: Condition, _ progress: Progress) throws(StoreError) {
    switch condition {
    case .revision(let key, let expected):
      let entry = try present(key, progress).entry
      try Condition.check(key, expected: expected, found: entry?.value == nil ? 0 : entry?.revision ?? 0)
    case .unchanged(let key, let base):
      try Condition.check(key, unchangedAfter: base, found: try present(key, progress).changed)
    case .unchangedPrefix(let prefix, let base):
      let last = progress.prefixes?.lastChange(under: prefix) ?? 0
      try Condition.check(prefix, unchangedAfter: base, found: last)
    case .schemaVersion(let expected):
      try Condition.check(schemaVersion: expected, found: progress.schemaVersion)
    }
  }

  private func present(_ key: KeyName, _ progress: Progress) throws(StoreError) -> IndexLoader.PresentKey {
    if let written = progress.written[key] { return written }
    return try loader.present([key]).keys[0]
  }

  /// Returns what the batch changes, without edits that leave a key as it is.
  private func changes(by batch: Batch, _ progress: Progress) throws(StoreError) -> [StoredChange] {
    let keys = batch.keys
    return try changes(by: batch, of: keys, loader.present(keys).keys, progress)
  }

  private func changes(
    by batch: Batch, of keys: [KeyName], _ present: [IndexLoader.PresentKey], _ progress: Progress
  ) throws(StoreError) -> [StoredChange] {
    try Allowance.ask(forEntries: keys.count, to: Self.purpose)
    var changes: [StoredChange] = []
    changes.reserveCapacity(keys.count)
    for (key, stored) in zip(keys, present) {
      let old = progress.written[key] ?? stored
      let edit = batch.edits[key]
      // Declaring a key with an unreadable value would make it look absent.
      if let damage = old.damage, edit == nil { throw damage }
      if var change = try batch.change(of: key, by: edit, from: old.entry, at: progress.revision + 1) {
        // An unreadable value is replaced even if the new one is absent.
        if old.damage != nil { change.new.revision = progress.revision + 1 }
        changes.append(change)
      } else if old.damage != nil {
        // Any write replaces an unreadable value: this is how a damaged row is repaired.
        let gone = Entry(value: nil, revision: progress.revision + 1, declaration: old.entry?.declaration)
        changes.append(StoredChange(key: key, old: old.entry, new: gone))
      }
    }
    return changes
  }

  /// Publishes the frames, and passes their commits and the preceding ones of others to the commit observer.
  private func publish(
    _ frames: FrameGroup, _ group: [Batch], _ results: [Result<Commit, StoreError>], after start: Revision
  ) throws(StoreError) {
    guard let commitObserver else { return try journal.publish(frames) }
    try commitObserver.publish { delivered throws(StoreError) in
      guard let delivered else {
        try journal.publish(frames)
        return Publication(commits: [])
      }
      let commits = zip(results, group).compactMap { result, batch in (try? result.get()).map { ($0, by: batch.author) }
      }
      .filter { !$0.0.changes.isEmpty }
      let preceding = delivered == start ? nil : try loader.changes(after: delivered)
      try journal.publish(frames)
      return Publication(preceding: preceding, commits: commits)
    }
  }

  private func frames(at place: FramePlace) throws(StoreError) -> FrameGroup {
    let file = try journal.file()
    if let frames, frames.header == file.header {
      frames.begin(at: place)
      return frames
    }
    let made = FrameGroup(file, at: place)
    frames = made
    return made
  }
}

extension Batch {
  /// Whether it declares a secret with a default, which no ring shall keep.
  fileprivate var declaresSecretDefault: Bool {
    declarations.values.contains { $0?.isSecret == true && $0?.defaultValue != nil }
  }
}
