// How the database of a folder is created and opened.

import KeptValues

/// The database file of one store.
///
/// Each connection belongs to its caller.
struct LocalDatabase: Sendable {
  let folder: StoreFolder
  let busyTimeoutMilliseconds: Int

  init(_ folder: StoreFolder, busyTimeoutMilliseconds: Int) {
    self.folder = folder
    self.busyTimeoutMilliseconds = busyTimeoutMilliseconds
  }

  /// Creates the folder and a database in it if they do not exist.
  func prepare() throws(StoreError) {
    try folder.prepare { path throws(StoreError) in
      try LocalSchema.create(on: SQLiteConnection(path: path, busyTimeoutMilliseconds: 0))
    }
  }

  /// Reconnects to a store; throws `unavailable` if the folder contains another store by now, or a copy of it.
  func connect(to journal: Journal) throws(StoreError) -> LocalReader {
    try journal.checkInPlace()
    return try connect { reader throws(StoreError) in
      guard try reader.storeID() == journal.store else {
        throw StoreError(.unavailable, "the store in \(folder.shown) was replaced by another; open it again")
      }
      // Only now the database is open.
      try journal.checkInPlace()
    }
  }

  /// Opens another connection.
  ///
  /// Throws `unsupported` for a database that is not ours or has another format. Rethrows the errors of `look`,
  /// which reads the same state of the database.
  func connect(_ look: (LocalReader) throws(StoreError) -> Void = { _ in }) throws(StoreError) -> LocalReader {
    try folder.checkInPlace()
    let connection = try SQLiteConnection(path: folder.database, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
    let reader = LocalReader(connection)
    do throws(StoreError) {
      connection.limitWork(steps: LocalSchema.mostSteps)
      defer { connection.limitWork(steps: 0) }
      try connection.run("PRAGMA cell_size_check = ON")
      try reader.inOneTransaction { () throws(StoreError) in
        try LocalSchema.check(connection, path: folder.path)
        try look(reader)
      }
      return reader
    } catch {
      // A database that was refused is left exactly as it was found.
      connection.leaveLog()
      throw error
    }
  }
}
