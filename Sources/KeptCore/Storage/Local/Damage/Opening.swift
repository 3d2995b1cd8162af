// How a store is opened. The first process is alone with it, and repairs and recovers what the last ones have left;
// the others wait for that, and then share its journal.

import CPlatform
import KeptSystem
import KeptValues

extension LocalDatabase {
  /// Opens the database and its journal.
  ///
  /// Throws `corrupt` if the database is damaged and other processes have it open, and `busy` if another process
  /// recovers it, for longer than the timeout.
  func open() throws(StoreError) -> sending (LocalReader, Journal) {
    try prepare()
    let end = MonotonicTime.milliseconds + Int64(busyTimeoutMilliseconds)
    var (attempt, wasAlone) = (0, false)
    while true {
      let lock = try JournalLock.open(in: folder)
      do throws(StoreError) {
        // A journal that was replaced in between guards nothing.
        wasAlone = lock.takeAlone()
        if wasAlone {
          if lock.isInPlace { return try recover(lock) }
        } else if lock.join(), lock.isInPlace, let joined = try join(lock) {
          return joined
        }
      } catch {
        lock.close()
        // A process that was forked shares the lock until it executes its program: then this one may be alone soon.
        guard error.code == .corrupt, !wasAlone, MonotonicTime.milliseconds < end else { throw error }
        MonotonicTime.backOff(attempt: attempt)
        attempt += 1
        continue
      }
      lock.close()
      // The process that refused this one may have closed the store since: a second attempt needs no time left.
      guard attempt == 0 || MonotonicTime.milliseconds < end else {
        throw StoreError(
          .busy,
          "another process is still opening the store in \(folder.shown), or its journal or pulse was replaced; try "
            + "again, or first close the programs that have it open")
      }
      MonotonicTime.backOff(attempt: attempt)
      attempt += 1
    }
  }

  /// Opens a store that no other process has open; a damaged one is salvaged.
  private func recover(_ lock: JournalLock) throws(StoreError) -> (LocalReader, Journal) {
    let salvage = Salvage(folder, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
    try salvage.finish()
    // The mark comes from a process that has met damage.
    if DamageMark.isThere(in: folder) {
      if try !isSound() { try salvage.run() }
      DamageMark.remove(in: folder)
    }
    do throws(StoreError) { return try recoverWhole(lock) } catch {
      guard error.code == .corrupt else { throw error }
      try salvage.run()
      return try recoverWhole(lock)
    }
  }

  private func recoverWhole(_ lock: JournalLock) throws(StoreError) -> (LocalReader, Journal) {
    let reader = try connectToWhole()
    return (reader, try JournalRecovery(folder: folder, reader: reader).run(lock))
  }

  /// Opens a store that others have open; nil if it is not ready for that.
  private func join(_ lock: JournalLock) throws(StoreError) -> (LocalReader, Journal)? {
    guard let file = try JournalFile.read(lock.descriptor, path: lock.path) else { return nil }
    let session = try file.session()
    guard session != 0 else { return nil }
    do throws(StoreError) {
      let reader = try connectToWhole()
      let store = try reader.storeID()
      let held = try OpenFolder.own(folder.path)
      guard file.header.store == store, let page = try PulseFile.join(store, in: session, held) else { return nil }
      return (reader, Journal(lock, file, page, of: store, in: folder))
    } catch {
      guard error.code == .corrupt else { throw error }
      throw StoreError(
        .corrupt,
        "the database in \(folder.shown) is damaged, and other programs have it open; close them and open it again "
          + "to salvage the readable data")
    }
  }

  /// Connects, and checks that all pages exist and all tables are readable.
  private func connectToWhole() throws(StoreError) -> LocalReader {
    // A write to the old database would be lost with it.
    guard try !Salvage.isUnfinished(in: folder) else {
      throw StoreError(.corrupt, "the salvage of the store in \(folder.shown) was not finished; open it again")
    }
    // SQLite would remove the log of an empty database.
    guard try !folder.isCutToNothing() else {
      throw StoreError(.corrupt, "the database in \(folder.shown) is empty, but its log is not")
    }
    return try connect { reader throws(StoreError) in
      try reader.checkTables()
      guard try reader.connection.hasAllPages() else {
        throw StoreError(.corrupt, "the database in \(folder.shown) is truncated; the readable data is salvaged")
      }
    }
  }

  /// Whether the database is intact: the mark may be out of date.
  ///
  /// Throws if this cannot be determined: no other failure counts as damage.
  private func isSound() throws(StoreError) -> Bool {
    let connection: SQLiteConnection
    do throws(StoreError) { connection = try connectToWhole().connection } catch {
      guard error.code == .corrupt else { throw error }
      return false
    }
    do throws(StoreError) {
      if try connection.damage() == nil { return true }
    } catch {
      connection.leaveLog()
      guard error.code == .corrupt else { throw error }
    }
    connection.leaveLog()
    return false
  }
}
