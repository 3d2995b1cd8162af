// How the database of a folder is made, and how it is connected to.

/// The database file of one store.
///
/// Each connection is its owner's.
struct LocalDatabase: Sendable {
  let folder: StoreFolder
  let busyTimeoutMilliseconds: Int

  init(_ folder: StoreFolder, busyTimeoutMilliseconds: Int) {
    self.folder = folder
    self.busyTimeoutMilliseconds = busyTimeoutMilliseconds
  }

  /// Makes sure that the folder and a database in it are there.
  func prepare() throws(StoreError) {
    try folder.prepare { path throws(StoreError) in
      try LocalSchema.create(on: SQLiteConnection(path: path, busyTimeoutMilliseconds: 0))
    }
  }

  /// Connects again to a store; throws `unavailable` if another one is in the folder by now.
  func connect(to store: StoreID) throws(StoreError) -> LocalReader {
    try connect { reader throws(StoreError) in
      guard try reader.storeID() == store else {
        throw StoreError(.unavailable, "another store has taken the place of the one in \(folder.path); open it again")
      }
    }
  }

  /// Opens another connection; throws `unsupported` for a database that is not ours, or of a later version, and what
  /// `look` throws, which sees the database at the same moment.
  func connect(_ look: (LocalReader) throws(StoreError) -> Void = { _ in }) throws(StoreError) -> LocalReader {
    try folder.checkInPlace()
    let connection = try SQLiteConnection(path: folder.database, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
    let reader = LocalReader(connection)
    do throws(StoreError) {
      connection.limitWork(steps: LocalSchema.mostSteps)
      defer { connection.limitWork(steps: 0) }
      try connection.run("PRAGMA cell_size_check = ON")
      // As much log as 1,000 of SQLite's usual pages, which are four times as large as ours.
      connection.checkpointsAutomatically(afterPages: 4000)
      try reader.atOneMoment { () throws(StoreError) in
        try LocalSchema.check(connection, path: folder.path)
        try look(reader)
      }
      return reader
    } catch {
      // A database that was not understood is left exactly as it was found.
      connection.leaveLog()
      throw error
    }
  }
}
