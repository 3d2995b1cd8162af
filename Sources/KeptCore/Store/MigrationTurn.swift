// Mutual exclusion for migrating and restoring: one thread among all threads and processes that have the store open. A
// killed process releases its turn, because the kernel drops the lock of the file `migration` in the store's folder.

import CPlatform
import KeptSystem
import KeptValues

/// The exclusive turn, held until ``end()``.
final class MigrationTurn: ForkAware {
  private struct Holder {
    let turn: MigrationTurn
    let thread: pthread_t
    // The fork count when the turn was taken: the parent's turn is not valid in the child.
    let forks: UInt64
  }
  private static let holders = Monitor<[ObjectIdentifier: Holder]>([:])

  private let store: ObjectIdentifier
  // nil if there is no folder, or in the child of a fork, where the turn belongs to the parent.
  private let file = Monitor<FileLock?>(nil)

  private init(of store: ObjectIdentifier) { self.store = store }

  /// Takes the turn when it is free; nil when the time is up.
  ///
  /// Throws `unsupported` if this thread already has it, because waiting would deadlock.
  static func take(
    of store: SharedStore, in folder: StoreFolder?, waiting milliseconds: Int
  ) throws(StoreError) -> MigrationTurn? {
    let end = MonotonicTime.milliseconds + Int64(milliseconds)
    let turn = MigrationTurn(of: ObjectIdentifier(store))
    guard try turn.enter(waiting: milliseconds) else { return nil }
    do throws(StoreError) {
      if try folder.map({ folder throws(StoreError) in try turn.lock(folder, until: end) }) ?? true { return turn }
    } catch {
      turn.end()
      throw error
    }
    turn.end()
    return nil
  }

  /// Ends the turn on a store that is closed.
  ///
  /// Its step may have been left by longjmp() or a C++ exception, and then would not end it.
  static func end(of store: SharedStore) {
    let store = ObjectIdentifier(store)
    holders.read { $0[store]?.turn }?.end()
  }

  func end() {
    // A child that was created in between, by vfork for example, also has the file open: closing alone would leave the
    // lock with it.
    file.update { file in
      file?.release()
      file?.close()
      file = nil
    }
    Fork.leave(self)
    Self.holders.update { if $0[store]?.turn === self { $0[store] = nil } }
  }

  /// The lock stays with the parent, and must not outlive it here.
  func afterForkInChild() {
    file.update { file in
      file?.close()
      file = nil
    }
  }

  private func lock(_ folder: StoreFolder, until end: Int64) throws(StoreError) -> Bool {
    Fork.join(self)
    let file = try file.update { file throws(StoreError) in
      let descriptor = try OpenFolder.own(folder.path).openOrMake("migration", O_RDWR)
      let opened = FileLock(descriptor: descriptor)
      file = opened
      return opened
    }
    return file.take(waiting: Int(max(0, end - MonotonicTime.milliseconds)))
  }

  private func enter(waiting milliseconds: Int) throws(StoreError) -> Bool {
    let me = Holder(turn: self, thread: pthread_self(), forks: Fork.gate.forks)
    let answer = Self.holders.wait(milliseconds: Int64(milliseconds)) { holders -> Result<Void, StoreError>? in
      if let now = holders[store], now.forks == me.forks {
        guard pthread_equal(now.thread, me.thread) == 0 else {
          return .failure(
            StoreError(.unsupported, "a migration step cannot migrate or restore; wait until the migration has ended"))
        }
        return nil
      }
      holders[store] = me
      return .success(())
    }
    try answer?.get()
    return answer != nil
  }
}
