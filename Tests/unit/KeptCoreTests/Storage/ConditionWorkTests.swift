// How much SQLite is asked when a transaction validates its conditions, counted in steps of its virtual machine: once
// for each key, and nothing while the transaction blocks other writers.

import CSQLite
@testable import KeptSchema
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite(.timeLimit(.minutes(30))) struct `What a transaction relies on` {
  private static let keys = 1000
  private static let commits = 9000

  let folder: TemporaryFolder
  let path: String
  let base: Revision
  /// Commits like another process.
  let other: LocalStorage
  let storage: LocalStorage

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/store"
    other = try LocalStorage(path: path)
    var batch = Batch()
    for index in 0..<Self.keys { try batch.edit(key("read.\(index)"), .set(1)) }
    base = try other.commit(batch).revision
    storage = try LocalStorage(path: path)
  }

  /// A transaction that has read all the keys, and one absent key.
  private func batch() throws -> Batch {
    var batch = Batch()
    for index in 0..<Self.keys { batch.conditions.append(.unchanged(try key("read.\(index)"), after: base)) }
    batch.conditions.append(.unchangedPrefix("absent.", after: base))
    try batch.edit(key("read.0"), .set(2))
    return batch
  }

  private func writeOften() throws {
    for index in 0..<Self.commits { try other.commit(key("other.\(index % 10)"), .set(.int(Int64(index)))) }
  }

  @Test func `is looked up once for each key, before the write lock is taken`() throws {
    try writeOften()
    let page = storage.loader.journal.page
    let (reader, scans) = (Work(page), Work(page))
    try storage.loader.readDatabase { reader.count(on: $0.connection) }
    try storage.loader.scan { scans.count(on: $0.reader.connection) }
    #expect(try storage.commit(batch()).revision == base + UInt64(Self.commits) + 1)
    try storage.loader.readDatabase { reader.end(on: $0.connection) }
    try storage.loader.scan { scans.end(on: $0.reader.connection) }
    #expect(reader.steps > Self.keys, "the keys were looked up")
    #expect(reader.steps < Self.keys * 200, "\(reader.steps) steps")
    #expect(scans.steps < 2000, "\(scans.steps) steps")
    let stepsUnderLock = reader.stepsUnderLock + scans.stepsUnderLock
    #expect(stepsUnderLock < 500, "\(stepsUnderLock) steps under the write lock")
  }

  @Test func `is a conflict where others have changed it, long ago or just now`() throws {
    try writeOften()
    try other.commit(key("read.999"), .set(2))
    let late = try other.revision()
    #expect(conflict { try storage.commit(batch()) })
    var later = Batch()
    later.conditions = [.unchanged(try key("read.999"), after: late), .unchangedPrefix("other.", after: late)]
    try later.edit(key("read.0"), .set(2))
    _ = try storage.commit(later)
    #expect(conflict { try storage.commit(later) } == false, "its own key is not one of them")
    later.conditions.append(.unchangedPrefix("read.", after: late))
    #expect(conflict { try storage.commit(later) })
    later.conditions = [.unchangedPrefix("", after: late)]
    #expect(conflict { try storage.commit(later) })
  }

  @Test func `is known where the frames of its last change were overwritten`() throws {
    _ = try storage.commit(batch())
    let changed = try other.commit(key("read.0"), .remove).revision
    try other.overwriteTheRing()
    #expect(conflict { try storage.commit(batch()) })
    var later = Batch()
    later.conditions = [.unchanged(try key("read.0"), after: changed), .unchangedPrefix("read.", after: changed)]
    try later.edit(key("read.1"), .set(2))
    _ = try storage.commit(later)
    later.conditions = [.unchangedPrefix("read.0", after: changed - 1)]
    #expect(conflict { try storage.commit(later) })
  }

  @Test func `counts as changed where it is absent and a salvage has forgotten since when`() throws {
    storage.close()
    other.close()
    try SQLiteConnection(path: path + "/values.sqlite", busyTimeoutMilliseconds: 0)
      .run("UPDATE store SET floor = 7, revision = 7")
    let later = try LocalStorage(path: path)
    #expect(conflict { try later.commit(key("a"), .set(1), .unchangedPrefix("absent", after: 6)) })
    #expect(conflict { try later.commit(key("a"), .set(1), .unchanged(key("absent"), after: 6)) })
    try later.commit(key("a"), .set(1), .unchangedPrefix("absent", after: 7), .unchanged(key("absent"), after: 7))
  }

  @Test func `counts as changed where its key was removed so long ago that this is forgotten`() throws {
    try storage.commit(key("read.0"), .remove)
    storage.close()
    other.close()
    let database = try SQLiteConnection(path: path + "/values.sqlite", busyTimeoutMilliseconds: 0)
    try database.run("UPDATE store SET revision = (1 << 18) + (1 << 14) - 1")
    let forgotten: Revision = 1 << 14
    let later = try LocalStorage(path: path)
    let recent = try later.commit(key("read.1"), .remove).revision
    #expect(recent == Settling.mostCommits + forgotten)
    try later.commitPath.settle()
    #expect(try database.integer("SELECT count(*) FROM removed") == 1)
    later.close()
    let last = try LocalStorage(path: path)
    #expect(conflict { try last.commit(key("a"), .set(1), .unchanged(key("read.0"), after: forgotten - 1)) })
    #expect(conflict { try last.commit(key("a"), .set(1), .unchanged(key("read.1"), after: recent - 1)) })
    try last.commit(key("a"), .set(1), .unchanged(key("read.0"), after: forgotten))
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
    let database = LocalDatabase(StoreFolder(path: path), busyTimeoutMilliseconds: 5000)
    let (reader, journal) = try database.open()
    let connect: @Sendable () throws(StoreError) -> LocalReader = { () throws(StoreError) in try database.connect() }
    let settler = Settler(of: journal, in: database)
    let loader = IndexLoader(
      IndexView(), journal, settler, LazyConnection(reader, make: connect), scans: LazyConnection(make: connect))
    let writer = GroupWriter(journal, loader, settler)
    let results = writer.commit([first, second, third], waiting: 5000)
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
  private let page: PulsePage

  init(_ page: PulsePage) { self.page = page }

  func count(on connection: SQLiteConnection) {
    sqlite3_progress_handler(
      connection.handle, Int32(Self.interval),
      { context in
        guard let context else { return 0 }
        Unmanaged<Work>.fromOpaque(context).takeUnretainedValue().note()
        return 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  func end(on connection: SQLiteConnection) { sqlite3_progress_handler(connection.handle, 0, nil, nil) }

  private func note() {
    steps += Self.interval
    if page.owner != 0 { stepsUnderLock += Self.interval }
  }
}
