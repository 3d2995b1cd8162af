// A folder with an SQLite database in it, and a mapped page that shows every process at once when it has changed.

import CPlatform
public import KeptSchema
import KeptSystem
public import KeptValues
import Synchronization

/// The default storage: values are kept in `values.sqlite`, shared by every process that opens the folder.
///
/// Reads come from an index in memory while the pulse is unchanged; writers of one process commit in groups.
public final class LocalStorage: Storage {
  public let abilities: StorageAbilities = [
    .sharedBetweenProcesses, .atomicBatch, .revisions, .durable, .pushesChanges, .declarations, .listsKeys,
    .schemaVersion,
  ]

  let database: LocalDatabase
  private let currentIndex: CurrentIndex
  private let journal: Journal
  let loader: IndexLoader
  let commitPath: CommitPath
  private let maintenance: MaintenanceThread
  private let watchers = Monitor(Watchers())
  private let forked: ForkedParts

  fileprivate struct Watchers {
    var interruptions = 0
    var isClosed = false
  }

  /// Opens the store in a folder, and creates both if they do not exist.
  ///
  /// - Parameters:
  ///   - path: the folder. Missing parent directories are created with mode 0700.
  ///   - busyTimeoutMilliseconds: how long a commit waits for other writers before it throws `busy`; it is
  ///     bounded as ``StoreOptions/busyTimeoutMilliseconds`` is.
  public convenience init(path: String, busyTimeoutMilliseconds: Int = 5000) throws(StoreError) {
    try self.init(StoreFolder(path: path), busyTimeoutMilliseconds: busyTimeoutMilliseconds)
  }

  init(_ folder: StoreFolder, busyTimeoutMilliseconds: Int) throws(StoreError) {
    // A child forked during this would inherit connections that it cannot close.
    Fork.gate.enter()
    defer { Fork.gate.leave() }
    let patience = BusyTimeout.effective(milliseconds: busyTimeoutMilliseconds)
    let database = LocalDatabase(try folder.resolved().held(), busyTimeoutMilliseconds: patience)
    let (reader, journal) = try database.open()
    self.database = database
    let own = IndexView()
    let settler = Settler(of: journal, in: database)
    let loader = IndexLoader(
      own, journal, settler,
      LazyConnection(reader) { () throws(StoreError) in try database.connect(to: journal) },
      scans: LazyConnection { () throws(StoreError) in try database.connect(to: journal) })
    let commitPath = CommitPath(journal, in: database, settler, loader)
    (self.journal, self.loader, self.commitPath) = (journal, loader, commitPath)
    currentIndex = CurrentIndex(own, at: journal.publishedAddress)
    // The closures capture no `self`: the maintenance thread would keep the storage open.
    maintenance = MaintenanceThread(
      settle: {
        commitPath.stayInPlace()
        try? commitPath.settle()
        return commitPath.erase() || commitPath.mustSettle
      },
      look: { commitPath.stayInPlace() })
    forked = ForkedParts(journal, loader, commitPath, maintenance, watchers)
    Fork.join(forked)
    // The last processes may have left frames.
    if commitPath.mustSettle { maintenance.noteFrames() }
  }

  deinit {
    Fork.leave(forked)
    close()
  }

  public var generation: UInt64 { journal.published }

  public func entry(for key: KeyName) throws(StoreError) -> Entry? {
    let known: Entry?? = key.withPrepared { key in currentIndex.find(key) { entry, _ in entry.entry } }
    if let known { return known }
    return try entry(for: key, view: nil)
  }

  public func revision() throws(StoreError) -> Revision { try loader.revision().revision }

  public func schemaVersion() throws(StoreError) -> UInt32 { try loader.revision().schemaVersion }

  public func keys(prefix: ExactString) throws(StoreError) -> [KeyName] {
    try loader.read { reader throws(StoreError) in try reader.keys(prefix: prefix) }
  }

  public func entries(in scopes: [Scope]) throws(StoreError) -> StoredEntries {
    if case .key? = scopes.first, scopes.count == 1 {
      return try loader.read { reader throws(StoreError) in try reader.entries(in: scopes) }
    }
    return try loader.scan { reader throws(StoreError) in try reader.entries(in: scopes) }
  }

