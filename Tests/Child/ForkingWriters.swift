// A fork while a thread of the parent waits for its turn to write into a folder.

import Foundation
import KeptCore
import Synchronization

enum ForkingWriters {
  private static let isDone = Atomic(false)

  /// Forks while a writer waits for another one, who goes on only after the fork; then both processes write.
  static func forkBesideAWriter(_ store: Store, _ path: String) throws -> String {
    let other = try DirectoryStorage(path: path)
    try other.lock()
    Thread.detachNewThread {
      do { try store.setJSON("2", forKey: "a") } catch { print(error) }
      isDone.store(true, ordering: .releasing)
    }
    while openLocks(in: path) < 2 { sched_yield() }
    let said = Pipe()
    let child = try Forking.fork()
    if child == 0 {
      // It never outlives the test.
      alarm(60)
      report(store, on: said)
      _exit(0)
    }
    let writer = isDone.load(ordering: .acquiring) ? "had given up" : "still waited"
    // The child's line comes before it writes: what it reads is older than the writer's.
    let read = Forking.line(of: said)
    other.unlock()
    let wrote = Forking.line(of: said)
    waitpid(child, nil, 0)
    while !isDone.load(ordering: .acquiring) { sched_yield() }
    return "the writer \(writer), the child \(read) and \(wrote)"
  }

  private static func report(_ store: Store, on pipe: Pipe) {
    Forking.say(outcome { "read \(try store.json(forKey: "a") ?? "nothing")" }, on: pipe)
    Forking.say(
      outcome {
        try store.setJSON("3", forKey: "b")
        return "wrote"
      }, on: pipe)
  }

  private static func outcome(_ body: () throws -> String) -> String {
    do { return try body() } catch { return "failed: \(error)" }
  }

  private static func openLocks(in path: String) -> Int {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    let targets = names.map { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
    return targets.filter { $0 == path + "/.kept-lock" }.count
  }
}
