// A handle on an open store, as programs use it. The typed API for Swift is in the module Kept, the C API in KeptC.

import KeptSystem
public import KeptValues
import Synchronization

/// An open settings store, shared by every process that opens the same location.
///
/// Every method may be called from any thread. After ``close()`` every method throws `closed`. In C: `kept_store`.
public final class Store: SettingsAccess {
  package let options: StoreOptions
  public let identity: StoreIdentity
  let shared: SharedStore
  /// The storage, if it keeps an index.
  // Here, so that a method of the store that uses it need not count a reference.
  let fast: (any FastStorage)?
  /// Where reads from memory begin; it identifies this store in C.
  package let handle: ReadContext
  let reads: MemoryReads
  // The identity under which this process shares the store; nil if this handle does not share it.
  private let place: OpenLocations.Identity?
  private let isClosed = Atomic<Bool>(false)
  // The first call of `close()`.
  private let closing = Monitor<RunningCall?>(nil)
  // Closing syncs only after a write.
  private let hasWritten = Atomic<Bool>(false)
  // A schema version that the program does not know, so it opened the store for reading only; 0 if it may write.
  private let laterVersion = Atomic<UInt32>(0)
  let layerStack: LayerStack
  let deprecations = Deprecations()
  let attachments = Attachments()
  package let observation: StoreObservation

  private init(
    _ shared: SharedStore, _ place: OpenLocations.Identity?, _ options: StoreOptions,
    _ sources: LayerSources = LayerSources()
  ) {
    self.shared = shared
    self.place = place
    self.options = options
    self.identity = StoreIdentity(report: options.errorHandler)
    fast = options.isReadOnly ? nil : shared.storage as? any FastStorage
    handle = ReadContext(fast)
    reads = MemoryReads(handle)
    layerStack = LayerStack(
      sources, over: fast, of: handle, isFollowing: !options.isReadOnly, report: options.errorHandler,
      notify: shared.layersChanged)
    observation = StoreObservation(shared.feed, shared.watcher, layerStack, report: options.errorHandler)
  }

  /// Uses a storage that the program provides, or a `MemoryStorage` in a test.
  ///
  /// Closing the store closes the storage.
  ///
  /// Without an identifier there is no standard place for a layer file: give paths. If the options that name layers are
  /// invalid there are no layers, and the error handler receives the reason. If a managed layer was requested and is
  /// unreadable, every key is locked.
  public convenience init(storage: any Storage, options: StoreOptions = StoreOptions()) {
    var sources = LayerSources(insteadOf: options.managed)
    do { sources = try options.layerSources(identifier: nil) } catch { options.errorHandler(error) }
    self.init(SharedStore(storage), nil, options, sources)
    do { try layerStack.checkWatch() } catch { options.errorHandler(error) }
    reportUndeclaredVariables()
  }

  deinit { close() }

  /// Opens a store, and creates it if it does not exist.
  ///
  /// In C: `kept_open`.
  ///
  /// - Parameter location: an identifier such as `com.example.player`, which is stored in
  ///   `$XDG_CONFIG_HOME/kept/<identifier>.kept/` (by default in `~/.config`, where `~` is `HOME` or the home folder in
  ///   the user database); text with a slash is a path to the store's folder; `dir:/path` keeps each key in its own
  ///   file there, see ``DirectoryStorage``; `memory:` is a new store without a file, and `memory:name` one that this
  ///   process shares by name while a handle is open.
  ///
  /// Throws `invalid`, `denied`, `noSpace`, `corrupt`, `unavailable` or `unsupported`. A location may be opened several
  /// times, in one process or in many: all handles see the same values. A damaged store is set aside, and its
  /// readable content is salvaged; the error handler then receives `salvaged`, see ``salvaged()``.
  ///
  /// A folder that other users may write to is `denied`; a folder of another user is opened for reading, also by root.
  /// So is a store on a disk without room for the files that writing needs: writes are `noSpace` until every handle of
  /// this process on it was closed, and it was opened again.
  /// A managed layer that exists and is unreadable is `unavailable`. With ``StoreOptions/isReadOnly`` an existing store
  /// is opened, and nothing is changed.
  public static func open(_ location: String, options: StoreOptions = StoreOptions()) throws(StoreError) -> Store {
    try open(location, options: options, warning: options.errorHandler)
  }

