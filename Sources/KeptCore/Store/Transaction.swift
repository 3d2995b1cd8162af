// Edits that wait for their commit, and the reads they are based on. A transaction holds no lock: at its commit, the
// storage checks that nothing it read has changed since the revision at which it began to read.

import KeptEngine
public import KeptSchema
import KeptSystem
public import KeptValues

/// Reads and writes that other readers see together or not at all.
///
/// A transaction reads its own writes.
///
/// A read throws `conflict` as soon as the key is known to have changed after the first read. The commit throws it if
/// anything that was read or listed has changed. After its end, every call throws `closed`.
public final class Transaction: SettingsAccess {
  fileprivate struct State {
    static let purpose = "keep the transaction"

    var batch: Batch
    var allowance = Allowance()
    // The revision that all reads must agree with; nil if nothing was read.
    var base: Revision?
    // Changes since then, as far as they were looked up.
    var changed: [KeyName: Revision] = [:]
    var lookedUpTo: Revision = 0
    // The keys read and prefixes listed, so that each condition is added once.
    var relied: Set<Condition> = []
    var hasEnded = false
    // A revision that the caller expected did not match: a retry would not help.
    var wasRefused = false
    // Whether the current user of the transaction must not end it.
    var isLent = false
    // The failure of a call that could not throw it.
    var failure: StoreError?
  }

  public let store: Store
  private let state: Monitor<State>
  // The fork count when the transaction was begun.
  private let forks = Fork.gate.forks

  init(of store: Store, durability: Durability?, tag: String?) {
    self.store = store
    state = Monitor(State(batch: store.newBatch(durability: durability, tag: tag)))
  }

  public func entry(for key: KeyName) throws(StoreError) -> Entry? {
    try store.unlocking { () throws(StoreError) in
      try open { state throws(StoreError) in try state.entry(key, in: store) }
    }
  }

  public func lockedEntry(for key: KeyName) throws(StoreError) -> Entry? {
    try open { state throws(StoreError) in try state.locked(key, in: store) }
  }

  public func resolved(_ key: KeyName) throws(StoreError) -> Resolved {
    store.layerStack.resolve(key, try entry(for: key))
  }

  public func storedKeys(prefix: ExactString) throws(StoreError) -> [KeyName] {
    try open { state throws(StoreError) in
      let stored = try state.stored(prefix, in: store)
      return state.batch.edits.isEmpty ? stored : state.withEdits(stored, prefix: prefix)
    }
  }

  public func put(_ value: Value, for key: KeyName, ifRevision expected: Revision?) throws(StoreError) -> Revision {
    store.layerStack.watchAgain()
    return try open { state throws(StoreError) in
      try store.checkUnlocked(key)
      // The expected revision is the stored one, also for a key that this transaction has written.
      if let expected { try state.expect(expected, of: key, in: store) }
      try state.allowance.take(key.text.utf8.count + value.bytes, to: State.purpose)
      state.batch.edit(key, .set(try state.admitted(value, for: key, in: store)))
      return 0
    }
  }

  /// Adds a new value of a key that the index knows; false, with nothing done, if that needs a check.
  package func putKnown(_ value: Value, for key: PreparedBytes) -> Bool {
    guard let bytes = value.bytesAsStored, !store.hasEnded, store.layerStack.sources.isEmpty,
      let known = store.knownKey(key)
    else { return false }
    guard let declaration = known.declaration else { return edit(known, value, key.bytes.count + bytes) }
    guard let admitted = try? declaration.admitted(value) else { return false }
    return edit(known, admitted, key.bytes.count + admitted.bytes)
  }

  /// Adds a value that its declaration admits; false, with nothing done, if that needs a check.
  private func edit(_ key: KnownKey, _ value: Value, _ bytes: Int) -> Bool {
    state.updateQuietly { state in
      guard !state.hasEnded, forks == Fork.gate.forks, state.batch.declarations.isEmpty,
        (try? state.allowance.take(bytes, to: State.purpose)) != nil
      else { return false }
      state.batch.edit(key.name, .set(value))
      return true
    }
  }

