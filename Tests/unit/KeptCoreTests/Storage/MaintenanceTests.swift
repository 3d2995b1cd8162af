// The maintenance of an open store: what its thread does, and when there is one.

import Foundation
import KeptSystem
import KeptValues
import Testing

@testable import KeptCore
@testable import KeptEngine

@Suite(.timeLimit(.minutes(5))) struct MaintenanceTests {
  private let folder: LocalFolder
  init() throws { folder = try LocalFolder() }

  private func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: folder.path + "/" + name) }

  @Test func `commits are synced, a long journal becomes a checkpoint, and the thread sleeps`() throws {
    let storage = try folder.open()
    let maintenance = storage.readers.maintenance
    #expect(try storage.value(key("a")) == nil)
    #expect(maintenance.state.read { $0.isIdle && !$0.hasThread }, "a store that is only read has no thread")
    try storage.commit(key("a"), .set(1))
    maintenance.awaitIdle()
    #expect(!storage.engine.isDirty)
    #expect(has("journal.0"))
    try storage.commit(key("a"), .set(.bytes(Array(repeating: 1, count: 100_000))))
    maintenance.awaitIdle()
    #expect(!storage.engine.isDirty)
    #expect(has("journal.1") && !has("journal.0"))
  }

  @Test func `a journal that grows fast does not wait for a second`() throws {
    let storage = try folder.open()
    let maintenance = storage.readers.maintenance
    // No thread does the work before the time for it is read.
    maintenance.state.update { $0.hasThread = true }
    for number in 0..<20 { try storage.commit(key("a\(number)"), .set(.bytes(Array(repeating: 1, count: 1 << 20)))) }
    let due = try #require(maintenance.state.read(\.due))
    #expect(due <= MonotonicTime.milliseconds)
    maintenance.afterForkInChild()
    try storage.commit(key("a"), .set(1))
    maintenance.awaitIdle()
    #expect(!has("journal.0"))
  }

  @Test func `commits of a process that has ended are synced by another one`() throws {
    let (storage, waiting) = (try folder.open(), try folder.open())
    try {
      let ended = try Engine(try OpenFolder.own(folder.path))
      try ended.commit { chain, frames throws(StoreError) in
        try frames.begin(KeptEngine.FrameHead(writer: 1, revision: chain.revision + 1, time: 0))
        try frames.add(.int(1), for: KeyName("a"))
        try frames.end()
      }
    }()
    #expect(storage.engine.isDirty)
    #expect(try storage.value(key("a")) == 1)
    storage.readers.maintenance.awaitIdle()
    #expect(!storage.engine.isDirty)
    // A process that joins, or waits, takes care of them as well.
    storage.readers.maintenance.end()
    try storage.commit(key("a"), .set(2))
    let joined = try folder.open()
    joined.readers.maintenance.awaitIdle()
    #expect(!storage.engine.isDirty)
    joined.readers.maintenance.end()
    try storage.commit(key("a"), .set(3))
    #expect(storage.engine.isDirty)
    #expect(try waiting.wait(after: 0))
    waiting.readers.maintenance.awaitIdle()
    #expect(!storage.engine.isDirty)
    withExtendedLifetime([storage, joined, waiting]) {}
  }

  @Test func `with journals that are too long, no commit begins`() throws {
    let (storage, other) = (try folder.open(), try folder.open())
    let draft = folder.path + "/.new-values"
    var batch = Batch()
    batch.busyTimeoutMilliseconds = 1
    batch.edit(try key("a"), .set(1))
    // No thread makes a checkpoint in the meantime.
    storage.readers.maintenance.end()
    other.readers.maintenance.end()
    try storage.commit(key("b"), .set(1))
    #expect(try key("b").withPrepared { storage.put(2, for: $0, .shared, tag: nil) } != nil)
    for number in 0..<64 { try storage.commit(key("a\(number)"), .set(.bytes(Array(repeating: 1, count: 1 << 20)))) }
    #expect(other.engine.pulse.takeCheckpointing())
    let error = #expect(throws: StoreError.self) { try storage.commit(batch) }
    #expect(error?.code == .busy)
    #expect(try key("b").withPrepared { storage.put(3, for: $0, .shared, tag: nil) } == nil)
    other.engine.pulse.releaseCheckpointing()
    mkdir(draft, 0o700)
    for _ in 0..<2 {
      let error = #expect(throws: StoreError.self) { try storage.commit(batch) }
      #expect(error?.code == .unavailable)
      #expect(error?.message.contains("create a file") == true)
    }
    #expect(try storage.value(key("a63")) != nil, "it is read")
    rmdir(draft)
    storage.engine.failed.updateQuietly { $0 = FailedCheckpoints() }
    _ = try storage.commit(batch)
    #expect(!has("journal.0"))
  }

  @Test func `a durable commit that is refused is not in a folder that was moved`() throws {
    let storage = try folder.open()
    try storage.commit(key("a"), .set(1))
    #expect(rename(folder.path, folder.path + "-moved") == 0)
    var batch = Batch()
    batch.durability = .durable
    batch.edit(try key("a"), .set(2))
    let error = #expect(throws: StoreError.self) { try storage.commit(batch) }
    #expect(error?.code == .unavailable)
    #expect(rename(folder.path + "-moved", folder.path) == 0)
    #expect(try storage.value(key("a")) == 1)
  }

  @Test func `the thread keeps no store open, and ends with it`() throws {
    weak var weakly: LocalStorage?
    var maintenance: MaintenanceThread?
    try {
      let storage = try folder.open()
      try storage.commit(key("a"), .set(1))
      (weakly, maintenance) = (storage, storage.readers.maintenance)
      #expect(maintenance?.state.read(\.hasThread) == true)
    }()
    #expect(weakly == nil)
    maintenance?.state.wait { $0.hasThread ? nil : () }
  }
}

extension MaintenanceThread {
  func awaitIdle() { state.wait { $0.isIdle ? () : nil } }
}
