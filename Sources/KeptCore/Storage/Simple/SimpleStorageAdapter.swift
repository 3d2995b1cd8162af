// Turns a simple storage into a complete one: what the four methods do not provide, mainly revisions, is kept in
// memory.

import KeptSystem
public import KeptValues

/// A storage on top of a ``SimpleStorage``.
///
/// It changes one key at a time: a batch of several is `unsupported`, as are declarations. Keys are listed only for a
/// ``ListingStorage``. Revisions are counted in this process, beginning when it is opened: values that exist then have
/// revision 1. A key whose value others have changed gets a new revision when it is next read. So conditions on
/// revisions also detect changes by others, except between reading and writing.
///
/// A key that cannot be read has an error of its own: reading it throws the error, and observing it by its prefix
/// reports the error once. The other keys are read, and the key is never delivered as absent. A key whose value is
/// `corrupt` can be set and removed.
public final class SimpleStorageAdapter: Storage {
  public let abilities: StorageAbilities

  /// Changes reported by the simple storage, which may call at any time, also while it is being called.
  private struct News {
    // The keys that others may have changed; `mayBeAny` means all keys.
    var keys: Set<KeyName> = []
    var mayBeAny = false
    var revision: Revision = 0
    var isHeard = false
    var isClosed = false
    var interruptions = 0
    // Errors for single keys that were not reported yet.
    var failures: [KeyName: StoreError] = [:]

    var isSome: Bool { mayBeAny || !keys.isEmpty }
  }
  private let simple: any SimpleStorage
  private let lister: (any ListingStorage)?
  private let guarded: (any GuardedStorage)?
  // Held while the simple storage is called, so that calls are made one at a time and a fork finds it consistent.
  private let tracker = Monitor(RevisionTracker())
  private let news = Monitor(News())
  // Whether a thread writes. It is not a lock: a thread that waits for the disk or for other processes holds no lock.
  private let isWriting = Monitor(false)
  private let commitObserver = Monitor<(any CommitObserver)?>(nil)

  public init(_ simple: any SimpleStorage) {
    self.simple = simple
    guarded = simple as? any GuardedStorage
    lister = simple as? any ListingStorage
    abilities = [.revisions, .pushesChanges, lister == nil ? [] : .listsKeys, guarded?.abilities ?? []]
    Fork.join(self)
  }

  deinit {
    Fork.leave(self)
    close()
  }

  /// Commits can only be detected by reading.
  public var generation: UInt64 { 1 }

  // MARK: - Reading

  public func entry(for key: KeyName) throws(StoreError) -> Entry? {
    try use { tracker throws(StoreError) in
      let entry = try look(at: key, &tracker)
      return entry.value == nil ? nil : entry
    }
  }

  public func keys(prefix: ExactString) throws(StoreError) -> [KeyName] {
    try use { tracker throws(StoreError) in
      try list(&tracker).filter { $0.exact.hasPrefix(prefix) }.inOrder(of: \.exact)
    }
  }

  public func entries(in scopes: [Scope]) throws(StoreError) -> StoredEntries {
    try use { tracker throws(StoreError) in
      var keys: Set<KeyName> = []
      for scope in scopes {
        switch scope {
        case .key(let key): keys.insert(key)
        case .prefix: for key in try list(&tracker) where scope.contains(key) { keys.insert(key) }
        }
      }
      var found = StoredEntries(entries: [], revision: 0)
      var allowance = Allowance()
      for key in keys {
        do throws(StoreError) {
          let entry = try look(at: key, &tracker)
          if entry.value != nil { found.entries.append(KeyedEntry(key: key, entry: entry)) }
        } catch {
          if scopes.contains(.key(key)) { throw error }
          note(error, of: key, &tracker)
          // It counts as new once it can be read.
          tracker.forget(key)
          found.unreadable.append(UnreadableEntry(key: key, reason: error))
        }
        try allowance.take(found.entries.last?.entry.value?.bytes ?? 0, to: "list the stored keys")
      }
      found.revision = tracker.revision
      return found
    }
  }

  public func revision() throws(StoreError) -> Revision { try use { $0.revision } }

  public func changes(after revision: Revision) throws(StoreError) -> ChangesAfter {
    try use { tracker throws(StoreError) in try changes(after: revision, &tracker) }
  }

  private func changes(after revision: Revision, _ tracker: inout RevisionTracker) throws(StoreError) -> ChangesAfter {
    try takeNews(&tracker)
    guard revision <= tracker.revision else { return .tooOld }
    var entries: [KeyedEntry] = []
    for key in tracker.keys(after: revision) {
      if let entry = delivered(key, &tracker) { entries.append(KeyedEntry(key: key, entry: entry)) }
    }
    return .changed(Delta(entries.inOrder(of: \.entry.revision, then: \.key.exact), upTo: tracker.revision))
  }

