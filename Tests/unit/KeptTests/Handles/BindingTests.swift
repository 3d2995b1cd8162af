// Waiting when a key is destroyed while another thread writes it.

import Foundation
import Testing

@testable import Kept

@Suite(.timeLimit(.minutes(30))) struct `What destroys a key` {
  private let binding: Binding
  private let log = ReceivedNotes<String>()

  init() throws { binding = Binding(try KeyName("a"), BoundType(Int.self)) }

  @Test func `waits for a running write, and lets no later one begin`() throws {
    let (begun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let arrives = DispatchSemaphore(value: 0)
    let all = DispatchGroup()
    DispatchQueue.global().async(group: all) {
      #expect(throws: Never.self) {
        try binding.write {
          begun.signal()
          mayEnd.wait()
          log.add("written")
        }
      }
    }
    begun.wait()
    DispatchQueue.global().async(group: all) {
      arrives.signal()
      #expect(throws: Never.self) { try binding.destroy { log.add("removed") } }
    }
    arrives.wait()
    // Enough time for the other thread to continue.
    for _ in 1...2000 { sched_yield() }
    mayEnd.signal()
    all.wait()
    #expect(log.all == ["written", "removed"])
    _ = failure(.closed) { try binding.write { log.add("late") } }
    #expect(log.all.count == 2)
  }
}
