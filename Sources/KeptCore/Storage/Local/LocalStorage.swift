// A folder with an SQLite database in it, and a mapped page that shows every process at once when it has changed.

import CPlatform
import Synchronization

/// The default storage: values are kept in `values.sqlite`, shared by every process that opens the folder.
///
/// Reads come from an index in memory while the pulse stands still; writers of one process commit in groups.
public final class LocalStorage: Storage {
  public let abilities: StorageAbilities = [
    .sharedBetweenProcesses, .atomicBatch, .revisions, .durable, .pushesChanges, .declarations, .listsKeys,
    .schemaVersion,
  ]

  let database: LocalDatabase
  let currentIndex: CurrentIndex
  private let pulse: Pulse
  let loader: IndexLoader
  private let commitPath: CommitPath
  private let maintenance: MaintenanceThread
  private let watchers = Monitor(Watchers())
  private let hasRead = Atomic<Bool>(false)

  private struct Watchers {
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
    try self.init(
      StoreFolder(path: path), busyTimeoutMilliseconds: busyTimeoutMilliseconds, limit: LogLimit())
  }

  init(_ folder: StoreFolder, busyTimeoutMilliseconds: Int, limit: LogLimit) throws(StoreError) {
    // A child forked meanwhile would inherit connections that it cannot close.
    Fork.gate.enter()
    defer { Fork.gate.leave() }
    let patience = StoreOptions.patience(milliseconds: busyTimeoutMilliseconds)
    let database = LocalDatabase(try folder.resolved().held(), busyTimeoutMilliseconds: patience)
    let (reader, pulse) = try database.open()
    self.database = database
    let id = try reader.storeID()
    let own = IndexView()
    let loader = IndexLoader(
      own, pulse, LazyConnection(reader) { () throws(StoreError) in try database.connect(to: id) },
      scans: LazyConnection { () throws(StoreError) in try database.connect(to: id) })
    let commitPath = CommitPath(to: id, in: database, pulse, loader, limit: limit)
    (self.pulse, self.loader, self.commitPath) = (pulse, loader, commitPath)
    currentIndex = CurrentIndex(own, at: pulse.generationAddress)
    // The closures capture no `self`: the maintenance thread would keep the storage open.
    maintenance = MaintenanceThread(
      sync: {
        commitPath.stayInPlace()
        try? commitPath.sync()
        return commitPath.erase()
      },
      look: { forCaches in
        commitPath.stayInPlace()
        commitPath.settlePulse()
        loader.look(forCaches: forCaches)
      })
    Fork.join(self)
  }

  deinit {
    Fork.leave(self)
    close()
  }

  public var generation: UInt64 { pulse.generation }

  public func entry(for key: KeyName) throws(StoreError) -> Entry? {
    let known: Entry?? = key.withPrepared { key in currentIndex.read(key) { $0.entry } }
    if let known { return known }
    // A single read needs neither the index nor a thread.
    if !hasRead.exchange(true, ordering: .relaxed) {
      return try loader.read { reader throws(StoreError) in try reader.entry(for: key) }
    }
    return try entry(for: key, view: nil)
  }

  public func revision() throws(StoreError) -> Revision {
    try loader.read { reader throws(StoreError) in try reader.revision() }
  }

