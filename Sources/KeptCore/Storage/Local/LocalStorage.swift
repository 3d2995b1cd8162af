// The storage of a folder: a checkpoint, and the journals of the commits since.

import CPlatform
import KeptEngine
public import KeptSchema
import KeptSystem
public import KeptValues
import Synchronization

/// The default storage: a folder with the files `values`, `journal.<n>` and `pulse`, which every process that opens it
/// shares.
public final class LocalStorage: Storage {
  public let abilities: StorageAbilities = [
    .sharedBetweenProcesses, .atomicBatch, .revisions, .durable, .pushesChanges, .declarations, .listsKeys,
    .schemaVersion,
  ]

  let engine: Engine
  let readers = LocalIndex()
  let secrets: StoreSecrets
  let busyTimeoutMilliseconds: Int
  private let watchers = Monitor(Watchers())
  private let commitObserver = Monitor<(any CommitObserver)?>(nil)
  private let placeChecked = Atomic<Int64>(0)

  private let forked: ForkedParts

  /// What ends the waiting of threads.
  struct Watchers {
    var interruptions = 0
    var isClosed = false

    mutating func takesInterruption() -> Bool {
      if isClosed { return true }
      defer { interruptions = max(0, interruptions - 1) }
      return interruptions > 0
    }
  }

  /// The path without links.
  let path: String
  let fileSystem: FileSystem
  /// The folder, once code has needed it that opens files by their paths.
  let held = Monitor<StoreFolder?>(nil)
  let now: @Sendable () -> Int64

  /// Opens the store in a folder, and creates both if they do not exist.
  ///
  /// - Parameters:
  ///   - path: the folder. Missing parent directories are created with mode 0700.
  ///   - busyTimeoutMilliseconds: how long a commit waits for other writers before it throws `busy`; it is
  ///     bounded as ``StoreOptions/busyTimeoutMilliseconds`` is.
  public convenience init(path: String, busyTimeoutMilliseconds: Int = 5000) throws(StoreError) {
    try self.init(StoreFolder(path: path), busyTimeoutMilliseconds: busyTimeoutMilliseconds)
  }

  /// - Parameter now: the clock, in nanoseconds since 1970.
  init(
    _ folder: StoreFolder, busyTimeoutMilliseconds: Int,
    now: @escaping @Sendable () -> Int64 = { MonotonicTime.nanosecondsSince1970 }
  ) throws(StoreError) {
    self.now = now
    let timeout = BusyTimeout.effective(milliseconds: busyTimeoutMilliseconds)
    self.busyTimeoutMilliseconds = timeout
    let resolved = try folder.resolved()
    path = resolved.path
    fileSystem = if let given = resolved.fileSystem { given } else { try FileSystem(of: path) }
    try fileSystem.checkLocal(path)
    secrets = StoreSecrets(now: { now() / 1_000_000 })
    engine = try Engine(
      try OpenFolder.own(path), timeoutMilliseconds: Int64(timeout), follower: readers, secrets: secrets,
      fits: Self.fits)
    secrets.begin { [weak engine] () throws(StoreError) in
      guard let engine else { throw StoreError(.closed, "the store was closed; open it again") }
      return try engine.holdFolder()
    } sealedKeys: { [weak engine] () throws(StoreError) in
      try engine?.past { _, chain throws(StoreError) in try chain.sealedKeys() } ?? []
    }
    readers.maintenance.begin(engine)
    forked = ForkedParts(readers, watchers)
    Fork.join(forked)
  }

  /// Whether a value fits a declaration.
  static func fits(_ value: Value, _ declaration: String) -> Bool {
    Entry(value: value, revision: 1, declaration: .stored(declaration)).fitting == value
  }

  deinit {
    Fork.leave(forked)
    close()
  }

  // MARK: - Reading

  public var generation: UInt64 { engine.published }

  public func entry(for key: KeyName) throws(StoreError) -> Entry? {
    if let entry = key.withPrepared({ entryInImage($0) }) { return entry }
    return try entry(for: key, view: nil)
  }

  /// The entry of a key that is in the index, or in the image, whose blocks are read if needed; the outer nil if the
  /// engine must be asked.
  private func entryInImage(_ key: PreparedBytes) -> Entry?? {
    // A fork would wait for this thread, and this thread, inside the gate, for the fork.
    Fork.gate.enter()
    defer { Fork.gate.leave() }
    let index = readers.index
    return index.gate.pass(at: engine.published) { () -> Entry?? in
      if let found = index.entry(for: key) { return found.isElsewhere ? nil : .some(found.entry) }
      return readers.values?.entry(of: key, under: index)
    }
  }

