// How a database is read in a place without write permission, and when the copy must be renewed.

import CPlatform
import KeptSystem
import KeptValues

extension StoreFolder {
  /// Whether there is a database that can only be read: the folder is not writable, or belongs to another user.
  ///
  /// Root could write in a folder of another user, but would leave files of its own there.
  var isReadOnly: Bool {
    guard FileStatus(of: database) != nil else { return false }
    return isForeign || faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0
      || faccessat(AT_FDCWD, database, W_OK, AT_EACCESS) != 0
  }

  /// Whether it belongs to another user.
  private var isForeign: Bool { FileStatus(of: path).map { $0.owner != Trust.user } == true }
}

/// The database file of a store that can only be read.
///
/// It is read as a copy, so later changes that its owner makes to the files do not affect readers.
struct ReadOnlyDatabase: Sendable {
  let folder: StoreFolder

  /// Returns the stamp that tells whether a copy is still current.
  func stamp() -> DatabaseCopy.Stamp { DatabaseCopy.Stamp(folder.database) }

  /// Copies the database.
  ///
  /// Throws if users other than its owner may change the files, and `busy` if the files keep changing until `isOver`
  /// returns true.
  func copy(
    until isOver: () throws(StoreError) -> Bool
  ) throws(StoreError) -> (reader: PatchedReader, stamp: DatabaseCopy.Stamp) {
    guard let held = OpenFolder(holding: folder.path) else { throw .system("open the folder", folder.path) }
    let status = try held.status()
    try Trust.check(sharedFolder: status, folder.path)
    func check(_ file: FileStatus, _ path: String) throws(StoreError) {
      try Trust.check(sharedFile: file, path, ofFolder: status)
    }
    while true {
      let copy = try DatabaseCopy(
        StoreFiles.database, in: held, calling: folder.database, check, until: isOver)
      let reader = try connect(copy)
      let settled = try SettledPlace.read(reader.connection)
      let tail = try JournalTail(held, after: settled, in: reader, check)
      // Frames that were settled in between may be missing in the tail.
      let isUnchanged = copy.stamp.isSameDatabase(stamp())
      if isUnchanged, !tail.isDamaged {
        return (PatchedReader(reader, tail.patches, settled, revision: tail.revision), copy.stamp)
      }
      guard try !isOver() else {
        throw isUnchanged
          ? StoreError(
            .corrupt,
            "commits in \(folder.shown) are damaged or missing; to salvage the store, open it with write access")
          : StoreError(.busy, "\(shown: folder.database) changed every time it was read; try again")
      }
      MonotonicTime.letPass(microseconds: 5000)
    }
  }

  private func connect(_ copy: DatabaseCopy) throws(StoreError) -> LocalReader {
    let connection = try SQLiteConnection(copy, of: folder.database)
    connection.limitWork(steps: LocalSchema.mostSteps)
    try connection.run("PRAGMA cell_size_check = ON")
    let reader = LocalReader(connection)
    try reader.inOneTransaction { () throws(StoreError) in
      try LocalSchema.check(connection, path: folder.path)
      // The owner may be hostile. If no page is used twice, the size bounds the amount of data.
      connection.limitWork(steps: Int64(copy.memory.count) * 10 + LocalSchema.mostSteps)
      try reader.checkTables()
      if let damage = try connection.damage() {
        throw StoreError(
          .corrupt,
          "the database in \(folder.shown) is damaged (\(damage)); to salvage the store, open it with write access")
      }
      guard try connection.hasAllPages() else {
        throw StoreError(
          .corrupt, "the database in \(folder.shown) is truncated; to salvage the store, open it with write access")
      }
    }
    return reader
  }
}