  /// Opens a store, and calls `warning` with what its user should know.
  package static func open(
    _ location: String, options: StoreOptions, warning: (StoreError) -> Void
  ) throws(StoreError) -> Store {
    try Limits.checkTag(options.tag?.utf8.count ?? 0)
    let sources = try options.layerSources(identifier: Location.identifier(in: location))
    try sources.checkManaged()
    _ = EagerInitialization.isOver
    let found = try StorageRegistry.find(Location(location), isReadOnly: options.isReadOnly)
    let shared = try OpenLocations.enter(found.identity) { () throws(StoreError) in
      try found.open(options.busyTimeoutMilliseconds)
    }
    let store = Store(shared, found.identity, options, sources)
    if let ask = options.passphrase { shared.secrets?.askPassphrase(ask) }
    do throws(StoreError) { try store.layerStack.checkWatch() } catch {
      store.close()
      throw error
    }
    if let note = try store.salvaged() { warning(note.warning) }
    store.reportUndeclaredVariables()
    return store
  }

  /// The folder that a location names, whether or not it exists; nil for a store in memory.
  ///
  /// ``StorePlace`` tells more. In C it is a member of `kept_place_json`. In Python: `kept.place(location).folder`.
  ///
  /// Throws `invalid` for a location that ``open(_:options:)`` would refuse, and `unavailable` for an identifier if
  /// neither the environment nor the user database names a home folder.
  public static func folder(of location: String) throws(StoreError) -> String? {
    let location = try Location(location)
    return location.scheme == .memory ? nil : location.name
  }

  /// Throws `denied` if this process acts as root, and a symbolic link on a path belongs to another user.
  ///
  /// Such a link could lead root to any file. Kept checks the paths that it opens itself; this is for programs that
  /// open other files, which their caller names. C and Python have no counterpart.
  public static func checkLinks(on path: String) throws(StoreError) { try UserLinks.check(path) }

  /// Closes the handle and syncs its writes to the disk.
  ///
  /// It may be called twice; of two threads that call it, both wait for the end. In C: `kept_close`.
  ///
  /// Its subscriptions end: no callback begins after it has returned.
  public func close() {
    isClosed.store(true, ordering: .releasing)
    handle.close()
    observation.end()
    let (call, isFirst) = closing.updateQuietly { closing in
      if let first = closing { return (first, false) }
      let call = RunningCall()
      closing = call
      return (call, true)
    }
    guard isFirst else { return call.wait() }
    leaveShared()
    options.reporter?.end()
    call.end()
  }

  private func leaveShared() {
    layerStack.end()
    if hasWritten.load(ordering: .acquiring) {
      do { try shared.storage.flush() } catch { report(error) }
    }
    guard place.map(OpenLocations.leave) ?? true else { return }
    MigrationTurn.end(of: shared)
    shared.storage.close()
  }

  /// Syncs every write that has returned to the disk, so that it survives power loss.
  ///
  /// In C: `kept_flush`.
  public func flush() throws(StoreError) {
    try storage().flush()
  }

  /// Returns a note if the store was found damaged and values may be missing or older, until this is acknowledged.
  ///
  /// In C: `kept_salvaged`.
  public func salvaged() throws(StoreError) -> SalvageNote? { try storage().salvaged() }

  /// Acknowledges the damage, after the lost values have been handled: later opens no longer report it.
  ///
  /// In C: `kept_acknowledge_salvage`.
  public func acknowledgeSalvage() throws(StoreError) { try storage().acknowledgeSalvage() }

