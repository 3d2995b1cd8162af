// How a store is entered: nobody connects to a database that somebody else is mending, and a damaged one is mended by
// the first who has it alone.

import CPlatform

extension LocalDatabase {
  /// Opens the database and its pulse; a damaged database is set aside first, and what can be read is salvaged.
  ///
  /// Throws `corrupt` if it is damaged and others have it open.
  func open() throws(StoreError) -> sending (LocalReader, Pulse) {
    try prepare()
    let file = try PulseFile.open(in: folder, waiting: busyTimeoutMilliseconds)
    do throws(StoreError) {
      // Marked by a process that met damage: it can wait until no other has the store open.
      let isUnfinished = try Salvage.isUnfinished(in: folder)
      if isUnfinished || DamageMark.isThere(in: folder) {
        _ = try mend(file, waiting: Self.patienceMilliseconds)
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

  /// Mends a damaged store and enters it; or enters it when one of the others who meet the damage now has mended it.
  private func enterMended(_ file: PulseFile) throws(StoreError) -> sending (LocalReader, Pulse) {
    let end = MonotonicTime.milliseconds + Int64(busyTimeoutMilliseconds)
    repeat {
      if try mend(file, waiting: Self.patienceMilliseconds) { return try enter(file) }
      do throws(StoreError) { return try enter(file) } catch {
        guard error.code == .corrupt else { throw error }
      }
    } while MonotonicTime.milliseconds < end
    throw StoreError(
      .corrupt,
      "the database in \(folder.path) is damaged, and other programs have it open; close them and open it again, "
        + "and what can be read is salvaged")
  }

  /// How long one waits to be alone before looking whether another has mended the store, and has it open now.
  private static let patienceMilliseconds = 50

  private func enter(_ file: PulseFile) throws(StoreError) -> sending (LocalReader, Pulse) {
    let reader = try connectToWhole()
    return (reader, try file.pulse(of: reader.storeID()))
  }

  /// Connects, and looks whether all pages are there and all tables can be asked.
  private func connectToWhole() throws(StoreError) -> LocalReader {
    // What would be written to the old database now would be lost with it.
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

  /// Mends the store if this is the only one that has it open; false if it is not.
  private func mend(_ file: PulseFile, waiting milliseconds: Int) throws(StoreError) -> Bool {
    // Two who both want to be alone must not wait for each other: the shared lock is given back first.
    _ = file.lock(Int16(F_UNLCK), waiting: 0)
    let isAlone = file.lock(Int16(F_WRLCK), waiting: milliseconds)
    if isAlone {
      let salvage = Salvage(folder, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
      try salvage.finish()
      if try !isSound() { try salvage.run() }
      DamageMark.remove(in: folder)
    }
    guard file.lock(Int16(F_RDLCK), waiting: busyTimeoutMilliseconds) else {
      throw StoreError(.busy, "the store in \(folder.path) is being mended by another process; try again")
    }
    return isAlone
  }

  /// Another process may have mended it meanwhile, and a mark may be an old one.
  ///
  /// Throws where it cannot be told: only damage is damage.
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
