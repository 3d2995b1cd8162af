// A thread that waits for a call continues when the call ends, and never waits for a thread that waits for it.

@testable import KeptSystem
import Testing

@Suite(.timeLimit(.minutes(30))) struct `A call that others wait for` {
  /// A callback that runs on a thread.
  private final class Callback: WaitTarget {
    let caller: UInt?
    init(on thread: UInt) { caller = thread }
  }

  @Test func `is not part of a cycle once it has ended`() {
    let waits = CancellationWaits()
    let (other, call) = (LibraryThread.current + 1, RunningCall())
    #expect(waits.begin(other, waitingFor: call), "another thread waits for a call of this one")
    #expect(!waits.begin(LibraryThread.current, waitingFor: Callback(on: other)), "and this one for the other: a cycle")
    call.end()
    #expect(waits.begin(LibraryThread.current, waitingFor: Callback(on: other)))
  }

  @Test func `is waited for by other threads, and not by its own`() throws {
    let (call, events) = (RunningCall(), Monitor<[String]>([]))
    call.wait()
    try LibraryThread.start {
      events.update { $0.append("waits") }
      call.wait()
      events.update { $0.append("goes on") }
    }
    #expect(events.wait(milliseconds: 60_000) { $0.isEmpty ? nil : true } == true)
    call.end()
    #expect(events.wait(milliseconds: 60_000) { $0.count == 2 ? true : nil } == true)
  }
}
