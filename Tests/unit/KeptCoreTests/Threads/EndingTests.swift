// A watch that has ended is not called any more, and the thread runs only while something is watched.

import Foundation
@testable import KeptSystem
import Testing

@Suite(.timeLimit(.minutes(30))) struct `A watch that ends` {
  let folder: TemporaryFolder
  let path: String
  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/system.json"
  }

  @Test func `begins no call after that, however the file changes`() throws {
    let writing = Monitor(true)
    let path = path
    try LibraryThread.start {
      var number = 0
      while writing.read({ $0 }) {
        number += 1
        try? Data("\(number)".utf8).write(to: URL(fileURLWithPath: path))
      }
      writing.update { $0 = true }
    }
    let violations = Monitor(0)
    for _ in 0..<20 {
      let (isEnded, calls) = (Monitor(false), Monitor(0))
      let token = FileWatch.begin(path) {
        calls.update { $0 += 1 }
        if isEnded.read({ $0 }) { violations.update { $0 += 1 } }
      }
      _ = calls.wait(milliseconds: 30_000) { $0 > 0 ? true : nil }
      token.end()
      isEnded.update { $0 = true }
    }
    writing.update { $0 = false }
    #expect(writing.wait(milliseconds: 30_000) { $0 ? true : nil } == true)
    #expect(violations.read { $0 } == 0)
  }

  @Test func `waits for a running call`() throws {
    let (step, order) = (Monitor(0), Monitor<[String]>([]))
    let token = FileWatch.begin(path) {
      step.update { $0 = 1 }
      _ = step.wait { $0 >= 2 ? true : nil }
      for _ in 0..<1000 { sched_yield() }
      order.update { $0.append("called") }
    }
    try Data("{}".utf8).write(to: URL(fileURLWithPath: path))
    #expect(step.wait(milliseconds: 30_000) { $0 == 1 ? true : nil } == true)
    step.update { $0 = 2 }
    token.end()
    order.update { $0.append("ended") }
    #expect(order.read { $0 } == ["called", "ended"])
  }

  @Test func `inside its own call does not wait for itself`() throws {
    let (own, ended) = (Monitor<FileWatch.Token?>(nil), Monitor(0))
    let token = FileWatch.begin(path) {
      own.wait { $0 }.end()
      ended.update { $0 += 1 }
    }
    own.update { $0 = token }
    try Data("1".utf8).write(to: URL(fileURLWithPath: path))
    #expect(ended.wait(milliseconds: 30_000) { $0 == 1 ? true : nil } == true)
    // Another watch of the same file is notified of the next change, and this one is not.
    let other = FollowedFile(path)
    try Data("{}".utf8).write(to: URL(fileURLWithPath: path))
    #expect(other.becomes(""))
    other.end()
    token.end()
    #expect(ended.read { $0 } == 1)
  }

  @Test func `inside the call of another ends both`() throws {
    let calls = Monitor(0)
    let first = FileWatch.begin(path + ".1") { calls.update { $0 += 1 } }
    let second = FileWatch.begin(path + ".2") {
      first.end()
      calls.update { $0 += 100 }
    }
    try Data("1".utf8).write(to: URL(fileURLWithPath: path + ".2"))
    #expect(calls.wait(milliseconds: 30_000) { $0 >= 100 ? true : nil } == true)
    second.end()
    #expect(calls.read { $0 } == 100)
  }

  @Test func `releases what its owner had captured`() {
    final class Captured: Sendable {}
    weak var captured: Captured?
    func watch() -> FileWatch.Token {
      let object = Captured()
      captured = object
      return FileWatch.begin(path) { _ = object }
    }
    let token = watch()
    #expect(captured != nil)
    token.end()
    #expect(captured == nil)
  }

  @Test func `as the last one ends the thread, and the next one has another`() throws {
    let watch = FileWatch()
    #expect(!watch.hasThread)
    for number in 1...3 {
      let (one, other) = (FollowedFile(path, by: watch), FollowedFile(path, by: watch))
      #expect(watch.hasThread)
      one.end()
      try Data("{\"values\":{\"a\":\(number)}}".utf8).write(to: URL(fileURLWithPath: path))
      #expect(other.becomes("a = \(number)"))
      #expect(watch.hasThread)
      other.end()
      let deadline = MonotonicTime.milliseconds + 30_000
      while watch.hasThread, MonotonicTime.milliseconds < deadline { sched_yield() }
      #expect(!watch.hasThread)
    }
  }
}
