// Threads for tests: a number of them at once, all joined at the end, and what they share.

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

/// A value that one thread at a time uses; Thread Sanitizer does not know the lock of `Mutex`.
final class Guarded<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value

  init(_ value: Value) { self.value = value }

  func update<Result>(_ body: (inout Value) -> Result) -> Result { lock.withLock { body(&value) } }
}
