// A fork waits until no thread is inside; other threads wait with it only briefly, however long a thread stays inside.

@testable import KeptSystem
import Testing

@Suite(.timeLimit(.minutes(30))) struct `The gate that a fork closes` {
  private let gate = ForkGate()
  private let events = Monitor<Set<String>>([])

  private func happened(_ event: String) -> Bool? { events.read { $0.contains(event) ? true : nil } }
  private func note(_ event: String) { events.update { _ = $0.insert(event) } }
  private func wait(for event: String) -> Bool? {
    events.wait(milliseconds: 60_000) { $0.contains(event) ? true : nil }
  }

  @Test func `lets others in and out while a fork waits for a thread that stays inside`() throws {
    try LibraryThread.start {
      gate.enter()
      note("one stays inside")
      _ = wait(for: "others were inside")
      gate.leave()
    }
    #expect(wait(for: "one stays inside") == true)
    try LibraryThread.start {
      note("a fork begins")
      gate.close()
      note("the gate is closed")
      gate.open()
      note("the gate is open")
    }
    #expect(wait(for: "a fork begins") == true)
    // Enough iterations that the gate was closed in between.
    for _ in 0..<100 {
      gate.enter()
      #expect(happened("the gate is closed") == nil)
      gate.leave()
      MonotonicTime.letPass(microseconds: 100)
    }
    note("others were inside")
    #expect(wait(for: "the gate is open") == true)
    gate.enter()
    gate.leave()
  }

  @Test func `keeps every thread out until it is opened`() throws {
    gate.close()
    try LibraryThread.start {
      note("one comes")
      gate.enter()
      note("one is inside")
      gate.leave()
    }
    #expect(wait(for: "one comes") == true)
    for _ in 0..<10 { MonotonicTime.letPass(microseconds: 1000) }
    #expect(happened("one is inside") == nil)
    gate.open()
    #expect(wait(for: "one is inside") == true)
  }
}
