// A handle on an open store: what programs hold. Its typed face for Swift is in the module Kept, its C face in KeptC.

import Synchronization

/// An open settings database, shared by every process that opens the same location.
///
/// Every method may be called from any thread. After ``close()`` everything throws `closed`. The C twin is
/// `kept_store`.
public final class Store: SettingsAccess {
  package let options: StoreOptions
  public let identity: StoreIdentity
  let shared: SharedStore
  /// Where reads from memory begin, and what C calls this store by.
  package let handle: ReadContext
  let reads: MemoryReads
  // Under which name the shared store is known to this process; nil: this handle has it alone.
  private let place: OpenLocations.Identity?
  private let isClosed = Atomic<Bool>(false)
  // The first call that closes it.
  private let closing = Monitor<RunningCall?>(nil)
  // Only who wrote something has something to sync when it closes.
  private let hasWritten = Atomic<Bool>(false)
  // The schema version that is too late for this program, which has chosen only to read then; 0: it may write.
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
    handle = ReadContext(shared.storage as? LocalStorage)
    reads = MemoryReads(handle)
    layerStack = LayerStack(
      sources, over: shared.storage, of: handle, report: options.errorHandler, tell: shared.layersChanged)
    observation = StoreObservation(shared, layerStack, report: options.errorHandler)
  }

  /// Uses a storage of your own making, or a `MemoryStorage` in a test.
  ///
  /// Closing the store closes the storage.
  ///
  /// Without an identifier there is no standard place for a file of a layer: give paths. Where the options that name
  /// layers are wrong there are none, and the error handler hears why. Where a managed layer was asked for, and cannot
  /// be read, every key is locked.
  public convenience init(storage: any Storage, options: StoreOptions = StoreOptions()) {
    var sources = LayerSources(insteadOf: options)
    do { sources = try LayerSources(options, identifier: nil) } catch { options.errorHandler(error) }
    self.init(SharedStore(storage), nil, options, sources)
  }

  deinit { close() }

  /// Opens a store, and creates it where there is none.
  ///
  /// The C twin is `kept_open`.
  ///
  /// - Parameter location: an identifier such as `com.example.player`, which lives in
  /// `$XDG_CONFIG_HOME/kept/<identifier>.kept/` (by default in `~/.config`); text with a slash is a path to the store's
  ///   folder; `dir:/path` keeps each key in a file of its own there, see ``DirectoryStorage``; `memory:`
  ///   is a new store without a file, and `memory:name` one that this process shares by name for as long as a handle
  ///   is open.
  ///
  /// Throws `invalid`, `denied`, `noSpace`, `corrupt`, `unavailable` or `unsupported`. Opening a location several
  /// times, in one process or in many, is legal: all handles see the same values. A database that was found damaged is
  /// set aside, and what can be read is salvaged: then the error handler hears `salvaged`, see ``salvaged()``.
  ///
  /// A folder that other users may write to is `denied`; one of another user is opened for reading, also by root. A
  /// managed layer that is there and cannot be read is `unavailable`.
  public static func open(_ location: String, options: StoreOptions = StoreOptions()) throws(StoreError) -> Store {
    try open(location, options: options, warning: options.errorHandler)
  }

  /// Opens a store, and tells `warning` what its user should know.
  package static func open(
    _ location: String, options: StoreOptions, warning: (StoreError) -> Void
  ) throws(StoreError) -> Store {
    let sources = try LayerSources(options, identifier: Location.identifier(in: location))
    try sources.checkManaged()
    let store = try at(Location(location), options, sources)
    if let note = try store.salvaged() { warning(note.warning) }
    return store
  }

  private static func at(
    _ location: Location, _ options: StoreOptions, _ sources: LayerSources
  ) throws(StoreError) -> Store {
    _ = EagerInitialization.isOver
    switch location {
    case .memory(name: nil):
      return Store(SharedStore(MemoryStorage()), nil, options, sources)
    case .memory(name: let name?):
      let identity = OpenLocations.Identity.memory(name: name)
      return Store(try OpenLocations.enter(identity) { MemoryStorage() }, identity, options, sources)
    case .folder(let path):
      let folder = try StoreFolder(path: path).resolved()
      let identity = OpenLocations.Identity.folder(try folder.identity())
      let shared = try OpenLocations.enter(identity) { () throws(StoreError) in
        let timeout = options.busyTimeoutMilliseconds
        if folder.isReadOnly { return try ReadOnlyStorage(folder, busyTimeoutMilliseconds: timeout) }
        return try LocalStorage(folder, busyTimeoutMilliseconds: timeout, limit: LogLimit())
      }
      return Store(shared, identity, options, sources)
    case .directory(let path):
      let path = try StoreFolder(path: path).absolute().path
      let identity = OpenLocations.Identity.directory(try StoreFolder(path: path).identity())
      let shared = try OpenLocations.enter(identity) { () throws(StoreError) in
        let timeout = options.busyTimeoutMilliseconds
        return SimpleStorageAdapter(try DirectoryStorage(path: path, busyTimeoutMilliseconds: timeout))
      }
      return Store(shared, identity, options, sources)
    }
  }

  /// Closes the handle and syncs what was written to the disk.
  ///
  /// Closing twice is fine; of two threads that do, both wait for the end. The C twin is `kept_close`.
  ///
  /// Its subscriptions end: when it returns, no further callback begins.
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
    letGo()
    options.reporter?.end()
    call.end()
  }

  private func letGo() {
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
  /// The C twin is `kept_flush`.
  public func flush() throws(StoreError) {
    try storage().flush()
  }

  /// Whether the store was found damaged, and nobody has acknowledged yet that values may be missing.
  ///
  /// The C twin is `kept_salvaged`.
  public func salvaged() throws(StoreError) -> SalvageNote? { try storage().salvaged() }

  /// Says that a person or a program has seen to what was lost: openers are not told of it any more.
  ///
  /// The C twin is `kept_acknowledge_salvage`.
  public func acknowledgeSalvage() throws(StoreError) { try storage().acknowledgeSalvage() }

  /// Tells the error handler of a failure that nobody is there to catch.
  package func report(_ error: StoreError) { options.errorHandler(error) }

  /// Where to see whether anything has changed: even and unchanged, nothing has.
  ///
  /// The word may be read for as long as the process lives; when the store is closed it may become that of another
  /// one. Of a closed store, and of a storage that cannot tell, it is odd for ever.
  package var generationAddress: UnsafePointer<UInt64> {
    guard !hasEnded, let local = shared.storage as? LocalStorage else { return Self.unknownGeneration }
    return local.generationAddress
  }

  /// The word of a closed store, and of a storage that cannot tell.
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
    try storage().entry(for: key)
  }

  public func resolved(_ key: KeyName) throws(StoreError) -> Resolved {
    try layerStack.resolve(key, layeredEntry(for: key))
  }

  /// The entry of a key, which also goes into the index of the handle's own layers.
  private func layeredEntry(for key: KeyName) throws(StoreError) -> Entry? {
    guard let index = layerStack.index, let local = try storage() as? LocalStorage else { return try entry(for: key) }
    return try local.entry(for: key, view: index.takeUnretainedValue())
  }

  public func storedKeys(prefix: ExactString) throws(StoreError) -> [KeyName] {
    try storage().keys(prefix: prefix)
  }

  public func put(_ value: Value, for key: KeyName, ifRevision expected: Revision?) throws(StoreError) -> Revision {
    try checkOpen()
    layerStack.watchAgain()
    try layerStack.checkUnlocked(key)
    var batch = newBatch()
    batch.edit(key, .set(value))
    if let expected { batch.conditions = [.revision(key, expected)] }
    let commit = try commit(batch)
    // Where nothing changed, the key has kept the revision that was expected.
    return commit.changes.isEmpty ? expected ?? commit.revision : commit.revision
  }

  public func delete(_ key: KeyName) throws(StoreError) -> Bool {
    try checkOpen()
    layerStack.watchAgain()
    try layerStack.checkUnlocked(key)
    var batch = newBatch()
    batch.edit(key, .remove)
    return try !commit(batch).changes.isEmpty
  }

  /// The store's count of commits now.
  public func currentRevision() throws(StoreError) -> Revision { try storage().revision() }

  /// What changed after a revision.
  func changes(after revision: Revision) throws(StoreError) -> ChangesAfter { try storage().changes(after: revision) }

  /// Commits a batch as this handle's.
  ///
  /// Its values were checked.
  func commit(_ batch: Batch) throws(StoreError) -> Commit {
    try checkOpen()
    try checkMayWrite()
    let commit = try shared.commit(batch)
    if !commit.changes.isEmpty || batch.schemaVersion != nil { hasWritten.store(true, ordering: .releasing) }
    if !commit.changes.isEmpty, !batch.isAdmittedAsItIs { reportDeprecated(in: commit) }
    return commit
  }

  /// From now on this handle only reads: the store has a schema version that the program does not know.
  func refuseWrites(tooLate version: UInt32) { laterVersion.store(version, ordering: .releasing) }

  /// The store has a version that the program knows, perhaps since somebody has restored it.
  func allowWrites() { laterVersion.store(0, ordering: .releasing) }

  private func checkMayWrite() throws(StoreError) {
    let version = laterVersion.load(ordering: .acquiring)
    guard version > 0 else { return }
    throw StoreError(
      .denied, "the store has schema version \(version), of a later program, and is only read here; update the program")
  }

  /// A batch of this handle's.
  func newBatch(durability: Durability? = nil, tag: String? = nil) -> Batch {
    var batch = Batch(durability: durability ?? options.durability)
    batch.busyTimeoutMilliseconds = options.patience
    batch.author = Author(tag: tag ?? options.tag)
    batch.author.handle = observation.handle
    return batch
  }
}