  public func schemaVersion() throws(StoreError) -> UInt32 {
    try loader.read { reader throws(StoreError) in try reader.schemaVersion() }
  }

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
    try loader.read { reader throws(StoreError) in try reader.changes(after: revision) }
  }

  /// Commits a batch.
  ///
  /// A durable commit is a shared one followed by a sync of the log, which puts it on the disk with every commit before
  /// it.
  public func commit(_ batch: Batch) throws(StoreError) -> Commit {
    let commit = try commitPath.commit(batch)
    // The index holds what was written.
    if !commit.changes.isEmpty {
      maintenance.noteUseOfIndex(mustSync: batch.durability == .shared || commitPath.mustErase)
    }
    if batch.durability == .durable { try commitPath.sync() }
    return commit
  }

  public func flush() throws(StoreError) {
    // A closed store throws here.
    _ = try revision()
    try commitPath.sync()
  }

  public func wait(after revision: Revision) throws(StoreError) -> Bool {
    while true {
      maintenance.noteWatching()
      if takesInterruption() { break }
      let seen = pulse.generation
      if try hasNews(after: revision) { return true }
      // Two seconds, because the sqlite3 shell does not wake sleepers.
      pulse.sleep(seen: seen, milliseconds: 2000)
      let now = pulse.generation
      if now == seen { maintenance.watchedInVain() }
      // A commit is visible when its number is even; reading the changes then finds it.
      if now != seen, now % 2 == 0 { return true }
    }
    maintenance.noteEndOfWatching()
    return false
  }

  public func interruptWaiting() {
    watchers.update { $0.interruptions += 1 }
    pulse.wake()
    maintenance.noteEndOfWatching()
  }

  private func hasNews(after revision: Revision) throws(StoreError) -> Bool {
    do throws(StoreError) {
      return try self.revision() > revision
    } catch {
      maintenance.noteEndOfWatching()
      throw error
    }
  }

  public func close() {
    maintenance.end()
    watchers.update { $0.isClosed = true }
    pulse.wake()
    commitPath.close()
    loader.close()
    pulse.release()
  }

  private func takesInterruption() -> Bool {
    watchers.update { watchers in
      if watchers.isClosed { return true }
      defer { watchers.interruptions = max(0, watchers.interruptions - 1) }
      return watchers.interruptions > 0
    }
  }
}

extension LocalStorage: IndexedStorage {
  var generationAddress: UnsafePointer<UInt64> {
    maintenance.noteCaching()
    return pulse.generationAddress
  }

  func entry(for key: KeyName, view: IndexView?) throws(StoreError) -> Entry? {
    maintenance.noteUseOfIndex()
    return try loader.entry(for: key, view: view)
  }

  func show(_ reading: any EntryReading, in view: IndexView) { loader.show(reading, in: view) }

  func remove(_ view: IndexView) { loader.remove(view) }
}

extension LocalStorage: FolderStorage {
  var folder: StoreFolder { database.folder }

  func copy(into draft: String) throws(StoreError) {
    // A child forked meanwhile would inherit a connection that it cannot close.
    Fork.gate.enter()
    defer { Fork.gate.leave() }
    // A closed store throws here.
    _ = try revision()
    let connection = try database.connect().connection
    // A statement does not retain its connection.
    defer { withExtendedLifetime(connection) {} }
    let statement = try connection.statement("VACUUM INTO ?1")
    try statement.bind(1, text: ExactString(draft))
    try statement.finish()
  }
}

extension LocalStorage: VerifiableStorage {
  func readers() -> [Int32] { LogReaders.processes(of: database.folder) }

  func damage() throws(StoreError) -> StoreError? {
    // A child forked meanwhile would inherit a connection that it cannot close.
    Fork.gate.enter()
    defer { Fork.gate.leave() }
    do throws(StoreError) {
      // A closed store throws here.
      _ = try revision()
      let connection = try database.connect().connection
      defer { withExtendedLifetime(connection) {} }
      guard let words = try connection.damage() else { return nil }
      connection.markDamage()
      return StoreError(
        .corrupt,
        "the database in \(folder.shown) is damaged: \(words); close it everywhere and open it again, and what can be "
          + "read is salvaged")
    } catch {
      guard error.code == .corrupt else { throw error }
      return error
    }
  }
}

extension LocalStorage: ObservableStorage {
  package func report(to commitObserver: any CommitObserver) { commitPath.report(to: commitObserver) }
}

extension LocalStorage: ForkAware {
  func beforeFork() {
    commitPath.disconnect()
    loader.disconnect()
  }

  /// Resets the storage in the child of a fork; the pulse stays mapped, and the child shares the lock on its file.
  func afterForkInChild() {
    loader.afterForkInChild()
    commitPath.afterForkInChild()
    watchers.update { $0.interruptions = 0 }
    if maintenance.afterForkInChild() { pulse.touch() }
  }
}