  public func keys(prefix: ExactString) throws(StoreError) -> [KeyName] {
    try engine.read { chain throws(StoreError) in try chain.keys(prefix: prefix) }
  }

  public func entries(in scopes: [Scope]) throws(StoreError) -> StoredEntries {
    try engine.read { chain throws(StoreError) in try chain.entries(in: scopes) }
  }

  public func declarations(prefix: ExactString) throws(StoreError) -> [(key: KeyName, declaration: Declaration)] {
    try engine.read { chain throws(StoreError) in try chain.declarations(prefix: prefix) }
  }

  public func revision() throws(StoreError) -> Revision {
    try engine.read { chain throws(StoreError) in chain.revision }
  }

  public func schemaVersion() throws(StoreError) -> UInt32 {
    try engine.read { chain throws(StoreError) in chain.schemaVersion }
  }

  public func changes(after revision: Revision) throws(StoreError) -> ChangesAfter {
    try engine.read { chain throws(StoreError) in
      chain.isObserved = true
      return try chain.delta(after: revision)
    }
  }

  // MARK: - Writing

  public func commit(_ batch: Batch) throws(StoreError) -> Commit {
    try checkPlace(before: .shared)
    let milliseconds = batch.patience ?? busyTimeoutMilliseconds
    let isLong = LongCommit.isLong(batch)
    let commit: Commit
    do throws(StoreError) {
      commit = try isLong ? commitLong(batch, waiting: milliseconds) : commitShort(batch, waiting: milliseconds)
    } catch {
      // A long commit reads a snapshot.
      if error.code == .corrupt { engine.noteDamage() }
      throw error
    }
    if batch.durability == .durable { try flush() }
    return commit
  }

  public func flush() throws(StoreError) {
    try engine.sync()
    // A sync of files that no process finds is not durable.
    try engine.checkPlace()
  }

  /// Throws if no process would find a commit; for one that need not be durable, as far as was looked within the last
  /// second: for each that would take too long.
  private func checkPlace(before durability: Durability) throws(StoreError) {
    let now = MonotonicTime.milliseconds
    guard durability == .durable || now - placeChecked.load(ordering: .relaxed) >= 1000 else { return }
    try engine.checkPlace()
    placeChecked.store(now, ordering: .relaxed)
  }

  // MARK: - Waiting

  public func wait(after revision: Revision) throws(StoreError) -> Bool {
    while true {
      let wakes = engine.wakes
      if watchers.update({ $0.takesInterruption() }) { return false }
      let seen = engine.published
      let present = try engine.read { chain throws(StoreError) in
        chain.isObserved = true
        return chain.revision
      }
      if present > revision { return true }
      // While commits are not synced, a writer may have died before it woke this thread.
      let isDirty = engine.isDirty
      if isDirty { readers.maintenance.note(.usual) }
      engine.sleep(seen: seen, wakes: wakes, milliseconds: isDirty ? 1000 : Int32.max)
      if engine.published != seen { return true }
    }
  }

  public func interruptWaiting() {
    watchers.update { $0.interruptions += 1 }
    engine.wake()
  }

  public func close() {
    readers.maintenance.end()
    watchers.update { $0.isClosed = true }
    engine.wake()
    engine.close()
    readers.close()
    commitObserver.update { $0 = nil }
  }
}

extension LocalStorage: FastStorage {
  var header: UnsafePointer<kept_index_header> { readers.index.header }

  var generationAddress: UnsafePointer<UInt64> { engine.publishedAddress }

  func known(_ key: PreparedBytes) -> KnownKey? {
    let index = readers.index
    return index.gate.pass(at: engine.published) {
      if let found = index.entry(for: key) {
        return found.isElsewhere ? nil : KnownKey(name: found.key, declaration: found.declaration)
      }
      guard let found = readers.values?.loadedRecord(of: UnsafeRawBufferPointer(key.bytes)), let record = found,
        let text = String(exactly: key.bytes), let name = try? KeyName(text)
      else { return nil }
      guard record.flags.contains(.declared) else { return KnownKey(name: name, declaration: nil) }
      return record.declaration.text.map { KnownKey(name: name, declaration: .stored($0)) }
    }
  }

  func entry(for key: KeyName, view: ReadView?) throws(StoreError) -> Entry? {
    try engine.read { chain throws(StoreError) in
      let state = try chain.state(of: key)
      readers.add(key, state, chain, in: view)
      return Entry(state)
    }
  }