  public func delete(_ key: KeyName) throws(StoreError) -> Bool {
    store.layerStack.watchAgain()
    try open { _ throws(StoreError) in try store.checkUnlocked(key) }
    guard try revision(of: key) != nil else { return false }
    return try open { state throws(StoreError) in
      try state.allowance.take(key.text.utf8.count, to: State.purpose)
      state.batch.edit(key, .remove)
      return true
    }
  }

  public func declare(
    _ keys: [KeyName], _ declarations: [Declaration?]
  ) throws(StoreError) -> [(key: KeyName, entry: Entry, wasSecret: Bool)] {
    try allOrNone(of: keys) { () throws(StoreError) in
      try open { state throws(StoreError) in
        var declared: [(key: KeyName, entry: Entry, wasSecret: Bool)] = []
        for (key, declaration) in zip(keys, declarations) {
          let old = try state.entryToDeclare(key, in: store)
          if let declaration, let old = old?.declaration {
            do throws(StoreError) { try declaration.follows(old) } catch { throw error.about(key.text) }
          }
          try state.allowance.take(key.text.utf8.count + (declaration?.json.utf8.count ?? 0), to: State.purpose)
          state.batch.declare(key, declaration)
          let entry = Entry(value: old?.value, revision: old?.revision ?? 0, declaration: declaration)
          declared.append((key, entry, old?.declaration?.isSecret == true || store.hasStoredAsSecret(key)))
        }
        return declared
      }
    }
  }

  /// Makes several edits of these keys; if one is refused, none is made.
  package func allOrNone<Result, Failure: Error>(
    of keys: [KeyName], _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let before = parts(of: keys)
    do throws(Failure) { return try body() } catch {
      putBack(before)
      throw error
    }
  }

  private func parts(of keys: [KeyName]) -> [(key: KeyName, part: Batch.Part)] {
    state.read { state in keys.map { ($0, state.batch.part(of: $0)) } }
  }

  /// Restores these keys alone: other threads may have edited others since.
  private func putBack(_ parts: [(key: KeyName, part: Batch.Part)]) {
    state.updateQuietly { state in for (key, part) in parts { state.batch.putBack(part, of: key) } }
  }

  /// Throws `closed` after the end of the transaction.
  func checkOpen() throws(StoreError) { try open { _ in } }

  /// Adds edits that do not depend on anything that was read.
  func edit(_ body: (inout Batch) -> Void) throws(StoreError) { try open { body(&$0.batch) } }

  /// Whether the transaction was begun for its current user, and is ended by the code that began it.
  package var isLent: Bool {
    get { state.read(\.isLent) }
    set { state.updateQuietly { $0.isLent = newValue } }
  }

  /// Changes the schema version with the commit, if the store still has the version that was found.
  func lead(from found: UInt32, to version: UInt32) {
    state.updateQuietly { state in
      state.relied.insert(.schemaVersion(found))
      state.batch.schemaVersion = version
    }
  }

  /// The keys that it has declared, or whose declaration it has removed.
  var newlyDeclared: Set<KeyName> { state.read { Set($0.batch.declarations.keys) } }

  /// Commits and ends the transaction, whether or not the commit succeeds.
  ///
  /// In C: `kept_commit`.
  /// - Returns: the store's new revision, or its current one when nothing changed.
  package func commit() throws(StoreError) -> Revision {
    let ended = try end()
    if let failure = ended.failure { throw failure }
    // Reads at one unchanged revision are consistent. Checking this needs no write lock.
    if ended.isReadingOnly, let base = ended.base, try store.currentRevision() == base { return base }
    var batch = ended.batch
    batch.conditions = Array(ended.relied)
    return try store.commitAtOnce(batch)
  }