  /// The entry to deliver for a changed key; nil for a new key that cannot be read, which counts as new again once it
  /// can.
  private func delivered(_ key: KeyName, _ tracker: inout RevisionTracker) -> Entry? {
    if let entry = tracker.entry(of: key) { return entry }
    if let entry = try? look(at: key, &tracker) { return entry }
    tracker.forget(key)
    return nil
  }

  // MARK: - Writing

  public func commit(_ batch: Batch) throws(StoreError) -> Commit {
    guard batch.declarations.isEmpty else {
      throw Self.cannot("does not support declarations; validate values in your program")
    }
    guard batch.schemaVersion == nil else { throw Self.cannot("does not support schema versions") }
    let count = batch.keys.count
    guard count <= 1 else { throw Self.cannot("changes one key at a time; commit the keys separately") }
    let milliseconds = batch.patience ?? guarded?.busyTimeoutMilliseconds
    let deadline = milliseconds.map { MonotonicTime.milliseconds + Int64($0) }
    try enter(waiting: milliseconds)
    defer { leave() }
    try checkOpen()
    try guarded?.lock(waiting: Int(max(0, (deadline ?? 0) - MonotonicTime.milliseconds)))
    defer { guarded?.unlock() }
    try prepare(batch)
    let commit = try publish(batch)
    if batch.durability == .durable { try guarded?.sync() }
    return commit
  }

  /// Waits for the other writers of this process; nil for no time limit.
  private func enter(waiting milliseconds: Int?) throws(StoreError) {
    let begin: (inout Bool) -> Void? = { isWriting in
      guard !isWriting else { return nil }
      isWriting = true
      return ()
    }
    guard let milliseconds else { return isWriting.wait(until: begin) }
    guard isWriting.wait(milliseconds: Int64(milliseconds), until: begin) != nil else {
      throw StoreError(.busy, "another thread was still writing after \(milliseconds) ms; try again")
    }
  }

  private func leave() { isWriting.update { $0 = false } }

  private func prepare(_ batch: Batch) throws(StoreError) {
    guard let guarded, let (key, edit) = batch.edits.first, let value = edit.value else { return }
    let isThere = try use { tracker throws(StoreError) in
      try takeNews(&tracker)
      return try lookToReplace(key, &tracker)?.value == value
    }
    guard !isThere else { return }
    do throws(StoreError) { try guarded.prepare(key, value) } catch { throw error.about(key.text) }
  }

  /// Makes the commit visible, and reports it and the preceding changes of others to the commit observer.
  private func publish(_ batch: Batch) throws(StoreError) -> Commit {
    guard let commitObserver = commitObserver.read(\.self) else {
      return try use { tracker throws(StoreError) in try write(batch, &tracker) }
    }
    var commit = Commit(revision: 0, changes: [])
    try commitObserver.publish { delivered throws(StoreError) in
      try use { tracker throws(StoreError) in
        let preceding = try delivered.map { delivered throws(StoreError) in try changes(after: delivered, &tracker) }
        commit = try write(batch, &tracker)
        return Publication(preceding: preceding, commits: commit.changes.isEmpty ? [] : [(commit, by: batch.author)])
      }
    }
    return commit
  }

  private func write(_ batch: Batch, _ tracker: inout RevisionTracker) throws(StoreError) -> Commit {
    for condition in batch.conditions { try check(condition, &tracker) }
    let change = try batch.keys.first.flatMap { key throws(StoreError) in try apply(batch, to: key, &tracker) }
    return Commit(revision: tracker.revision, changes: change.map { [$0] } ?? [])
  }

  private func apply(_ batch: Batch, to key: KeyName, _ tracker: inout RevisionTracker) throws(StoreError)
    -> StoredChange?
  {
    let (known, revision) = (try lookToReplace(key, &tracker), tracker.revision + 1)
    let old = known?.revision == 0 ? nil : known
    let removed = StoredChange(key: key, old: nil, new: Entry(value: nil, revision: revision))
    guard let change = try batch.change(of: key, from: old, at: revision) ?? (known == nil ? removed : nil) else {
      return nil
    }
    do throws(StoreError) {
      if let value = change.new.value { try simple.set(key, to: value) } else { try simple.remove(key) }
    } catch {
      throw error.about(key.text)
    }
    tracker.learn(key, change.new.value)
    return change
  }

  private func check(_ condition: Condition, _ tracker: inout RevisionTracker) throws(StoreError) {
    switch condition {
    case .revision(let key, let expected):
      let entry = try look(at: key, &tracker)
      try Condition.check(key, expected: expected, found: entry.value == nil ? 0 : entry.revision)
    case .unchanged(let key, let base):
      // A value that cannot be read has no revision.
      guard let found = try lookToReplace(key, &tracker) else { return }
      try Condition.check(key, unchangedAfter: base, found: found.revision)
    case .unchangedPrefix(let prefix, let base):
      for key in try list(&tracker) where key.exact.hasPrefix(prefix) { _ = try look(at: key, &tracker) }
      try Condition.check(prefix, unchangedAfter: base, found: tracker.newest(prefix))
    case .schemaVersion:
      throw Self.cannot("does not support schema versions")
    }
  }

