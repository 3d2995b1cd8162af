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

  /// Connects again; throws `unavailable` if another database is in the folder by now.
  func connect(to store: StoreID) throws(StoreError) -> SQLiteConnection {
    let connection = try connect()
    guard try LocalReader(connection).storeID() == store else {
      throw StoreError(.unavailable, "another store has taken the place of the one in \(folder.path); open it again")
    }
    return connection
  }

  /// Opens another connection; throws `unsupported` for a database that is not ours, or of a later version.
  func connect() throws(StoreError) -> SQLiteConnection {
    let connection = try SQLiteConnection(path: folder.database, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
    do throws(StoreError) {
      // 4,000 of our pages are as much log as 1,000 of SQLite's usual ones.
      try connection.run(
        "PRAGMA cell_size_check = ON; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 4000")
      try LocalSchema.check(connection, path: folder.path)
    } catch {
      // A database that was not understood is left exactly as it was found.
      connection.leaveLog()
      throw error
    }
    return connection
  }
}
