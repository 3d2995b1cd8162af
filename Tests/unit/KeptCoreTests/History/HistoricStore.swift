// A store for tests of its history, which decide what the history has as one change.

@testable import KeptCore
@testable import KeptSystem
@testable import KeptValues

/// A store whose clock stands still, so that commits of the same keys become one change.
final class HistoricStore {
  let store: Store
  private let now = Monitor(MonotonicTime.nanosecondsSince1970)

  init(in folder: TemporaryFolder, _ name: String = "store") throws {
    let folder = StoreFolder(path: folder.path + "/" + name)
    let clock: @Sendable () -> Int64 = { [now] in now.read(\.self) }
    store = Store(storage: try LocalStorage(folder, busyTimeoutMilliseconds: 5000, now: clock))
  }

  /// Sets keys in one commit, which is a change of its own; null removes the key.
  func set(_ values: [(key: String, value: Value)], tag: String? = nil) throws {
    let transaction = try store.begin(tag: tag)
    for (key, value) in values {
      if value == .null {
        _ = try transaction.delete(KeyName(key))
      } else {
        _ = try transaction.put(value, for: KeyName(key), ifRevision: nil)
      }
    }
    _ = try transaction.commit()
    endChange()
  }

  /// Ends the change that commits are a part of.
  func endChange() { now.update { $0 += 2_000_000_000 } }

  /// Lets days pass; below zero, the clock was ahead before.
  func age(days: Int64) { now.update { $0 += days * 86_400_000_000_000 } }
}
