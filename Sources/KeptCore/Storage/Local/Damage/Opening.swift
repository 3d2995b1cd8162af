// How a store is opened. No process connects to a database while another one repairs it. A damaged database is repaired
// by the first process that has exclusive access.

import CPlatform

extension LocalDatabase {
  /// Opens the database and its pulse; a damaged database is set aside first, and its readable content is salvaged.
  ///
  /// Throws `corrupt` if it is damaged and other processes have it open.
  func open() throws(StoreError) -> sending (LocalReader, Pulse) {
    try prepare()
    let file = try PulseFile.open(in: folder, waiting: busyTimeoutMilliseconds)
    do throws(StoreError) {
      // The mark comes from a process that met damage; repair can wait until no other process has the store open.
      let isUnfinished = try Salvage.isUnfinished(in: folder)
      if isUnfinished || DamageMark.isThere(in: folder) {
        _ = try repair(file, waiting: Self.patienceMilliseconds)
      }
      do throws(StoreError) {
        return try enter(file)
      } catch {
        guard error.code == .corrupt else { throw error }
        return try enterMended(file)
      }
    } catch {
      file.close()
      throw error
    }
  }

  /// Opens a damaged store after repairing it, or after another process that met the damage has repaired it.
  private func enterMended(_ file: PulseFile) throws(StoreError) -> sending (LocalReader, Pulse) {
    let end = MonotonicTime.milliseconds + Int64(busyTimeoutMilliseconds)
    repeat {
      if try repair(file, waiting: Self.patienceMilliseconds) { return try enter(file) }
      do throws(StoreError) { return try enter(file) } catch {
        guard error.code == .corrupt else { throw error }
      }
    } while MonotonicTime.milliseconds < end
    throw StoreError(
      .corrupt,
      "the database in \(folder.path) is damaged, and other programs have it open; close them and open it again, "
        + "and what can be read is salvaged")
  }

  /// How long one attempt waits for exclusive access before it checks whether another process has repaired the store.
  private static let patienceMilliseconds = 50

  private func enter(_ file: PulseFile) throws(StoreError) -> sending (LocalReader, Pulse) {
    let reader = try connectToWhole()
    return (reader, try file.pulse(of: reader.storeID()))
  }

  /// Connects, and checks that all pages exist and all tables are readable.
  private func connectToWhole() throws(StoreError) -> LocalReader {
    // A write to the old database would be lost with it.
    guard try !Salvage.isUnfinished(in: folder) else {
      throw StoreError(.corrupt, "the salvage of the store in \(folder.path) was not finished; open it again")
    }
    // SQLite would remove the log of an empty database.
    guard try !folder.isCutToNothing() else {
      throw StoreError(.corrupt, "the database in \(folder.path) is empty, and its log is not")
    }
    return try connect { reader throws(StoreError) in
      try reader.checkTables()
      guard try reader.connection.hasAllPages() else {
        throw StoreError(.corrupt, "the database in \(folder.path) was cut off; what can be read is salvaged")
      }
    }
  }

  /// Repairs the store if no other process has it open; returns false otherwise.
  private func repair(_ file: PulseFile, waiting milliseconds: Int) throws(StoreError) -> Bool {
    // Two processes that both want exclusive access must not wait for each other: the shared lock is released first.
    _ = file.lock(Int16(F_UNLCK), waiting: 0)
    let isAlone = file.lock(Int16(F_WRLCK), waiting: milliseconds)
    if isAlone {
      let salvage = Salvage(folder, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
      try salvage.finish()
      if try !isSound() { try salvage.run() }
      DamageMark.remove(in: folder)
    }
    guard file.lock(Int16(F_RDLCK), waiting: busyTimeoutMilliseconds) else {
      throw StoreError(.busy, "another process is salvaging the store in \(folder.path); try again")
    }
    return isAlone
  }

  /// Whether the database is intact: another process may have repaired it meanwhile, and the mark may be out of date.
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