  /// Passes a failure to the error handler if no caller can catch it.
  package func report(_ error: StoreError) { options.errorHandler(error) }

  /// The address of the generation: if it is even and unchanged, nothing has changed.
  ///
  /// The word stays readable until the process ends; after the store is closed it may become that of another store. For
  /// a closed store, and for a storage without generations, it stays odd.
  package var generationAddress: UnsafePointer<UInt64> {
    guard !hasEnded, let storage = fast else { return Self.unknownGeneration }
    return storage.generationAddress
  }

  /// The address for a closed store, and for a storage without generations.
  package static var unknownGeneration: UnsafePointer<UInt64> { ReadContext.closed }

  func storage() throws(StoreError) -> any Storage {
    try checkOpen()
    return shared.storage
  }

  /// Whether it was closed.
  var hasEnded: Bool { isClosed.load(ordering: .acquiring) }

  func checkOpen() throws(StoreError) {
    if hasEnded { throw StoreError(.closed, "the store was closed; open it again") }
  }
}

// MARK: - Reading and writing

extension Store {
  public var store: Store { self }

  public func entry(for key: KeyName) throws(StoreError) -> Entry? {
    try unlocking { () throws(StoreError) in try storage().entry(for: key) }
  }

  public func resolved(_ key: KeyName) throws(StoreError) -> Resolved {
    try layerStack.resolve(key, layeredEntry(for: key))
  }

  /// Returns the entry of a key, and adds it to the index of the handle's own layers.
  private func layeredEntry(for key: KeyName) throws(StoreError) -> Entry? {
    guard let view = layerStack.view, let storage = fast else { return try entry(for: key) }
    try checkOpen()
    return try unlocking { () throws(StoreError) in
      try storage.entry(for: key, view: view.takeUnretainedValue())
    }
  }

  public func storedKeys(prefix: ExactString) throws(StoreError) -> [KeyName] {
    try storage().keys(prefix: prefix)
  }

  /// The stored keys that begin with a text, in byte order, and their revision; nil if the storage cannot tell it.
  func listing(prefix: ExactString) throws(StoreError) -> (keys: [KeyName], revision: Revision)? {
    guard let contents = try (storage() as? any SnapshotStorage)?.contents() else { return nil }
    return (try contents.keys(below: prefix), contents.revision)
  }

  public func put(_ value: Value, for key: KeyName, ifRevision expected: Revision?) throws(StoreError) -> Revision {
    try checkOpen()
    layerStack.watchAgain()
    try checkUnlocked(key)
    if expected == nil, let revision = key.withPrepared({ putAlone(value, for: $0) }) {
      return try synced(revision, options.durability)
    }
    var batch = newBatch()
    batch.edit(key, .set(value))
    if let expected { batch.conditions = [.revision(key, expected)] }
    let commit = try commit(batch)
    // If nothing changed, the key still has the revision that was expected.
    return commit.isEmpty ? expected ?? commit.revision : commit.revision
  }

  /// Commits a new value of a key that is known to be valid, without a batch, and does not sync it; nil, with nothing
  /// done, if it needs a batch.
  private func putAlone(_ value: Value, for key: PreparedBytes) -> Revision? {
    alone { $0.put(value, for: key, options.durability, tag: options.tag) }
  }

  /// Calls `commit` unless the commit would be observed.
  private func alone(_ commit: (any FastStorage) -> Revision?) -> Revision? {
    guard laterVersion.load(ordering: .acquiring) == 0, let fast else { return nil }
    let revision = shared.feed.whileSilent { commit(fast) }
    if revision != nil { noteWrite() }
    return revision
  }

  private func synced(_ revision: Revision, _ durability: Durability) throws(StoreError) -> Revision {
    if durability == .durable { try storage().flush() }
    return revision
  }

