// How a database is read where nothing may be written, and when that has to be done anew.

import CPlatform

extension StoreFolder {
  /// Whether there is a database that may be read, in a place where nothing may be written, or that is another user's:
  /// root could write there, and would leave files of its own.
  var isReadOnly: Bool {
    guard FileStatus(of: database) != nil else { return false }
    return isForeign || faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0
      || faccessat(AT_FDCWD, database, W_OK, AT_EACCESS) != 0
  }

  /// Whether it belongs to another user.
  private var isForeign: Bool { FileStatus(of: path).map { $0.owner != Trust.user } == true }
}

/// The database file of a store that may only be read.
///
/// It is read as a copy: what its owner does to the files meanwhile reaches no reader.
struct ReadOnlyDatabase: Sendable {
  let folder: StoreFolder

  /// What tells whether a copy is still the same.
  func stamp() -> DatabaseCopy.Stamp { DatabaseCopy.Stamp(folder.database) }

  /// Copies the database; throws where others than its owner may change what is read, and `busy` if it is changed all
  /// the time until it is over.
  func copy(
    until isOver: () throws(StoreError) -> Bool
  ) throws(StoreError) -> (reader: LocalReader, stamp: DatabaseCopy.Stamp) {
    guard let held = OpenFolder(holding: folder.path) else { throw .system("open the folder", folder.path) }
    let status = try held.status()
    try Trust.check(sharedFolder: status, folder.path)
    let copy = try DatabaseCopy(
      StoreFolder.databaseName, in: held, calling: folder.database,
      { file, path throws(StoreError) in try Trust.check(sharedFile: file, path, ofFolder: status) }, until: isOver)
    return (try connect(copy), copy.stamp)
  }

  private func connect(_ copy: DatabaseCopy) throws(StoreError) -> LocalReader {
    let connection = try SQLiteConnection(copy, of: folder.database)
    connection.limitWork(steps: LocalSchema.mostSteps)
    try connection.run("PRAGMA cell_size_check = ON")
    let reader = LocalReader(connection)
    try reader.atOneMoment { () throws(StoreError) in
      try LocalSchema.check(connection, path: folder.path)
      // The owner may be hostile. Where no page is used twice, what there is to read is bounded by the size.
      connection.limitWork(steps: Int64(copy.memory.count) * 10 + LocalSchema.mostSteps)
      try reader.checkTables()
      if let damage = try connection.damage() {
        throw StoreError(
          .corrupt, "the database in \(folder.path) is damaged (\(damage)); a user who may write must open it")
      }
      guard try connection.hasAllPages() else {
        throw StoreError(.corrupt, "the database in \(folder.path) was cut off; a user who may write must open it")
      }
    }
    return reader
  }
}