  public func flush() throws(StoreError) { try use { _ throws(StoreError) in try guarded?.sync() } }

  // MARK: - Waiting

  /// Waits for a change; throws the error of a key that could not be read, once.
  public func wait(after revision: Revision) throws(StoreError) -> Bool {
    try listen()
    let outcome = news.wait { news -> Result<Bool, StoreError>? in
      if news.isClosed { return .success(false) }
      if let (key, failure) = news.failures.first {
        news.failures[key] = nil
        return .failure(failure)
      }
      if news.interruptions > 0 {
        news.interruptions -= 1
        return .success(false)
      }
      return news.isSome || news.revision > revision ? .success(true) : nil
    }
    return try outcome.get()
  }

  public func interruptWaiting() { news.update { $0.interruptions += 1 } }

  public func close() {
    let isFirst = news.update { news in
      defer { news.isClosed = true }
      return !news.isClosed
    }
    guard isFirst else { return }
    commitObserver.update { $0 = nil }
    guarded?.close()
  }

  /// Registers for changes on first use: without waiting there is no need for them.
  private func listen() throws(StoreError) {
    let isFirst = news.updateQuietly { news in
      guard !news.isHeard, !news.isClosed else { return false }
      // Changes until now were not reported.
      (news.isHeard, news.mayBeAny) = (true, true)
      return true
    }
    guard isFirst else { return }
    do throws(StoreError) {
      try simple.listen { [weak self] key in
        self?.news.update { news in
          if let key { news.keys.insert(key) } else { news.mayBeAny = true }
        }
      }
    } catch {
      news.updateQuietly { $0.isHeard = false }
      throw error
    }
  }

  // MARK: - The tracker and the simple storage

  private func use<Result>(_ body: (inout RevisionTracker) throws(StoreError) -> Result) throws(StoreError) -> Result {
    try tracker.updateQuietly { tracker throws(StoreError) in
      try checkOpen()
      let before = tracker.revision
      defer { if tracker.revision != before { news.update { $0.revision = tracker.revision } } }
      return try body(&tracker)
    }
  }

  private func checkOpen() throws(StoreError) {
    if news.read(\.isClosed) { throw StoreError(.closed, "the store was closed; open it again") }
  }

  private func look(at key: KeyName, _ tracker: inout RevisionTracker) throws(StoreError) -> Entry {
    do throws(StoreError) { return tracker.learn(key, try simple.get(key)) } catch { throw error.about(key.text) }
  }

  /// The same for an edit, which may replace a value that cannot be read: then nil.
  private func lookToReplace(_ key: KeyName, _ tracker: inout RevisionTracker) throws(StoreError) -> Entry? {
    do throws(StoreError) { return try look(at: key, &tracker) } catch {
      guard error.code == .corrupt else { throw error }
      return nil
    }
  }

  /// Reports once to observers that a key cannot be read.
  private func note(_ error: StoreError, of key: KeyName, _ tracker: inout RevisionTracker) {
    if tracker.learn(key, unreadable: error) { news.update { $0.failures[key] = error } }
  }

  private func list(_ tracker: inout RevisionTracker) throws(StoreError) -> [KeyName] {
    guard let lister else { throw Self.cannot("cannot list its keys; read each by its name") }
    let keys = try lister.keys()
    tracker.learn(all: Set(keys))
    return keys
  }

  /// Reads the keys that others may have changed; a key that cannot be read is read again after its next change.
  private func takeNews(_ tracker: inout RevisionTracker) throws(StoreError) {
    let (keys, mayBeAny) = news.updateQuietly { news in
      defer { (news.keys, news.mayBeAny) = ([], false) }
      return (news.keys, news.mayBeAny)
    }
    var failure: StoreError?
    if mayBeAny && tracker.isListed { do throws(StoreError) { _ = try list(&tracker) } catch { failure = error } }
    for key in mayBeAny ? tracker.keys(after: nil) : Array(keys) {
      do throws(StoreError) { _ = try look(at: key, &tracker) } catch { note(error, of: key, &tracker) }
    }
    if let failure { throw failure }
  }

  private static func cannot(_ words: String) -> StoreError { StoreError(.unsupported, "this storage \(words)") }
}

extension SimpleStorageAdapter: ObservableStorage {
  package func report(to commitObserver: any CommitObserver) { self.commitObserver.update { $0 = commitObserver } }
}

extension SimpleStorageAdapter: ForkAware {
  /// The writing thread belonged to the parent.
  func afterForkInChild() {
    isWriting.update { $0 = false }
    guarded?.forgetWriter()
  }
}
