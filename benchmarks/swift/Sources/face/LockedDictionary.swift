// What a program would write itself: a dictionary behind a lock. It keeps nothing, and no other process sees it.

import Synchronization

final class LockedDictionary<Value: Sendable>: Sendable {
  private let values = Mutex<[String: Value]>([:])

  subscript(key: String) -> Value? {
    get { values.withLock { $0[key] } }
    set { values.withLock { $0[key] = newValue } }
  }
}
