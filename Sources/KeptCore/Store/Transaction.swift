// Edits that wait for their commit, and what they were decided upon. It holds no lock: when it commits, the storage
// checks that nothing it read has changed since the revision at which it began to read.

/// Reads and writes that are seen together or not at all.
///
/// It reads its own writes.
///
/// A read throws `conflict` as soon as the key is known to have changed after the first read; the commit throws it if
/// anything read or listed has changed. After its end everything throws `closed`.
public final class Transaction: SettingsAccess {
  fileprivate struct State {
    static let purpose = "keep the transaction"

    var batch: Batch
    // What is edited and relied upon.
    var allowance = Allowance()
    // The revision that all reads must agree with; nil: nothing was read.
    var base: Revision?
    // What has changed since, as far as it was looked at.
    var changed: [KeyName: Revision] = [:]
    var lookedUpTo: Revision = 0
    // What was read and listed, so that each is expected once.
    var relied: Set<Condition> = []
    var hasEnded = false
    // A revision that the caller expected was not there: beginning again would not help.
    var wasRefused = false
    // Whoever has it now is not to end it.
    var isLent = false
    // A failure of a call that could not throw it.
    var failure: StoreError?
  }

  public let store: Store
  private let state: Monitor<State>
  // After how many forks it was begun.
  private let forks = Fork.gate.forks

  init(of store: Store, durability: Durability?, tag: String?) {
    self.store = store
    state = Monitor(State(batch: store.newBatch(durability: durability, tag: tag)))
  }

