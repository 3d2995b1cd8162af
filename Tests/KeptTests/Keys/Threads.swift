// Threads for tests: so many at once, all of them over at the end.

import Dispatch
import Foundation

/// Runs `body` on so many threads of their own, and waits for all.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  let all = DispatchGroup()
  for index in 0..<count {
    all.enter()
    Thread {
      body(index)
      all.leave()
    }.start()
  }
  all.wait()
}
