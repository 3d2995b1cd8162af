// Who waits for whom where a key is destroyed while another thread writes it.

import Dispatch
import Synchronization
import Testing

@testable import Kept

@Suite(.timeLimit(.minutes(1))) struct `row 6: what destroys a key` {
  private let binding: Binding
  private let log = Mutex<[String]>([])

  init() throws { binding = Binding(try KeyName("a"), BoundType(Int.self)) }

  private func note(_ words: String) { log.withLock { $0.append(words) } }

  @Test func `row 6: waits for the write that runs, and lets no later one begin`() throws {
    let (begun, mayEnd, arrives) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let all = DispatchGroup()
    DispatchQueue.global().async(group: all) {
      #expect(throws: Never.self) {
        try binding.write {
          begun.signal()
          mayEnd.wait()
          note("written")
        }
      }
    }
    begun.wait()
    DispatchQueue.global().async(group: all) {
      arrives.signal()
      #expect(throws: Never.self) { try binding.destroy { note("removed") } }
    }
    arrives.wait()
    // It would have had the time.
    for _ in 1...2000 { sched_yield() }
    mayEnd.signal()
    all.wait()
    #expect(log.withLock { $0 } == ["written", "removed"])
    _ = failure(.closed) { try binding.write { note("late") } }
    #expect(log.withLock { $0.count } == 2)
  }
}