  func load(_ keys: [KeyName]) {
    for key in keys { _ = try? entry(for: key) }
  }

  func show(_ reading: any EntryReading, in view: ReadView?) -> ReadView { readers.show(reading, in: view) }

  func remove(_ view: ReadView) { readers.remove(view) }

  func put(_ value: Value, for key: PreparedBytes, _ durability: Durability, tag: String?) -> Revision? {
    commitAtOnce(durability, tag) { chain, frames in add(value, of: key, to: frames, chain) }
  }

  func commitAtOnce(_ batch: Batch) -> Revision? {
    guard batch.hasOnlyEdits, !LongCommit.isLong(batch) else { return nil }
    return commitAtOnce(batch.durability, batch.author.tag) { chain, frames throws(StoreError) in
      for condition in batch.conditions { try chain.check(condition, of: batch) }
      return batch.edits.indices.allSatisfy { index in
        let value = batch.edits.value(at: index).value
        return batch.edits.key(at: index).withPrepared { add(value, of: $0, to: frames, chain) }
      }
    }
  }

  private func commitAtOnce(
    _ durability: Durability, _ tag: String?, _ build: (Chain, FrameWriter) throws(StoreError) -> Bool
  ) -> Revision? {
    guard (try? checkPlace(before: durability)) != nil else { return nil }
    return engine.tryCommit { chain, frames throws(StoreError) in
      let head = FrameHead(writer: engine.author, revision: chain.revision + 1, time: now(), tag: tag)
      try frames.begin(head, notesEdits: true)
      guard try build(chain, frames) else { return false }
      if frames.mark.count > 0 { try frames.end() }
      return true
    }
  }

  /// Adds the change that an edit makes, nil being a removal; returns false if that takes more than setting a value, or
  /// if the key cannot be read.
  @inline(never)
  private func add(_ edit: Value?, of key: PreparedBytes, to frames: FrameWriter, _ chain: Chain) -> Bool {
    do throws(StoreError) {
      if let known = readers.index.entry(for: key), !known.isElsewhere {
        return try add(edit, of: known.key, known.declaration, to: frames) { $0 == known.stored }
      }
      guard let name = String(exactly: key.bytes).flatMap({ try? KeyName($0) }) else { return false }
      // A long value is not read as a whole.
      let place: PlacedValue? = if case .inJournal(let place) = try chain.change(of: name)?.value { place } else { nil }
      let state = try chain.state(of: name, ignoresValue: place != nil)
      return try add(edit, of: name, state.declaration.map { .stored($0) }, to: frames) { value throws(StoreError) in
        guard let place else { return value == state.value && !state.isSealed }
        guard let value else { return false }
        return try place.isSame(as: value)
      }
    } catch { return false }
  }

  private func add(
    _ edit: Value?, of key: KeyName, _ declaration: Declaration?, to frames: FrameWriter,
    unless isSame: (Value?) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    var new = edit
    if let declaration {
      guard let edit, let admitted = declaration.admittedAtOnce(edit) else { return false }
      new = admitted
    }
    if try isSame(new) { return true }
    if let new { try frames.add(new, for: key) } else { try frames.add(.removed, for: key) }
    return true
  }
}

extension Declaration {
  /// A value as it is stored; nil if setting it takes more than that: an error, a report, or erasing a secret.
  fileprivate func admittedAtOnce(_ value: Value) -> Value? {
    guard !isSecret, let admitted = try? admitted(value), deprecation(of: admitted) == nil else { return nil }
    return admitted
  }
}

// MARK: - Commits

extension LocalStorage {
  /// Commits a batch of few keys.
  private func commitShort(_ batch: Batch, waiting milliseconds: Int) throws(StoreError) -> Commit {
    let observer = commitObserver.read(\.self)
    return try engine.takeTurn(timeoutMilliseconds: Int64(milliseconds)) { turn throws(StoreError) in
      var commit = Commit(revision: 0, changes: [])
      try turn.build { chain, frames throws(StoreError) in
        for condition in batch.conditions { try chain.check(condition, of: batch) }
        let changes = try changes(by: batch, chain)
        commit = try add(changes, by: batch, to: frames, chain)
      }
      if batch.durability == .durable { try engine.checkPlace() }
      let revision = commit.changes.isEmpty ? nil : commit.revision
      try publish(revision, by: batch.author, to: observer, { commit }) { () throws(StoreError) in
        try turn.publish()
      }
      return commit
    }
  }

