// A file watch across a fork: the child's state, and that both processes are notified of changes.
//
// Nothing that may run in the child, or in another thread at the fork, uses Foundation: its locks could stay held.

import Foundation
import KeptSystem

enum Forking {
  /// Forks while a file is watched, and rewrites it several times; both processes must be notified each time.
  ///
  /// - Returns: the number of inotify descriptors in the child, and the number of changes that both have received.
  static func watchInBoth(_ path: String) throws -> String {
    let (own, childs) = (try Line(), try Line())
    let parent = getpid()
    // Publishes the contents of the file to waiting threads.
    let token = FileWatch.begin(path) {
      let bytes = (try? WholeFile.bytes(of: path, atMost: 100, "the watched file")) ?? []
      (getpid() == parent ? own : childs).say(String(decoding: bytes, as: UTF8.self))
    }
    try rewrite(path, "before the fork")
    try own.wait(for: "before the fork")
    let child = try fork()
    if child == 0 {
      endSoon()
      let inherited = inotifyDescriptors()
      try FileWatch.revive()
      childs.say("inherited \(inherited)")
      while true { pause() }
    }
    defer {
      kill(child, SIGKILL)
      waitpid(child, nil, 0)
      token.end()
    }
    childs.closeWriting()
    let inherited = childs.line()
    for change in 1...5 {
      try rewrite(path, "change \(change)")
      try own.wait(for: "change \(change)")
      try childs.wait(for: "change \(change)")
    }
    return "\(inherited), both notified of 5"
  }

  /// Ensures that the child does not outlive the test, whatever it waits for.
  static func endSoon() {
    // Foundation's Process starts programs with most signals blocked.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGALRM)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    alarm(300)
  }

  /// Swift does not offer fork; only programs that handle its restrictions may call it.
  static func fork() throws -> pid_t {
    guard let address = dlsym(dlopen(nil, RTLD_NOW), "fork") else { throw CocoaError(.featureUnsupported) }
    return unsafeBitCast(address, to: (@convention(c) () -> pid_t).self)()
  }

  private static func inotifyDescriptors() -> Int {
    (0..<1024).count { descriptor in
      var target = [CChar](repeating: 0, count: 64)
      let length = readlink("/proc/self/fd/\(descriptor)", &target, target.count)
      return length > 0 && target.prefix(length).elementsEqual("anon_inode:inotify".utf8.map { CChar($0) })
    }
  }

  private static func rewrite(_ path: String, _ text: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
  }
}

/// A pipe that carries lines between processes.
struct Line: Sendable {
  private let reading, writing: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw POSIXError(.EMFILE) }
    (reading, writing) = (ends[0], ends[1])
  }

  func say(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    write(writing, bytes, bytes.count)
  }

  /// The next line; what there is of it if no process can write any more.
  func line() -> String { next().text }

  /// Reads lines up to this one.
  ///
  /// Throws if no process can write it any more.
  func wait(for text: String) throws {
    while true {
      let (line, isWhole) = next()
      if line == text { return }
      if !isWhole { throw CocoaError(.fileReadUnknown) }
    }
  }

  /// In the process that only reads, so that the end of the other one is noticed.
  func closeWriting() { close(writing) }

  private func next() -> (text: String, isWhole: Bool) {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while read(reading, &byte, 1) == 1 {
      if byte == 10 { return (String(decoding: bytes, as: UTF8.self), true) }
      bytes.append(byte)
    }
    return (String(decoding: bytes, as: UTF8.self), false)
  }
}
