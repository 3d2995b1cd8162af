// Threads for tests: a number of them at once, all joined at the end.

import Dispatch
import Foundation

/// Runs `body` on `count` new threads, and waits for all of them.
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