  /// Whether it failed because a revision that the caller expected did not match.
  var wasRefused: Bool { state.update { $0.wasRefused } }

  /// Notes that what it finds is not what its caller expected: a retry would find the same.
  func refuse() { state.updateQuietly { $0.wasRefused = true } }

  /// Makes the commit throw a failure that the failing call, such as a subscript, could not throw.
  ///
  /// Otherwise half of the transaction would be committed, or a decision based on a default that was never stored. The
  /// first of several failures is kept.
  package func fail(_ error: StoreError) {
    let isHeard = state.update { state in
      if !state.hasEnded { state.failure = state.failure ?? error }
      return !state.hasEnded
    }
    if !isHeard { store.report(error) }
  }

  /// Throws the failure of a subscript before the commit does.
  func checkSubscripts() throws(StoreError) { if let failure = state.read(\.failure) { throw failure } }

  /// Ends the transaction and discards its edits.
  ///
  /// Ending twice has no further effect. In C: `kept_rollback`.
  package func rollBack() { state.update { $0.hasEnded = true } }

  /// Whether it was committed or rolled back.
  package var hasEnded: Bool { state.read(\.hasEnded) }

  private func end() throws(StoreError) -> State {
    try open { state throws(StoreError) in
      state.hasEnded = true
      return state
    }
  }

  private func open<Result: Sendable>(
    _ body: (inout State) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    // No thread waits for a transaction.
    try state.updateQuietly { state throws(StoreError) in
      guard !state.hasEnded else { throw StoreError(.closed, "the transaction has ended; begin another") }
      guard forks == Fork.gate.forks else {
        throw StoreError(.forked, "the transaction was begun in the parent of this process; begin another")
      }
      return try body(&state)
    }
  }
}

extension Transaction.State {
  fileprivate var isReadingOnly: Bool {
    batch.isEmpty && batch.durability == .shared && !expectsRevision
  }

  /// Whether a call named the revision of a key; if that was refused, the commit is a conflict too.
  private var expectsRevision: Bool {
    relied.contains { if case .revision = $0 { true } else { false } }
  }

  /// The entry of a key, including the edits.
  fileprivate mutating func entry(_ key: KeyName, in store: Store) throws(StoreError) -> Entry? {
    // Its own writes have no revision yet.
    if let edit = batch.edits[key] {
      return Entry(value: edit.value, revision: 0, declaration: try declaration(of: key, in: store))
    }
    var entry = try stored(key, in: store)
    if let declared = batch.declarations[key] {
      entry = entry ?? Entry(value: nil, revision: 0)
      entry?.declaration = declared
    }
    return entry
  }

  /// The entry of a key, without the value if that is a secret that is locked.
  fileprivate mutating func entryToDeclare(_ key: KeyName, in store: Store) throws(StoreError) -> Entry? {
    do throws(StoreError) { return try entry(key, in: store) } catch {
      guard error.code == .unavailable, let locked = try locked(key, in: store) else { throw error }
      return locked
    }
  }

  /// The entry of a secret that is locked, without the value; nil if the key is not one.
  fileprivate func locked(_ key: KeyName, in store: Store) throws(StoreError) -> Entry? {
    var locked = try store.lockedEntry(for: key)
    if let declared = batch.declarations[key] { locked?.declaration = declared }
    return locked
  }

  /// The value as the current declaration admits it; the commit checks again.
  fileprivate func admitted(_ value: Value, for key: KeyName, in store: Store) throws(StoreError) -> Value {
    guard let declaration = try declaration(of: key, in: store) else { return value }
    // A value stored as a secret stays secret until the commit, whatever the transaction declares.
    let hidden = !batch.declarations.isEmpty && store.hasStoredAsSecret(key)
    do { return try declaration.admitted(value, hidden: hidden) } catch { throw error.about(key.text) }
  }

