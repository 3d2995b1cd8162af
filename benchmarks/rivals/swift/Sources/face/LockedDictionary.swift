// The simplest alternative, written in the program: a dictionary behind a lock. It stores nothing, and no other process
// sees it.

import Synchronization

final class LockedDictionary<Value: Sendable>: Sendable {
  private let values = Mutex<[String: Value]>([:])

  subscript(key: String) -> Value? {
    get { values.withLock { $0[key] } }
    set { values.withLock { $0[key] = newValue } }
  }
}

struct LockedDictionaries {
  let numbers = LockedDictionary<Int>()
  let texts = LockedDictionary<String>()

  init() {
    for (name, number) in zip(Names.others, 0...) { numbers[name] = number }
    numbers[Names.volume] = 70
    texts[Names.device] = Names.deviceText
  }

  @inline(never) func get(_ count: Int) { for _ in 0..<count { blackHole(numbers[Names.volume] ?? 0) } }
  @inline(never) func getAbsent(_ count: Int) { for _ in 0..<count { blackHole(numbers[Names.absent] ?? 1) } }
  @inline(never) func getText(_ count: Int) {
    for _ in 0..<count { blackHole(texts[Names.device]?.utf8.count ?? 0) }
  }

  @inline(never) func set(_ count: Int) { for value in 0..<count { numbers[Names.volume] = value } }
}