  public func declarations(prefix: ExactString) throws(StoreError) -> [(key: KeyName, declaration: Declaration)] {
    try loader.read { reader throws(StoreError) in try reader.declarations(prefix: prefix) }
  }

  public func changes(after revision: Revision) throws(StoreError) -> ChangesAfter {
    try loader.changes(after: revision)
  }

  /// Commits a batch.
  ///
  /// A durable commit is a shared one followed by a sync of the journal, which puts it on the disk with every commit
  /// before it.
  public func commit(_ batch: Batch) throws(StoreError) -> Commit {
    try checkInPlace(isDurable: batch.durability == .durable)
    let commit = try noticingMoves { () throws(StoreError) in try commitPath.commit(batch) }
    if !commit.changes.isEmpty || batch.schemaVersion != nil { noteCommit() }
    if batch.durability == .durable { try sync() }
    return commit
  }

  /// Commits a batch that is made while other writers are kept out.
  ///
  /// `make` may read the storage.
  func commit(
    waiting milliseconds: Int, making make: () throws(StoreError) -> Batch
  ) throws(StoreError) -> Commit {
    _ = try journal.end()
    // Before the write lock is held, which the reaction to a move may take.
    try checkInPlace(isDurable: true)
    var isDurable = false
    let commit = try commitPath.writer.commit(waiting: milliseconds) { () throws(StoreError) in
      let batch = try make()
      isDurable = batch.durability == .durable
      return batch
    }
    if !commit.changes.isEmpty { noteCommit() }
    if isDurable { try sync() }
    return commit
  }

  /// Throws if no process would find a commit.
  ///
  /// That is checked before each durable commit and the first one since the maintenance thread has looked: for each it
  /// would take a tenth of a set.
  @inline(__always)
  func checkInPlace(isDurable: Bool) throws(StoreError) {
    if !isDurable, maintenance.hasCommit { return }
    try noticingMoves { () throws(StoreError) in try journal.checkInPlace() }
  }

  func noteCommit() {
    maintenance.noteCommit()
    if journal.isFillingUp { maintenance.hurry() }
  }

  public func flush() throws(StoreError) {
    // A closed store throws here.
    _ = try revision()
    try sync()
  }

  private func sync() throws(StoreError) {
    try noticingMoves { () throws(StoreError) in try commitPath.sync() }
  }

  /// Runs `body`; once it has met a store that is not in place, all calls are refused, also reads from memory.
  private func noticingMoves<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
    do throws(StoreError) { return try body() } catch {
      // Without its pulse the store is busy until a process makes that again.
      if error.code == .unavailable || error.code == .busy { commitPath.stayInPlace() }
      throw error
    }
  }

  public func wait(after revision: Revision) throws(StoreError) -> Bool {
    while true {
      let wakes = journal.wakes
      if takesInterruption() { return false }
      let seen = journal.published
      if try self.revision() > revision { return true }
      // While frames wait to be settled, a writer may have died before it woke this thread.
      let isDirty = commitPath.mustSettle
      if isDirty { maintenance.noteFrames() }
      journal.sleep(seen: seen, wakes: wakes, milliseconds: isDirty ? 1000 : Int32.max)
      if journal.published != seen { return true }
    }
  }

  public func interruptWaiting() {
    watchers.update { $0.interruptions += 1 }
    journal.wakeOwn()
  }

  public func close() {
    maintenance.end()
    watchers.update { $0.isClosed = true }
    journal.wakeOwn()
    commitPath.close()
    loader.close()
    journal.release()
  }

  private func takesInterruption() -> Bool {
    watchers.update { watchers in
      if watchers.isClosed { return true }
      defer { watchers.interruptions = max(0, watchers.interruptions - 1) }
      return watchers.interruptions > 0
    }
  }
}

extension LocalStorage: FastStorage {
  var header: UnsafePointer<kept_index_header> { loader.index.header }

  var generationAddress: UnsafePointer<UInt64> { journal.publishedAddress }

  func known(_ key: PreparedBytes) -> KnownKey? {
    currentIndex.find(key) { KnownKey(name: $0.key, declaration: $0.declaration, hint: $1) }
  }

