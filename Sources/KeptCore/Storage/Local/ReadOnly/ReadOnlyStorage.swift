// A store that this process can read and not write: in a folder without write permission, on a read-only medium, or on
// a disk that was too full for the files that writing needs.

/// The storage of a folder with a database in it, without write permission.
///
/// It reads a copy in memory, and copies again when the files have changed: other processes with the permission may
/// write meanwhile, and their commits are seen.
final class ReadOnlyStorage: Storage {
  let abilities: StorageAbilities = [
    .sharedBetweenProcesses, .atomicBatch, .revisions, .durable, .pushesChanges, .declarations, .listsKeys,
    .schemaVersion,
  ]
  // Odd, because it cannot know whether another process has committed.
  let generation: UInt64 = 1

  fileprivate struct State {
    var isClosed = false
    var interruptions = 0
    var connected: (reader: PatchedReader, stamp: DatabaseCopy.Stamp)?
  }
  private let state = Monitor(State())
  private let database: ReadOnlyDatabase
  private let refusal: StoreError
  private let busyTimeoutMilliseconds: Int
  private static let leastMilliseconds = 5 * Int(FileStamp.settlingMilliseconds)

  /// Opens the storage of a folder.
  ///
  /// - Parameters:
  ///   - full: why it could not be opened for writing; nil if writing is not permitted.
  ///   - busyTimeoutMilliseconds: how long a read waits until no process is changing the files.
  init(
    _ folder: StoreFolder, full: StoreError? = nil, busyTimeoutMilliseconds: Int = 5000
  ) throws(StoreError) {
    database = ReadOnlyDatabase(folder: try folder.resolved())
    refusal =
      if let full {
        StoreError(
          full.code,
          "\(full.message); the store in \(database.folder.path) is open for reading only, so after that close it and "
            + "open it again")
      } else {
        StoreError(
          .denied,
          "the store in \(database.folder.path) may be read but not written; check who owns the folder, its "
            + "permissions, and whether its disk is mounted read-only")
      }
    // Files that were changed a moment ago must first stay unchanged for some time.
    self.busyTimeoutMilliseconds = max(busyTimeoutMilliseconds, Self.leastMilliseconds)
    // A folder that is no store, or cannot be opened without writing, is refused at once.
    _ = try revision()
    Fork.join(self)
  }

  deinit {
    Fork.leave(self)
    close()
  }

  func entry(for key: KeyName) throws(StoreError) -> Entry? {
    try read { reader throws(StoreError) in try reader.entry(for: key) }
  }

  func keys(prefix: ExactString) throws(StoreError) -> [KeyName] {
    try read { reader throws(StoreError) in try reader.keys(prefix: prefix) }
  }

  func declarations(prefix: ExactString) throws(StoreError) -> [(key: KeyName, declaration: Declaration)] {
    try read { reader throws(StoreError) in try reader.declarations(prefix: prefix) }
  }

  func revision() throws(StoreError) -> Revision {
    try read { reader throws(StoreError) in reader.revision }
  }

  func schemaVersion() throws(StoreError) -> UInt32 {
    try read { reader throws(StoreError) in reader.schemaVersion }
  }

  func entries(in scopes: [Scope]) throws(StoreError) -> StoredEntries {
    try read { reader throws(StoreError) in try reader.entries(in: scopes) }
  }

  func salvaged() throws(StoreError) -> SalvageNote? {
    try read { reader throws(StoreError) in try SalvageNote.read(reader.reader, in: database.folder) }
  }

  func changes(after revision: Revision) throws(StoreError) -> ChangesAfter {
    try self.revision() == revision ? .changed(Delta([], upTo: revision)) : .tooOld
  }

  func commit(_ batch: Batch) throws(StoreError) -> Commit {
    _ = try revision()
    throw refusal
  }

  /// Checks that the store is open; there is nothing to sync.
  func flush() throws(StoreError) { _ = try revision() }

  func wait(after revision: Revision) throws(StoreError) -> Bool {
    while true {
      if try self.revision() > revision { return true }
      // The page is not writable, so writers cannot be asked to wake this process.
      let isOver: Bool? = state.wait(milliseconds: 1000) { $0.takesInterruption() ? true : nil }
      if isOver != nil { return false }
    }
  }

  func interruptWaiting() { state.update { $0.interruptions += 1 } }

  func close() {
    state.update {
      $0.isClosed = true
      $0.connected = nil
    }
  }

  /// Reads from a copy of the current files.
  func read<Result>(_ body: (PatchedReader) throws(StoreError) -> Result) throws(StoreError) -> Result {
    while true {
      var result: Result?
      // The part that does not depend on the result is compiled once.
      try visit { reader throws(StoreError) in result = try body(reader) }
      if let result { return result }
    }
  }

  /// Runs `body`, or does not, if a fork has closed the copy meanwhile.
  @inline(never)
  private func visit(_ body: (PatchedReader) throws(StoreError) -> Void) throws(StoreError) {
    try connect()
    try state.update { state throws(StoreError) in
      try Self.checkOpen(state)
      if let connected = state.connected { try body(connected.reader) }
    }
  }

  /// Makes a copy, unless there is one and the files cannot have changed since.
  private func connect() throws(StoreError) {
    let isConnected = try state.update { state throws(StoreError) in
      try Self.checkOpen(state)
      if let connected = state.connected, connected.stamp.vouches(for: database.stamp()) { return true }
      state.connected = nil
      return false
    }
    if isConnected { return }
    // Outside the monitor: the owner of the files can make it take long, and closing must not wait for that. A fork
    // waits, because a child would find SQLite's locks held by a thread that it does not have.
    Fork.gate.enter()
    defer { Fork.gate.leave() }
    let end = MonotonicTime.milliseconds + Int64(busyTimeoutMilliseconds)
    let made = try database.copy { () throws(StoreError) in
      try checkOpen()
      return MonotonicTime.milliseconds >= end
    }
    try state.update { state throws(StoreError) in
      try Self.checkOpen(state)
      state.connected = made
    }
  }

  private func checkOpen() throws(StoreError) {
    try state.read { state throws(StoreError) in try Self.checkOpen(state) }
  }

  private static func checkOpen(_ state: State) throws(StoreError) {
    guard !state.isClosed else { throw StoreError(.closed, "the store was closed; open it again") }
  }
}

extension ReadOnlyStorage: ForkAware {
  func beforeFork() { state.update { $0.connected = nil } }

  func afterForkInChild() { state.update { $0.interruptions = 0 } }
}

extension ReadOnlyStorage.State {
  fileprivate mutating func takesInterruption() -> Bool {
    if isClosed { return true }
    guard interruptions > 0 else { return false }
    interruptions -= 1
    return true
  }
}