  public func entry(for key: KeyName) throws(StoreError) -> Entry? {
    try open { state throws(StoreError) in try state.entry(key, in: store) }
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
      try store.layerStack.checkUnlocked(key)
      // What is expected is the stored revision, also of a key that this transaction has written.
      if let expected { try state.expect(expected, of: key, in: store) }
      try state.allowance.take(key.text.utf8.count + value.bytes, to: State.purpose)
      state.batch.edit(key, .set(try state.admitted(value, for: key, in: store)))
      return 0
    }
  }

  public func delete(_ key: KeyName) throws(StoreError) -> Bool {
    store.layerStack.watchAgain()
    try open { _ throws(StoreError) in try store.layerStack.checkUnlocked(key) }
    guard try entry(for: key)?.value != nil else { return false }
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
          let old = try state.entry(key, in: store)
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

  /// Makes several edits of these keys; where one of them is refused, none is made.
  package func allOrNone<Result, Failure: Error>(
    of keys: [KeyName], _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let before = state.read { state in keys.map { (key: $0, part: state.batch.part(of: $0)) } }
    do throws(Failure) { return try body() } catch {
      // Other threads may have edited other keys meanwhile.
      state.updateQuietly { state in for (key, part) in before { state.batch.putBack(part, of: key) } }
      throw error
    }
  }

  /// Throws `closed` after its end.
  func checkOpen() throws(StoreError) { try open { _ in } }

  /// Adds edits that rely on nothing that was read.
  func edit(_ body: (inout Batch) -> Void) throws(StoreError) { try open { body(&$0.batch) } }

  /// Whether it was begun for whoever has it now, and is ended by who began it.
  package var isLent: Bool {
    get { state.read(\.isLent) }
    set { state.updateQuietly { $0.isLent = newValue } }
  }

  /// Moves the schema version with its commit, if the store still has the one that was found.
  func lead(from found: UInt32, to version: UInt32) {
    state.updateQuietly { state in
      state.relied.insert(.schemaVersion(found))
      state.batch.schemaVersion = version
    }
  }

  /// What it has declared, or taken the declaration from.
  var newlyDeclared: Set<KeyName> { state.read { Set($0.batch.declarations.keys) } }

  /// Commits and ends the transaction, whatever comes of it.
  ///
  /// The C twin is `kept_commit`.
  /// - Returns: the store's new revision, or its current one when nothing changed.
  package func commit() throws(StoreError) -> Revision {
    let ended = try end()
    if let failure = ended.failure { throw failure }
    // What was read at one unmoved revision is consistent: that needs no write lock to be known.
    if ended.isReadingOnly, let base = ended.base, try store.currentRevision() == base { return base }
    var batch = ended.batch
    batch.conditions = Array(ended.relied)
    return try store.commit(batch).revision
  }

  /// Whether it failed because a revision that the caller expected was not there.
  var wasRefused: Bool { state.update { $0.wasRefused } }

  /// Lets the commit throw a failure that the failing call, a subscript, could not: else half of it would be committed,
  /// or what was decided upon a default that nobody stored.
  ///
  /// Of several failures the first counts.
  package func fail(_ error: StoreError) {
    let isHeard = state.update { state in
      if !state.hasEnded { state.failure = state.failure ?? error }
      return !state.hasEnded
    }
    if !isHeard { store.report(error) }
  }

  /// Throws the failure that a subscript could not throw, before the commit does.
  func checkSubscripts() throws(StoreError) { if let failure = state.read(\.failure) { throw failure } }

  /// Ends the transaction and forgets its edits.
  ///
  /// Ending twice is fine. The C twin is `kept_rollback`.
  package func rollBack() { state.update { $0.hasEnded = true } }

  private func end() throws(StoreError) -> State {
    try open { state throws(StoreError) in
      state.hasEnded = true
      return state
    }
  }

  private func open<Result: Sendable>(
    _ body: (inout State) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    // Nobody waits for a transaction.
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
  fileprivate var isReadingOnly: Bool { batch.isEmpty && batch.durability == .shared }

  /// What a key holds with the edits.
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

  /// The value as the declaration admits it now; the commit looks again.
  fileprivate func admitted(_ value: Value, for key: KeyName, in store: Store) throws(StoreError) -> Value {
    guard let declaration = try declaration(of: key, in: store) else { return value }
    // What is stored as a secret is one until the commit, whatever the transaction declares.
    let hidden = !batch.declarations.isEmpty && store.hasStoredAsSecret(key)
    do { return try declaration.admitted(value, hidden: hidden) } catch { throw error.about(key.text) }
  }

  /// What a key is declared as; that is nothing the transaction relies upon.
  private func declaration(of key: KeyName, in store: Store) throws(StoreError) -> Declaration? {
    if let declared = batch.declarations[key] { return declared }
    do throws(StoreError) { return try store.declaration(of: key) } catch {
      // Whatever is written takes the place of a value that cannot be read; the commit knows the declaration.
      guard error.code == .corrupt else { throw error }
      return nil
    }
  }

  /// Reads a key below the edits, and relies on it.
  fileprivate mutating func stored(_ key: KeyName, in store: Store) throws(StoreError) -> Entry? {
    let base = try readingBase(of: store)
    // Before it is known to hold: what was refused here lets the commit fail, too.
    try allowance.take(key.text.utf8.count, to: Self.purpose)
    relied.insert(.unchanged(key, after: base))
    let entry = try store.entry(for: key)
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
    let entry = try stored(key, in: store)
    let found = entry?.value == nil ? 0 : entry?.revision ?? 0
    wasRefused = found != expected
    try Condition.check(key, expected: expected, found: found)
  }

  /// Lists a prefix below the edits, and relies on it.
  fileprivate mutating func stored(_ prefix: ExactString, in store: Store) throws(StoreError) -> [KeyName] {
    let base = try readingBase(of: store)
    relied.insert(.unchangedPrefix(prefix, after: base))
    let keys = try store.storedKeys(prefix: prefix)
    try Allowance.ask(forEntries: keys.count + batch.edits.count, to: Self.purpose)
    try lookAtChanges(of: store, since: base)
    if let first = changed.first(where: { $0.key.exact.hasPrefix(prefix) }) {
      try Condition.check(first.key, unchangedAfter: base, found: first.value)
    }
    return keys
  }

  /// What is absent has no revision of its own: whether it was removed after `base` stands in the changes since.
  private mutating func lookAtChanges(of store: Store, since base: Revision) throws(StoreError) {
    let last = max(base, lookedUpTo)
    guard try store.currentRevision() > last else { return }
    guard case .changed(let delta) = try store.changes(after: last) else {
      throw StoreError(.conflict, "too much has changed since it was begun, at revision \(base); begin again")
    }
    try Allowance.ask(forEntries: changed.count + delta.entries.count, to: Self.purpose)
    for entry in delta.entries { changed[entry.key] = entry.entry.revision }
    lookedUpTo = delta.upTo
  }

  /// The listing as it will be after the edits.
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
