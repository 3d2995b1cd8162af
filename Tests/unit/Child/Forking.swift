// A file watch across a fork: the child's state, and that both processes are notified of changes.

import Foundation
import KeptCore

enum Forking {
  /// Forks while a file is watched, and rewrites it several times; both processes must be notified each time.
  ///
  /// - Returns: the number of inotify descriptors in the child, and the number of changes that both have received.
  static func watchInBoth(_ path: String) throws -> String {
    let (own, childs) = (Pipe(), Pipe())
    let parent = getpid()
    // Publishes the contents of the file to waiting threads.
    let token = FileWatch.begin(path) {
      // Not with Foundation: it may run at the fork, and its locks would stay held in the child.
      let bytes = (try? WholeFile.bytes(of: path, atMost: 100, "the watched file")) ?? []
      say(String(decoding: bytes, as: UTF8.self), on: getpid() == parent ? own : childs)
    }
    try rewrite(path, "before the fork")
    wait(for: "before the fork", on: own)
    let child = try fork()
    if child == 0 {
      endSoon()
      let inherited = inotifyDescriptors()
      try FileWatch.revive()
      say("inherited \(inherited)", on: childs)
      while true { pause() }
    }
    defer {
      kill(child, SIGKILL)
      waitpid(child, nil, 0)
      token.end()
    }
    let inherited = line(of: childs)
    for change in 1...5 {
      try rewrite(path, "change \(change)")
      wait(for: "change \(change)", on: own)
      wait(for: "change \(change)", on: childs)
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
    alarm(30)
  }

  /// Swift does not offer fork; only programs that handle its restrictions may call it.
  static func fork() throws -> pid_t {
    guard let address = dlsym(dlopen(nil, RTLD_NOW), "fork") else { throw CocoaError(.featureUnsupported) }
    return unsafeBitCast(address, to: (@convention(c) () -> pid_t).self)()
  }

  private static func inotifyDescriptors() -> Int {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return names.filter { name in
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
      return target?.contains("inotify") == true
    }.count
  }

  private static func rewrite(_ path: String, _ text: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
  }

  static func say(_ text: String, on pipe: Pipe) {
    let bytes = Array((text + "\n").utf8)
    write(pipe.fileHandleForWriting.fileDescriptor, bytes, bytes.count)
  }

  private static func wait(for text: String, on pipe: Pipe) { while line(of: pipe) != text {} }

  static func line(of pipe: Pipe) -> String {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while read(pipe.fileHandleForReading.fileDescriptor, &byte, 1) == 1, byte != 10 { bytes.append(byte) }
    return String(decoding: bytes, as: UTF8.self)
  }
}
