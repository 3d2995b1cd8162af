// kept-engine-child fork FOLDER MODE: a store across a fork. Prints "ok", or what went wrong.
//
// Nothing that may run in the child, or in another thread at the fork, uses Foundation: its locks could stay held.

import CPlatform
import Foundation
@testable import KeptEngine
import KeptSystem
import KeptValues

@testable import KeptCore

/// A pipe that carries single bytes between processes.
struct Signals {
  private let ends: (reading: Int32, writing: Int32)

  init() {
    var ends: [Int32] = [-1, -1]
    _ = pipe(&ends)
    self.ends = (ends[0], ends[1])
  }

  func send() {
    var byte: UInt8 = 1
    _ = write(ends.writing, &byte, 1)
  }

  func await() {
    var byte: UInt8 = 0
    while read(ends.reading, &byte, 1) < 0 {}
  }
}

struct Failed: Error {
  let text: String
  init(_ text: String) { self.text = text }
}

enum Forking {
  /// Swift does not offer fork; only programs that handle its restrictions may call it.
  private static func fork() throws -> pid_t {
    guard let address = dlsym(dlopen(nil, RTLD_NOW), "fork") else { throw Failed("there is no fork") }
    return unsafeBitCast(address, to: (@convention(c) () -> pid_t).self)()
  }

  private static func forkChild(_ body: () throws -> Void) throws -> pid_t {
    let child = try fork()
    guard child == 0 else { return child }
    // It does not outlive the test, whose thread may have all signals blocked.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigprocmask(SIG_SETMASK, &signals, nil)
    alarm(120)
    do { try body() } catch {
      let text = "in the child: \(error)\n"
      kept_print_error(text, text.utf8.count)
      _exit(1)
    }
    _exit(0)
  }

  private static func awaitEnd(_ child: pid_t) throws {
    var status: Int32 = 0
    guard waitpid(child, &status, 0) == child, status == 0 else { throw Failed("a child ended with \(status)") }
  }

  private static func set(_ storage: LocalStorage, _ key: String, _ number: Int64) throws {
    var batch = Batch()
    batch.edit(try KeyName(key), .set(.int(number)))
    _ = try storage.commit(batch)
  }

  private static func expect(_ storage: LocalStorage, _ key: String, _ number: Int64) throws {
    let found = try storage.entry(for: KeyName(key))?.value
    guard found == .int(number) else { throw Failed("\(key) is \(String(describing: found)), not \(number)") }
  }

  /// Whether no process has the store open.
  private static func isClosed(_ folder: String) -> Bool {
    let descriptor = kept_open_at(AT_FDCWD, folder, O_RDONLY | O_DIRECTORY, 0)
    defer { close(descriptor) }
    return kept_engine_lock_folder(descriptor, Int32(KEPT_ENGINE_ALONE))
  }

  /// Whether this process has a file open that becomes the next checkpoint.
  private static func hasOpenDraft() -> Bool {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    for descriptor in 0..<1024 {
      let length = readlink("/proc/self/fd/\(descriptor)", &path, path.count - 1)
      guard length > 0 else { continue }
      path[length] = 0
      if strstr(path, "/.new-") != nil { return true }
    }
    return false
  }

  static func run(_ folder: String, _ mode: String) throws {
    if mode == "orphan" { return try outliveParent(folder) }
    let storage = try LocalStorage(path: folder)
    try set(storage, "a", 1)
    switch mode {
    case "using": try keepUsing(storage, folder)
    case "idle": try stayIdle(storage, folder)
    case "exec": try execute(storage, folder)
    case "recovering": try recover(storage, folder)
    case "closing": try closeUnused(storage, folder)
    case "waiting": try whileWriting(storage, folder)
    default: try underLoad(storage, rounds: Int(mode) ?? 1)
    }
    print("ok")
  }