  /// Commits a batch as ``commit(_:)`` does, for a caller that needs only the revision.
  func commitAtOnce(_ batch: Batch) throws(StoreError) -> Revision {
    try checkOpen()
    if let revision = alone({ $0.commitAtOnce(batch) }) { return try synced(revision, batch.durability) }
    return try commit(batch).revision
  }

  private func noteWrite() {
    if !hasWritten.load(ordering: .relaxed) { hasWritten.store(true, ordering: .releasing) }
  }

  /// Commits a value of a key that the index knows; false, with nothing done, if that needs a check or a
  /// batch.
  package func putKnown(_ value: Value, for key: PreparedBytes) -> Bool {
    guard options.durability == .shared, value.bytesAsStored != nil, !hasEnded, layerStack.sources.isEmpty
    else { return false }
    return putAlone(value, for: key) != nil
  }

  public func delete(_ key: KeyName) throws(StoreError) -> Bool {
    try checkOpen()
    layerStack.watchAgain()
    try checkUnlocked(key)
    var batch = newBatch()
    batch.edit(key, .remove)
    return try !commit(batch).isEmpty
  }

  /// The current revision of the store.
  public func currentRevision() throws(StoreError) -> Revision { try storage().revision() }

  /// Returns what changed after a revision.
  func changes(after revision: Revision) throws(StoreError) -> ChangesAfter { try storage().changes(after: revision) }

  /// Commits a batch of this handle.
  ///
  /// Its values have been checked.
  func commit(_ batch: Batch) throws(StoreError) -> Commit {
    try checkOpen()
    // Of a transaction that wrote nothing, only what it read is checked.
    if !batch.isEmpty { try checkMayWrite() }
    let commit = try unlocking { () throws(StoreError) in try shared.commit(batch) }
    if !commit.isEmpty || batch.schemaVersion != nil { hasWritten.store(true, ordering: .releasing) }
    if !commit.isEmpty, commit.hasDeclarations, !batch.isAdmittedAsItIs { reportDeprecated(in: commit) }
    return commit
  }

  /// Commits a batch that is made from stored values: again if others have changed them since.
  ///
  /// - Parameters:
  ///   - what: the operation that failed, for the error `busy`.
  ///   - make: must not call the program.
  func commit(
    _ what: String, making make: () throws(StoreError) -> Batch
  ) throws(StoreError) -> Commit {
    let deadline = MonotonicTime.milliseconds + Int64(options.patience)
    var attempt = 0
    while true {
      try checkOpen()
      try checkMayWrite()
      do throws(StoreError) { return try commit(make()) } catch {
        guard error.code == .conflict else { throw error }
        guard attempt < 2 || MonotonicTime.milliseconds < deadline else {
          throw StoreError(
            .busy, "\(what), because other writers kept writing until the timeout; try again when they have finished")
        }
        MonotonicTime.backOff(attempt: attempt)
        attempt += 1
      }
    }
  }

  /// Makes this handle read-only: the store has a schema version that the program does not know.
  func refuseWrites(tooLate version: UInt32) { laterVersion.store(version, ordering: .releasing) }

  /// Makes this handle writable: the store has a known version, perhaps after a restore.
  func allowWrites() { laterVersion.store(0, ordering: .releasing) }

  private func checkMayWrite() throws(StoreError) {
    if options.isReadOnly { throw .openOnlyToRead }
    let version = laterVersion.load(ordering: .acquiring)
    guard version > 0 else { return }
    throw StoreError(
      .denied,
      "the store has schema version \(version), set by a newer program, and can only be read here; update the "
        + "program"
    )
  }

  /// Returns a new batch of this handle.
  func newBatch(durability: Durability? = nil, tag: String? = nil) -> Batch {
    var batch = Batch(durability: durability ?? options.durability)
    batch.busyTimeoutMilliseconds = options.patience
    batch.author = Author(tag: tag ?? options.tag)
    batch.author.handle = observation.handle
    return batch
  }
}
