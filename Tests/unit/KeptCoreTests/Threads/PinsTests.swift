// Closing waits for the readers of an object, however many others come.

@testable import KeptSystem
import Testing

@Suite(.timeLimit(.minutes(30))) struct `A thread that waits for readers` {
  private let pins = Pins()
  private let events = Monitor<Set<String>>([])

  private func note(_ event: String) { events.update { _ = $0.insert(event) } }
  private func wait(for event: String) -> Bool {
    events.wait(milliseconds: 60_000) { $0.contains(event) ? true : nil } == true
  }

  @Test(arguments: [false, true]) func `does not wait for those that begin later`(again: Bool) throws {
    if again { pins.awaitAll() }
    #expect(pins.usesSecondSet == again)
    try LibraryThread.start {
      pins.hold {
        note("an early reader is inside")
        _ = wait(for: "a later reader is inside")
      }
      note("the early reader has left")
    }
    #expect(wait(for: "an early reader is inside"))
    try LibraryThread.start {
      pins.awaitAll()
      #expect(events.read { $0.contains("the early reader has left") || $0.contains("a later reader is inside") })
      note("the wait is over")
    }
    while pins.usesSecondSet == again { MonotonicTime.letPass(microseconds: 100) }
    #expect(events.read { !$0.contains("the wait is over") })
    pins.hold {
      note("a later reader is inside")
      #expect(wait(for: "the wait is over"))
    }
    pins.awaitAll()
  }
}