  /// The child has locks of its own: it keeps them when the parent closes.
  private static func keepUsing(_ storage: LocalStorage, _ folder: String) throws {
    let (isUsed, end) = (Signals(), Signals())
    let child = try forkChild {
      try set(storage, "b", 2)
      // By a thread of the child.
      storage.readers.maintenance.state.wait { $0.isIdle ? () : nil }
      if storage.engine.isDirty { throw Failed("the commit is not synced") }
      isUsed.send()
      end.await()
      try set(storage, "c", 3)
      try storage.engine.checkpoint()
      try expect(storage, "a", 1)
    }
    isUsed.await()
    try expect(storage, "b", 2)
    storage.close()
    guard !isClosed(folder) else { throw Failed("the child has lost its lock") }
    // A process that joins needs a living holder.
    let other = try LocalStorage(path: folder, busyTimeoutMilliseconds: 100)
    end.send()
    try awaitEnd(child)
    try expect(other, "c", 3)
    other.close()
    guard isClosed(folder) else { throw Failed("the store is still open") }
  }

  /// The child does not use the store, and keeps no other process out.
  private static func stayIdle(_ storage: LocalStorage, _ folder: String) throws {
    let end = Signals()
    let child = try forkChild {
      end.await()
      try expect(storage, "a", 1)
      try set(storage, "b", 2)
    }
    storage.close()
    guard isClosed(folder) else { throw Failed("the child has its parent's lock") }
    let other = try LocalStorage(path: folder, busyTimeoutMilliseconds: 100)
    end.send()
    try awaitEnd(child)
    try expect(other, "b", 2)
  }

  /// The child of a process that has ended without closing the store.
  private static func outliveParent(_ folder: String) throws {
    let (isForked, end, isUsed) = (Signals(), Signals(), Signals())
    let parent = try forkChild {
      let storage = try LocalStorage(path: folder)
      try set(storage, "a", 1)
      _ = try forkChild {
        isForked.send()
        end.await()
        try expect(storage, "a", 1)
        try set(storage, "b", 2)
        isUsed.send()
      }
      withExtendedLifetime(storage) { _exit(0) }
    }
    try awaitEnd(parent)
    isForked.await()
    guard isClosed(folder) else { throw Failed("the child has its parent's lock of the folder") }
    let storage = try LocalStorage(path: folder)
    guard !storage.engine.pulse.hasOtherHolder else { throw Failed("the child has its parent's place") }
    end.send()
    isUsed.await()
    try expect(storage, "b", 2)
    print("ok")
  }