  /// Commits a batch of many keys, which is made ready before others are kept out.
  private func commitLong(_ batch: Batch, waiting milliseconds: Int) throws(StoreError) -> Commit {
    let observer = commitObserver.read(\.self)
    var (long, isDone, attempt): (LongCommit, Bool, Int) = (
      try LongCommit(batch, try engine.snapshot().chain, self), false, 0
    )
    var commit = Commit(revision: 0, changes: [])
    // Only of waiting for the write lock: making the commit ready may take long on a busy machine.
    var rest = Int64(milliseconds)
    while !isDone {
      attempt += 1
      let isLast = attempt >= LongCommit.mostAttempts
      // Others go on while it is brought up to date, so this leaves less to do with the lock held.
      let before = try engine.snapshot()
      if try long.settle(before.chain) { long.finish() } else { long = try LongCommit(batch, before.chain, self) }
      let planned = long.commit(over: before)
      if isObserved { _ = planned.changes }
      let begun = MonotonicTime.milliseconds
      isDone = try engine.takeTurn(timeoutMilliseconds: rest) { turn throws(StoreError) in
        rest = max(0, rest - (MonotonicTime.milliseconds - begun))
        let most = isLast ? nil : LongCommit.mostChanged
        let isReady = try turn.read { chain throws(StoreError) in
          if try long.settle(chain, most: most) { return true }
          // One that cannot follow others is made while they wait.
          if isLast { long = try LongCommit(batch, chain, self) }
          return isLast
        }
        guard isReady else { return false }
        if batch.durability == .durable { try engine.checkPlace() }
        if let note = batch.completion?.noteReplaced { note(try contents()) }
        let contents = try engine.snapshot()
        long.finish()
        commit = long.revision == planned.revision ? planned : long.commit(over: contents)
        guard long.hasFrame else { return true }
        try publish(commit.isEmpty ? nil : commit.revision, by: batch.author, to: observer, { commit }) {
          () throws(StoreError) in try turn.publish(long.frames)
        }
        return true
      }
    }
    engine.add(long.frames)
    return commit
  }

  /// Whether observers in this process receive what it commits.
  private var isObserved: Bool { commitObserver.read(\.self)?.isObserved == true }
}

extension LocalStorage: ObservableStorage {
  package func report(to commitObserver: any CommitObserver) { self.commitObserver.update { $0 = commitObserver } }

  /// Calls `body`, which makes a commit visible, and reports it to an observer.
  ///
  /// - Parameters:
  ///   - revision: the revision of the commit; nil if it changes no key.
  ///   - commit: called afterwards, if any handle observes the store.
  private func publish(
    _ revision: Revision?, by author: Author, to observer: (any CommitObserver)?, _ commit: () -> Commit,
    _ body: () throws(StoreError) -> Void
  ) throws(StoreError) {
    guard let observer, let revision else { return try body() }
    try observer.publish { delivered throws(StoreError) in
      let preceding: ChangesAfter? =
        if let delivered, delivered + 1 != revision { try changes(after: delivered) } else { nil }
      try body()
      return Publication(preceding: preceding, commits: delivered == nil ? [] : [(commit(), by: author)])
    }
  }
}

/// The parts of the storage that a fork concerns; ``EngineFork`` has others.
private final class ForkedParts: ForkAware {
  private let readers: LocalIndex
  private let watchers: Monitor<LocalStorage.Watchers>

  init(_ readers: LocalIndex, _ watchers: Monitor<LocalStorage.Watchers>) {
    (self.readers, self.watchers) = (readers, watchers)
  }

  func afterForkInChild() {
    readers.maintenance.afterForkInChild()
    watchers.updateQuietly { $0.interruptions = 0 }
  }
}

extension LocalStorage: MarkingStorage {
  // To be raised when the same text declares something else.
  private static var version: UInt64 { 2 }

  func hasDeclared(_ list: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
    let (lists, store) = try engine.read { ($0.lists, $0.store) }
    return !lists.isEmpty && lists.contains(DeclaredList(list, of: store, version: Self.version))
  }

  func mark(of list: String) throws(StoreError) -> DeclaredList {
    let store = try engine.read { $0.store }
    return ExactString(list).withBytes { text in
      DeclaredList(UnsafeRawBufferPointer(text), of: store, version: Self.version)
    }
  }

  func surelyHasKeys() throws(StoreError) -> Bool { try engine.read { $0.surelyHasKeys } }
}
