// A store that this process can read and not write: in a folder without write permission, on a read-only medium, on a
// disk that was too full for the files that writing needs, or opened only to read.

import KeptSchema
import KeptSystem
import KeptValues

/// The storage of a folder with a database in it, which is not written.
///
/// It makes no thread, takes no lock and writes no file. It reads a copy in memory, and copies again when the files are
/// changed: other processes with the permission may write, and their commits are seen.
final class ReadOnlyStorage: Storage {
  let abilities: StorageAbilities = [
    .sharedBetweenProcesses, .atomicBatch, .revisions, .durable, .pushesChanges, .declarations, .listsKeys,
    .schemaVersion,
  ]
  enum Reason {
    /// There is no write permission.
    case permission
    /// The disk is full; with the error of opening it for writing.
    case full(StoreError)
    /// It was opened only to read.
    case request

    /// Why a write is refused.
    func refusal(in folder: String) -> StoreError {
      switch self {
      case .request: .openOnlyToRead
      case .full(let full):
        StoreError(
          full.code,
          "\(full.message); the store in \(folder) is open read-only until it is closed "
            + "and opened again")
      case .permission:
        StoreError(
          .denied,
          "the store in \(folder) is readable but not writable; check who owns the folder, its "
            + "permissions, and whether its disk is mounted read-only")
      }
    }
  }
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
  // The storage that this process writes the same folder with, if it has one: its files must not be opened again.
  private let openedHere: @Sendable () -> LocalStorage?
  private let busyTimeoutMilliseconds: Int
  private static let leastMilliseconds = 5 * Int(FileStamp.settlingMilliseconds)

  /// Opens the storage of a folder.
  ///
  /// - Parameters:
  ///   - reason: why it is not written.
  ///   - busyTimeoutMilliseconds: how long a read waits until no process is changing the files.
  ///   - openedHere: returns the storage that this process writes the same folder with.
  init(
    _ folder: StoreFolder, because reason: Reason = .permission, busyTimeoutMilliseconds: Int = 5000,
    openedHere: @escaping @Sendable () -> LocalStorage? = { nil }
  ) throws(StoreError) {
    database = ReadOnlyDatabase(folder: try folder.resolved())
    self.openedHere = openedHere
    refusal = reason.refusal(in: database.folder.shown)
    // Files that were changed recently must first stay unchanged for some time.
    self.busyTimeoutMilliseconds = max(busyTimeoutMilliseconds, Self.leastMilliseconds)
    // A folder that is not a store, or cannot be opened without writing, is refused at once.
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

  func acknowledgeSalvage() throws(StoreError) {
    if try salvaged() != nil { throw refusal }
  }

  func changes(after revision: Revision) throws(StoreError) -> ChangesAfter {
    try self.revision() == revision ? .changed(Delta([], upTo: revision)) : .tooOld
  }

  func commit(_ batch: Batch) throws(StoreError) -> Commit {
    let revision = try read { reader throws(StoreError) in
      guard batch.isEmpty else { throw refusal }
      for condition in batch.conditions { try reader.check(condition) }
      return reader.revision
    }
    return Commit(revision: revision, changes: [])
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

  /// Runs `body`, unless a fork has closed the copy.
  @inline(never)
  private func visit(_ body: (PatchedReader) throws(StoreError) -> Void) throws(StoreError) {
    let end = MonotonicTime.milliseconds + Int64(busyTimeoutMilliseconds)
    while true {
      try checkOpen()
      do throws(StoreError) { return try visitOnce(body) } catch {
        // This process is opening the store for writing, or closing it.
        let isPassing = error.code == .invalid || error.code == .closed
        guard isPassing, MonotonicTime.milliseconds < end else { throw error }
        MonotonicTime.letPass(microseconds: 5000)
      }
    }
  }

  private func visitOnce(_ body: (PatchedReader) throws(StoreError) -> Void) throws(StoreError) {
    if let storage = openedHere() { return try storage.loader.scan(body) }
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

extension StoreError {
  /// Why a store that was opened only to read refuses a write.
  static var openOnlyToRead: StoreError {
    StoreError(.denied, "the store is open read-only; open it without that option to change it")
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