  private static func execute(_ storage: LocalStorage, _ folder: String) throws {
    let end = Signals()
    var ends: [Int32] = [-1, -1]
    _ = pipe(&ends)
    let child = try forkChild {
      dup2(ends[0], 0)
      close(ends[1])
      var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("cat"), nil]
      end.send()
      execv("/bin/cat", &arguments)
    }
    end.await()
    storage.close()
    guard isClosed(folder) else { throw Failed("the other program has its parent's lock") }
    close(ends[1])
    try awaitEnd(child)
  }

  /// Others have changed the store, and closed it, before the child uses it.
  private static func recover(_ storage: LocalStorage, _ folder: String) throws {
    let (isClosed, isUsed) = (Signals(), Signals())
    let child = try forkChild {
      isClosed.await()
      try expect(storage, "a", 3)
      try set(storage, "b", 2)
      isUsed.send()
    }
    storage.close()
    let other = try LocalStorage(path: folder)
    for number in 2...3 as ClosedRange<Int64> {
      try set(other, "a", number)
      try other.engine.checkpoint()
    }
    other.close()
    isClosed.send()
    isUsed.await()
    try awaitEnd(child)
    try expect(try LocalStorage(path: folder), "b", 2)
  }

  /// The child closes a store that it has not used.
  private static func closeUnused(_ storage: LocalStorage, _ folder: String) throws {
    try awaitEnd(forkChild { storage.close() })
    guard !isClosed(folder) else { throw Failed("the child has closed its parent's lock") }
    let other = try LocalStorage(path: folder, busyTimeoutMilliseconds: 100)
    try set(other, "a", 2)
    try expect(storage, "a", 2)
  }

  /// A thread of the parent waits for the write lock.
  private static func whileWriting(_ storage: LocalStorage, _ folder: String) throws {
    let other = try LocalStorage(path: folder)
    let isDone = Monitor(false)
    let (isRead, end) = (Signals(), Signals())
    guard other.engine.pulse.tryLockForWriting() else { throw Failed("the write lock is not free") }
    try LibraryThread.start {
      do { try set(storage, "a", 2) } catch { print("in the parent: \(error)") }
      isDone.update { $0 = true }
    }
    // The thread holds the lock of its process while it waits.
    while storage.engine.writing.tryUpdateQuietly({ _ in true }) != nil { sched_yield() }
    let child = try forkChild {
      try expect(storage, "a", 1)
      isRead.send()
      end.await()
      try expect(storage, "a", 2)
      try set(storage, "b", 2)
    }
    isRead.await()
    if isDone.read(\.self) { throw Failed("the thread did not wait") }
    other.engine.pulse.unlockForWriting()
    isDone.wait { $0 ? () : nil }
    end.send()
    try awaitEnd(child)
    try expect(storage, "b", 2)
  }

  /// Threads commit, make checkpoints, sync and read while the process forks.
  private static func underLoad(_ storage: LocalStorage, rounds: Int) throws {
    let (stop, shared) = (Monitor(false), storage)
    let (running, faults, written) = (Monitor(0), Monitor<[String]>([]), Monitor<[Int64]>([0, 0]))
    // Some that are only in the checkpoint.
    var batch = Batch()
    for number in 0..<3000 { batch.edit(try KeyName("key.\(number)"), .set(.int(7))) }
    _ = try storage.commit(batch)
    func start(_ body: @escaping @Sendable () throws -> Void) throws {
      running.update { $0 += 1 }
      try LibraryThread.start {
        do { while !stop.read(\.self) { try body() } } catch { faults.update { $0.append("\(error)") } }
        running.update { $0 -= 1 }
      }
    }
    @Sendable func isAllThere() throws {
      for (number, least) in written.read(\.self).enumerated() where least > 0 {
        guard case .int(let found)? = try shared.entry(for: KeyName("w\(number)"))?.value, found >= least else {
          throw Failed("a commit is lost")
        }
      }
      for number in stride(from: 0, to: 3000, by: 97) { try expect(shared, "key.\(number)", 7) }
    }
    // The runtime makes a generic type when it is first used. A fork meanwhile would leave its lock held in the child.
    try isAllThere()
    try storage.engine.checkpoint()
    try storage.engine.sync()
    for number in 0..<2 {
      try start {
        let value = written.read { $0[number] + 1 }
        try set(shared, "w\(number)", value)
        written.update { $0[number] = value }
      }
    }
    try start { try shared.engine.checkpoint() }
    try start { try shared.engine.sync() }
    try start { try isAllThere() }
    for round in 0..<Int64(rounds) {
      let child = try forkChild {
        if hasOpenDraft() { throw Failed("the draft of a checkpoint is open") }
        try isAllThere()
        try set(shared, "c\(round)", round)
        try expect(shared, "c\(round)", round)
        if round % 3 == 0 { try shared.engine.sync() }
        if round % 4 == 0 { try shared.engine.checkpoint() }
        if round % 2 == 0 { shared.close() }
      }
      try set(shared, "p\(round)", round)
      try awaitEnd(child)
      try expect(shared, "c\(round)", round)
    }
    stop.update { $0 = true }
    running.wait { $0 == 0 ? () : nil }
    if let fault = faults.read(\.first) { throw Failed(fault) }
    for round in 0..<Int64(rounds) {
      try expect(shared, "c\(round)", round)
      try expect(shared, "p\(round)", round)
    }
  }
}