  func entry(for key: KeyName, view: ReadView?) throws(StoreError) -> Entry? {
    maintenance.noteUse()
    return try noticingMoves { () throws(StoreError) in try loader.entry(for: key, view: view) }
  }

  func load(_ keys: [KeyName]) {
    guard !keys.isEmpty else { return }
    maintenance.noteUse()
    try? loader.load(keys)
  }

  func show(_ reading: any EntryReading, in view: ReadView?) -> ReadView { loader.show(reading, in: view) }

  func remove(_ view: ReadView) { loader.remove(view) }
}

extension LocalStorage: ExclusiveStorage {}

extension LocalStorage: FolderStorage {
  var folder: StoreFolder { database.folder }

  func checkPlace() {
    commitPath.stayInPlace()
    if journal.mayHaveMoved { journal.wakeOwn() }
  }

  func copy(into draft: String) throws(StoreError) -> Revision {
    // A child forked during this would inherit a connection that it cannot close.
    Fork.gate.enter()
    defer { Fork.gate.leave() }
    // A closed store throws here.
    _ = try revision()
    try commitPath.settle()
    let connection = try database.connect(to: journal).connection
    try connection.copy(into: draft)
    return try Self.makeOwn(draft)
  }

  /// Makes a database an independent store with a new id, and returns its revision.
  static func makeOwn(_ draft: String) throws(StoreError) -> Revision {
    Fork.gate.enter()
    defer { Fork.gate.leave() }
    let connection = try SQLiteConnection(path: draft, busyTimeoutMilliseconds: 0)
    // Stores use a write-ahead log; a copy by SQLite does not.
    let mode = try connection.statement("PRAGMA journal_mode = WAL")
    _ = try mode.first {}
    try connection.statement("UPDATE store SET uuid = randomblob(16), journal = 0, quarantine = NULL").finish()
    try connection.copyLog()
    return try SettledPlace.read(connection).revision
  }
}

extension LocalStorage: VerifiableStorage {
  func readingProcesses() -> [Int32] { LogReaders.processes(of: database.folder) }

  func damage() throws(StoreError) -> StoreError? {
    // A child forked during this would inherit a connection that it cannot close.
    Fork.gate.enter()
    defer { Fork.gate.leave() }
    do throws(StoreError) {
      // A closed store throws here.
      _ = try revision()
      try journal.checkHead()
      let connection = try database.connect(to: journal).connection
      defer { withExtendedLifetime(connection) {} }
      guard let words = try connection.damage() else { return nil }
      connection.markDamage()
      return StoreError(
        .corrupt,
        "the database in \(folder.shown) is damaged: \(words); close it everywhere and open it again to salvage the "
          + "readable data")
    } catch {
      guard error.code == .corrupt else { throw error }
      return error
    }
  }
}

extension LocalStorage: ObservableStorage {
  package func report(to commitObserver: any CommitObserver) { commitPath.report(to: commitObserver) }
}

/// The parts of an open store that a fork concerns.
///
/// Not the storage itself: counting references to an object that is also referred to weakly takes 150 instructions.
private final class ForkedParts: ForkAware {
  private let journal: Journal
  private let loader: IndexLoader
  private let commitPath: CommitPath
  private let maintenance: MaintenanceThread
  private let watchers: Monitor<LocalStorage.Watchers>

  init(
    _ journal: Journal, _ loader: IndexLoader, _ commitPath: CommitPath, _ maintenance: MaintenanceThread,
    _ watchers: Monitor<LocalStorage.Watchers>
  ) {
    (self.journal, self.loader, self.commitPath) = (journal, loader, commitPath)
    (self.maintenance, self.watchers) = (maintenance, watchers)
  }

  func beforeFork() {
    // Both processes connect by the path.
    journal.noteMove()
    commitPath.disconnect()
    loader.disconnect()
  }

  /// Resets the storage in the child of a fork; the pulse stays mapped, and the journal is opened again when needed.
  func afterForkInChild() {
    loader.afterForkInChild()
    commitPath.afterForkInChild()
    journal.afterForkInChild()
    watchers.update { $0.interruptions = 0 }
    maintenance.afterForkInChild()
  }
}
