// How a task sleeps: a signal sent before it sleeps wakes it too.

import Testing

@testable import Kept

@Suite(.timeLimit(.minutes(5))) struct `A bell for tasks` {
  private let bell = TaskSignal()

  @Test func `does not let a task sleep that was cancelled before`() async {
    let bell = bell
    let sleeping = Task {
      while !Task.isCancelled { await Task.yield() }
      return await bell.waitForRing()
    }
    sleeping.cancel()
    #expect(await sleeping.value == false)
  }

  @Test func `lets nobody sleep any more after the end`() async {
    bell.end()
    #expect(await bell.waitForRing() == false)
    #expect(await bell.waitForRing() == false)
  }

  @Test func `wakes all who sleep, and those who were not meant may sleep again`() async {
    let bell = bell
    let sleepers = (0..<10).map { _ in Task { await bell.waitForRing() } }
    sleepers[0].cancel()
    #expect(await sleepers[0].value == false)
    bell.end()
    for sleeper in sleepers { _ = await sleeper.value }
  }
}
