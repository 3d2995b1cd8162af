// A fork while a thread of the parent waits for the write lock of a folder, and what the child can do then.

import Foundation
import Kept
import KeptCore
import Synchronization

enum ForkingWriters {
  private static let isDone = Atomic(false)

  /// The parent writes a key, its child another.
  static func duringAWrite(_ store: Store, _ path: String) throws -> String {
    try fork(during: { try store.setJSON("2", forKey: "a") }, path, reading: store) {
      try store.setJSON("3", forKey: "b")
      return "wrote"
    }
  }

  /// The parent writes through a handle that its child destroys.
  static func whileAHandleIsWritten(_ store: Store, _ path: String) throws -> String {
    let handle = try store.handle("a", of: Int.self)
    return try fork(during: { try handle.set(2) }, path, reading: store) {
      try handle.destroy()
      return "destroyed"
    }
  }

  /// The parent destroys a handle that its child writes through.
  static func whileAHandleIsDestroyed(_ store: Store, _ path: String) throws -> String {
    let handle = try store.handle("a", of: Int.self)
    return try fork(during: { try handle.destroy() }, path, reading: store) {
      try handle.set(3)
      return "wrote"
    }
  }

  /// Forks while `parents` waits for a lock on the folder.
  ///
  /// The child then reads a key, and does its part once the parent's is done.
  private static func fork(
    during parents: @escaping @Sendable () throws -> Void, _ path: String, reading store: Store,
    _ childs: () throws -> String
  ) throws -> String {
    let other = try DirectoryStorage(path: path)
    try other.lock(waiting: 5000)
    Thread.detachNewThread {
      do { try parents() } catch { print(error) }
      isDone.store(true, ordering: .releasing)
    }
    while openLocks(in: path) < 2 { sched_yield() }
    let (said, command) = (try Line(), try Line())
    let child = try Forking.fork()
    if child == 0 {
      Forking.endSoon()
      said.say(outcome { "read \(try store.json(forKey: "a") ?? "nothing")" })
      _ = command.line()
      said.say(outcome(childs))
      _exit(0)
    }
    // The child has the other end, and its end must be detected.
    said.closeWriting()
    let parent = isDone.load(ordering: .acquiring) ? "had given up" : "still waited"
    let read = said.line()
    other.unlock()
    while !isDone.load(ordering: .acquiring) { sched_yield() }
    command.say("go")
    let did = said.line()
    waitpid(child, nil, 0)
    return "the parent \(parent), the child \(read) and \(did)"
  }

  private static func outcome(_ body: () throws -> String) -> String {
    do { return try body() } catch { return "failed: \(error)" }
  }

  /// The number of descriptors that this process has of the folder's lock: a waiting writer has one.
  private static func openLocks(in path: String) -> Int {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    let targets = names.map { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
    return targets.filter { $0 == path + "/.kept-lock" }.count
  }
}
