// How a task sleeps: a signal sent before it sleeps wakes it too.

import Testing

@testable import Kept

@Suite(.timeLimit(.minutes(30))) struct `A signal for tasks` {
  private let signal = TaskSignal()

  @Test func `does not suspend a task that was cancelled before`() async {
    let signal = signal
    let sleeping = Task {
      while !Task.isCancelled { await Task.yield() }
      return await signal.waitForSignal()
    }
    sleeping.cancel()
    #expect(await sleeping.value == false)
  }

  @Test func `suspends no task after the end`() async {
    signal.end()
    #expect(await signal.waitForSignal() == false)
    #expect(await signal.waitForSignal() == false)
  }

  @Test func `wakes all waiting tasks, and each may wait again`() async {
    let signal = signal
    let sleepers = (0..<10).map { _ in Task { await signal.waitForSignal() } }
    sleepers[0].cancel()
    #expect(await sleepers[0].value == false)
    signal.end()
    for sleeper in sleepers { _ = await sleeper.value }
  }
}
