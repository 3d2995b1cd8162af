// A folder with an SQLite database in it: the default storage, shared by every process that opens the folder.

import Synchronization

/// Keeps values in `values.sqlite`, in write-ahead mode, inside a folder of its own.
///
/// Two connections: one writes, one reads, so that a reader never waits for a sync. Each is behind a lock of its own.
public final class LocalStorage: Storage {
  public let abilities: StorageAbilities = [.sharedBetweenProcesses, .atomicBatch, .revisions, .durable]

  // nil: closed.
  private let writer: Mutex<LocalWriter?>
  private let reader: Mutex<LocalReader?>

  /// Opens the store in a folder, and makes both where there are none.
  ///
  /// - Parameters:
  ///   - path: the folder. Directories on the way are made with mode 0700.
  ///   - busyTimeoutMilliseconds: how long a commit waits for other writers before it throws `busy`.
  public convenience init(path: String, busyTimeoutMilliseconds: Int = 5000) throws(StoreError) {
    try self.init(
      StoreFolder(path: path), busyTimeoutMilliseconds: busyTimeoutMilliseconds, pruning: TombstonePruning())
  }

  init(_ folder: StoreFolder, busyTimeoutMilliseconds: Int, pruning: TombstonePruning) throws(StoreError) {
    try folder.prepare { path throws(StoreError) in
      try LocalSchema.create(on: SQLiteConnection(path: path, busyTimeoutMilliseconds: 0))
    }
    func connect() throws(StoreError) -> SQLiteConnection {
      let connection = try SQLiteConnection(path: folder.database, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
      try connection.run("PRAGMA cell_size_check = ON; PRAGMA synchronous = NORMAL")
      try LocalSchema.check(connection, path: folder.path)
      return connection
    }
    writer = Mutex(LocalWriter(try connect(), pruning: pruning))
    reader = Mutex(LocalReader(try connect()))
  }

  /// Without the mapped page of a later version, a reader cannot know what other processes commit: ask every time.
  public var generation: UInt64 { 1 }

  public func entry(for key: KeyName) throws(StoreError) -> Entry? {
    try read { reader throws(StoreError) in try reader.entry(for: key) }
  }

  public func revision() throws(StoreError) -> Revision {
    try read { reader throws(StoreError) in try reader.revision() }
  }

  public func keys(prefix: ExactString) throws(StoreError) -> Listing {
    try read { reader throws(StoreError) in try reader.keys(prefix: prefix) }
  }

  public func changes(after revision: Revision) throws(StoreError) -> ChangesAfter {
    try read { reader throws(StoreError) in try reader.changes(after: revision) }
  }

  public func commit(_ batch: Batch) throws(StoreError) -> Commit {
    try write { writer throws(StoreError) in try writer.commit(batch) }
  }

  public func flush() throws(StoreError) {
    try write { writer throws(StoreError) in try writer.sync() }
  }

  public func wait(after revision: Revision) throws(StoreError) -> Bool {
    throw StoreError(.unsupported, "this version does not wait for the commits of other processes; read again instead")
  }

  public func interruptWaiting() {}

  public func close() {
    reader.withLock { $0 = nil }
    writer.withLock { $0 = nil }
  }

  private func read<Result: Sendable>(
    _ body: (LocalReader) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try reader.withLock { reader throws(StoreError) in
      guard let reader else { throw Self.closed }
      return try body(reader)
    }
  }

  private func write<Result: Sendable>(
    _ body: (LocalWriter) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try writer.withLock { writer throws(StoreError) in
      guard let writer else { throw Self.closed }
      return try body(writer)
    }
  }

  private static let closed = StoreError(.closed, "the store was closed; open it again")
}