  /// The declaration of a key.
  ///
  /// The transaction does not depend on it.
  private func declaration(of key: KeyName, in store: Store) throws(StoreError) -> Declaration? {
    if let declared = batch.declarations[key] { return declared }
    do throws(StoreError) { return try store.declaration(of: key) } catch {
      // A write replaces a value that cannot be read; the commit has the declaration.
      guard error.isOfValue else { throw error }
      return nil
    }
  }

  /// Reads a key below the edits, and records that the transaction depends on it.
  fileprivate mutating func stored(_ key: KeyName, in store: Store) throws(StoreError) -> Entry? {
    let base = try readingBase(of: store)
    try allowance.take(key.text.utf8.count, to: Self.purpose)
    // The condition is added before it is checked: a read that is refused here makes the commit fail, too.
    relied.insert(.unchanged(key, after: base))
    // No provider of keys is asked with the transaction locked.
    let entry = try store.storage().entry(for: key)
    if let entry {
      try Condition.check(key, unchangedAfter: base, found: entry.revision)
    } else {
      try lookAtChanges(of: store, since: base)
      if let found = changed[key] { try Condition.check(key, unchangedAfter: base, found: found) }
    }
    return entry
  }

  fileprivate mutating func expect(_ expected: Revision, of key: KeyName, in store: Store) throws(StoreError) {
    relied.insert(.revision(key, expected))
    var found: Revision = 0
    do throws(StoreError) {
      if let entry = try stored(key, in: store), entry.value != nil { found = entry.revision }
    } catch {
      guard error.code == .unavailable, let locked = try store.lockedEntry(for: key) else { throw error }
      found = locked.revision
    }
    wasRefused = found != expected
    try Condition.check(key, expected: expected, found: found)
  }

  /// Lists a prefix below the edits, and records that the transaction depends on it.
  fileprivate mutating func stored(_ prefix: ExactString, in store: Store) throws(StoreError) -> [KeyName] {
    let listing = try store.listing(prefix: prefix)
    if base == nil { base = listing?.revision }
    let base = try readingBase(of: store)
    relied.insert(.unchangedPrefix(prefix, after: base))
    let keys = if let listing { listing.keys } else { try store.storedKeys(prefix: prefix) }
    try Allowance.ask(forEntries: keys.count + batch.edits.count, to: Self.purpose)
    if listing?.revision == base {
      batch.listed[prefix] = keys
      return keys
    }
    try lookAtChanges(of: store, since: base)
    if let first = changed.first(where: { $0.key.exact.hasPrefix(prefix) }), batch.listed[prefix] != keys {
      batch.listed[prefix] = nil
      try Condition.check(first.key, unchangedAfter: base, found: first.value)
    }
    return keys
  }

  /// An absent key has no revision of its own: whether it was removed after `base` is found in the changes since.
  private mutating func lookAtChanges(of store: Store, since base: Revision) throws(StoreError) {
    let last = max(base, lookedUpTo)
    guard try store.currentRevision() > last else { return }
    guard case .changed(let delta) = try store.changes(after: last) else {
      throw StoreError(.conflict, "too much has changed since the transaction began at revision \(base); try again")
    }
    try Allowance.ask(forEntries: changed.count + delta.entries.count, to: Self.purpose)
    for entry in delta.entries { changed[entry.key] = entry.entry.revision }
    lookedUpTo = delta.upTo
  }

  /// The listing after the edits.
  fileprivate func withEdits(_ stored: [KeyName], prefix: ExactString) -> [KeyName] {
    var keys = Set(stored)
    for (key, edit) in batch.edits where key.exact.hasPrefix(prefix) {
      if edit.value == nil { keys.remove(key) } else { keys.insert(key) }
    }
    return Array(keys).inOrder(of: \.exact)
  }

  private mutating func readingBase(of store: Store) throws(StoreError) -> Revision {
    if let base { return base }
    let base = try store.currentRevision()
    self.base = base
    return base
  }
}
