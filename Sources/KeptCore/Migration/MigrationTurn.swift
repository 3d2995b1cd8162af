// Whose turn it is to migrate: one of all threads and processes that have the store open. A process that is killed
// gives its turn back, since the kernel drops the lock of the file `migration` in the store's folder.

import CPlatform

enum MigrationTurn {
  private struct Holder {
    let thread: pthread_t
    // After how many forks it took the turn: the parent's is nobody's in the child.
    let forks: UInt64
  }
  private static let holders = Monitor<[ObjectIdentifier: Holder]>([:])

  /// Runs `body` when it is this thread's turn; nil when the time is up.
  ///
  /// Throws `unsupported` inside `body` itself, for that would wait for ever.
  static func run<Result>(
    of store: SharedStore, in folder: StoreFolder?, waiting milliseconds: Int, _ body: () throws -> Result
  ) throws -> Result? {
    let end = Moment.milliseconds + Int64(milliseconds)
    guard try take(ObjectIdentifier(store), waiting: milliseconds) else { return nil }
    defer { holders.update { $0[ObjectIdentifier(store)] = nil } }
    guard let folder else { return try body() }
    let path = folder.path + "/migration"
    let file = kept_open_file(path, O_RDWR | O_CREAT, 0o600)
    guard file >= 0 else { throw StoreError.system("open", path) }
    defer { close(file) }
    let lock = PulseFile(path: path, descriptor: file)
    guard lock.lock(Int16(F_WRLCK), waiting: Int(max(0, end - Moment.milliseconds))) else { return nil }
    // A child that was forked meanwhile has the file open too: closing alone would leave the lock with it.
    defer { _ = lock.lock(Int16(F_UNLCK), waiting: 0) }
    return try body()
  }

  private static func take(_ store: ObjectIdentifier, waiting milliseconds: Int) throws(StoreError) -> Bool {
    let me = Holder(thread: pthread_self(), forks: Fork.gate.forks)
    let answer = holders.wait(milliseconds: Int64(milliseconds)) { holders -> Result<Void, StoreError>? in
      if let now = holders[store], now.forks == me.forks {
        guard pthread_equal(now.thread, me.thread) == 0 else {
          return .failure(StoreError(.unsupported, "a step cannot migrate; let the migrations end first"))
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
