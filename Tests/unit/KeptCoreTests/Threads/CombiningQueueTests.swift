// Requests that arrive while a batch is processed are served together by the next batch.

import Foundation
@testable import KeptSystem
import Testing

@Suite(.timeLimit(.minutes(30))) struct `CombiningQueue of work` {
  /// A batch that blocks until the test releases it, so that others can arrive.
  private let gate = Monitor((begun: 0, mayGoOn: 0))
  private let served = Monitor<[[Int]]>([])

  /// Answers each request with its double.
  private func rounds() -> CombiningQueue<Int, Int> {
    CombiningQueue { [gate, served] requests in
      let own = gate.update { gate in
        gate.begun += 1
        return gate.begun
      }
      _ = gate.wait(milliseconds: 60_000) { $0.mayGoOn >= own ? true : nil }
      served.update { $0.append(requests) }
      return requests.map { $0 * 2 }
    }
  }

  private func start(_ request: Int, _ rounds: CombiningQueue<Int, Int>, _ answers: Monitor<[Int: Int]>) throws {
    try LibraryThread.start {
      let answer = rounds.serve(request)
      answers.update { $0[request] = answer }
    }
  }

  @Test func `runs one alone, and returns its result`() {
    gate.update { $0.mayGoOn = .max }
    let rounds = rounds()
    #expect((1...3).map(rounds.serve) == [2, 4, 6])
    #expect(served.read { $0 } == [[1], [2], [3]])
  }

  @Test func `runs those together that come while one runs, each with its own result`() throws {
    let (rounds, answers) = (rounds(), Monitor<[Int: Int]>([:]))
    try start(0, rounds, answers)
    #expect(gate.wait(milliseconds: 60_000) { $0.begun == 1 ? true : nil } == true)
    for request in 1...7 { try start(request, rounds, answers) }
    // Until they wait: this count is the only sign of a request for a batch that has not begun.
    while rounds.waiting < 7 { sched_yield() }
    #expect(answers.read { $0.isEmpty })
    gate.update { $0.mayGoOn = .max }
    #expect(answers.wait(milliseconds: 60_000) { $0.count == 8 ? true : nil } == true)
    #expect(answers.read { $0 } == Dictionary(uniqueKeysWithValues: (0...7).map { ($0, $0 * 2) }))
    #expect(served.read { $0.map { $0.sorted() } } == [[0], Array(1...7)])
  }

  @Test func `never runs two at a time, and loses none, however many threads submit`() throws {
    let (atWork, overlaps, sum) = (Monitor(0), Monitor(0), Monitor((total: 0, ended: 0)))
    let rounds = CombiningQueue<Int, Int> { requests in
      atWork.update { $0 += 1 }
      if atWork.read({ $0 > 1 }) { overlaps.update { $0 += 1 } }
      defer { atWork.update { $0 -= 1 } }
      return requests.map { $0 * 2 }
    }
    for thread in 1...8 {
      try LibraryThread.start {
        var wrong = 0
        for step in 0..<5000 where rounds.serve(thread * step) != 2 * thread * step { wrong += 1 }
        sum.update { $0 = ($0.total + wrong, $0.ended + 1) }
      }
    }
    #expect(sum.wait(milliseconds: 120_000) { $0.ended == 8 ? true : nil } == true)
    #expect(sum.read { $0.total } == 0)
    #expect(overlaps.read { $0 } == 0)
  }
}
