// How much of the log of commits a transaction reads to validate its conditions, counted in steps of SQLite's virtual
// machine: once for all keys, and almost nothing while it blocks other writers.

import CSQLite
import Testing

@testable import KeptCore

@Suite(.timeLimit(.minutes(5))) struct `What a transaction relies on` {
  private static let keys = 5000
  private static let commits = 9000

  let folder: TemporaryFolder
  let path: String
  let base: Revision
  /// Commits like another process.
  let other: LocalStorage
  let writer: LocalWriter
  let connection: SQLiteConnection
  // Keeps its database open.
  let pulse: Pulse

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/store"
    other = try LocalStorage(path: path)
    var batch = Batch()
    for index in 0..<Self.keys { try batch.edit(key("read.\(index)"), .set(1)) }
    base = try other.commit(batch).revision
    let database = LocalDatabase(StoreFolder(path: path), busyTimeoutMilliseconds: 5000)
    let (reader, pulse) = try database.open()
    self.pulse = pulse
    let connect: @Sendable () throws(StoreError) -> LocalReader = { () throws(StoreError) in try database.connect() }
    connection = try database.connect().connection
    writer = try LocalWriter(
      connection, pulse,
      IndexLoader(IndexView(), pulse, LazyConnection(reader, make: connect), scans: LazyConnection(make: connect)),
      limit: LogLimit(), eraser: SecretEraser(), commitObserver: nil)
  }

  /// A transaction that has read all the keys, and one absent key.
  private func batch() throws -> Batch {
    var batch = Batch()
    for index in 0..<Self.keys { batch.conditions.append(.unchanged(try key("read.\(index)"), after: base)) }
    batch.conditions.append(.unchangedPrefix("absent.", after: base))
    try batch.edit(key("read.0"), .set(2))
    return batch
  }

  private func commit(_ batch: Batch) throws -> Commit { try writer.commit([batch], waiting: 5000).results[0].get() }

  private func writeOften() throws {
    for index in 0..<Self.commits { try other.commit(key("other.\(index % 10)"), .set(.int(Int64(index)))) }
  }

  @Test func `is looked up in one read of the log, before the write lock is taken`() throws {
    try writeOften()
    let work = Work()
    work.count(on: connection)
    #expect(try commit(batch()).revision == base + UInt64(Self.commits) + 1)
    work.end(on: connection)
    #expect(work.steps > Self.commits, "the log was read")
    #expect(work.steps < Self.commits * 30, "\(work.steps) steps")
    #expect(work.stepsUnderLock < 2000, "\(work.stepsUnderLock) steps under the write lock")
  }

  @Test func `is a conflict where others have changed it, long ago or just now`() throws {
    try writeOften()
    try other.commit(key("read.4999"), .set(2))
    let late = try other.revision()
    #expect(conflict { try commit(batch()) })
    var later = Batch()
    later.conditions = [.unchanged(try key("read.4999"), after: late), .unchangedPrefix("other.", after: late)]
    try later.edit(key("read.0"), .set(2))
    _ = try commit(later)
    #expect(conflict { try commit(later) } == false, "its own key is none of them")
    later.conditions.append(.unchangedPrefix("read.", after: late))
    #expect(conflict { try commit(later) })
    later.conditions = [.unchangedPrefix("", after: late)]
    #expect(conflict { try commit(later) })
  }

  @Test func `counts as changed where the log does not go back so far`() throws {
    let limit = LogLimit(revisions: 10, interval: 5)
    let short = try LocalStorage(StoreFolder(path: path), busyTimeoutMilliseconds: 5000, limit: limit)
    for index in 0..<100 { try short.commit(key("other"), .set(.int(Int64(index)))) }
    #expect(conflict { try commit(batch()) })
    short.close()
  }

  @Test func `includes the commits of the same group`() throws {
    var first = Batch()
    try first.edit(key("read.7"), .set(2))
    var second = Batch()
    second.conditions = [.unchanged(try key("read.7"), after: base)]
    try second.edit(key("new"), .set(1))
    var third = Batch()
    third.conditions = [.unchangedPrefix("new", after: base)]
    try third.edit(key("newer"), .set(1))
    let results = writer.commit([first, second, third], waiting: 5000).results
    #expect(try results[0].get().revision == base + 1)
    #expect(conflict { try results[1].get() })
    #expect(try results[2].get().revision == base + 2)
  }
}

/// Counts the steps of SQLite's virtual machine.
private final class Work {
  private static let interval = 20
  private(set) var steps = 0
  private(set) var stepsUnderLock = 0
  private var handle: OpaquePointer?

  func count(on connection: SQLiteConnection) {
    handle = connection.handle
    sqlite3_progress_handler(
      handle, Int32(Self.interval),
      { context in
        guard let context else { return 0 }
        Unmanaged<Work>.fromOpaque(context).takeUnretainedValue().note()
        return 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  func end(on connection: SQLiteConnection) { sqlite3_progress_handler(handle, 0, nil, nil) }

  private func note() {
    steps += Self.interval
    if sqlite3_txn_state(handle, "main") == SQLITE_TXN_WRITE { stepsUnderLock += Self.interval }
  }
}
