// Several writers of one folder: a writer waits for the lock and for the disk, and no other thread waits.

import Foundation
@testable import KeptSystem
@testable import KeptValues
import Testing

@testable import KeptCore

@Suite(.timeLimit(.minutes(30))) struct `The writers of a directory storage` {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/files"
  }

  @Test func `waits for a writer up to its timeout, then is busy`() throws {
    let other = try DirectoryStorage(path: path)
    let hasty = SimpleStorageAdapter(try DirectoryStorage(path: path, busyTimeoutMilliseconds: 20))
    try other.lock(waiting: 5000)
    #expect(code { try hasty.commit(key("a"), .set(1)) } == .busy)
    other.unlock()
    #expect(try hasty.commit(key("a"), .set(1)).changes.count == 1)
  }

  @Test func `keep no reader, no observer and no canceller waiting while they wait for another process`() throws {
    let other = try DirectoryStorage(path: path)
    let store = Store(storage: SimpleStorageAdapter(try DirectoryStorage(path: path, busyTimeoutMilliseconds: 20_000)))
    try store.setJSON("1", forKey: "a")
    let early = try store.observe(.prefix("")) { _ in }
    try other.lock(waiting: 5000)
    let isDone = Monitor(false)
    try LibraryThread.start {
      #expect(throws: Never.self) { try store.setJSON("2", forKey: "a") }
      isDone.update { $0 = true }
    }
    while openLocks(in: path) < 2 { MonotonicTime.backOff(attempt: 0) }
    #expect(try store.json(forKey: "a") == "1")
    let late = try store.observe(.prefix(""), initial: true) { _ in }
    early.cancel()
    late.cancel()
    #expect(isDone.read(\.self) == false, "no thread waited until the writer gave up")
    other.unlock()
    let _: Bool = isDone.wait { $0 ? true : nil }
    #expect(try store.json(forKey: "a") == "2")
    store.close()
  }

  @Test func `come one after another within a process`() async throws {
    let store = try Store.open("dir:" + path)
    await withTaskGroup(of: Void.self) { group in
      for writer in 0..<4 {
        group.addTask {
          for number in 0..<25 {
            #expect(throws: Never.self) { try store.setJSON("\(number)", forKey: "key-\(writer)") }
            #expect(throws: Never.self) {
              try store.transaction { transaction in
                let sum = try transaction.json(forKey: "sum").flatMap { Int($0) } ?? 0
                try transaction.setJSON("\(sum + 1)", forKey: "sum")
              }
            }
          }
        }
      }
    }
    #expect(try store.json(forKey: "sum") == "100")
    store.close()
  }

  @Test func `keep no fork waiting, and the child writes with locks of its own`() throws {
    let child = try ChildProcess(opening: "dir:" + path)
    #expect(try child.ask("set", "a", "1") == "ok")
    #expect(try child.ask("fork-during-a-write", path) == "the parent still waited, the child read 1 and wrote")
    #expect(try child.ask("get", "a") == "2", "of the parent")
    #expect(try child.ask("get", "b") == "3", "of its child")
    try child.finish()
  }
}

/// The number of descriptors that this process has of a folder's lock: a waiting writer has one.
private func openLocks(in path: String) -> Int {
  let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
  let targets = names.map { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
  return targets.filter { $0 == path + "/.kept-lock" }.count
}
