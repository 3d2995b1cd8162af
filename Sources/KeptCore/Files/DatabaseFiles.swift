// The files that SQLite opens by itself for a database: looked at before it does, since it waits for FIFOs.

import CPlatform

enum DatabaseFiles {
  /// The database, its log, the shared memory of the log, and what an interrupted transaction would leave.
  static let suffixes = ["", "-wal", "-shm", "-journal"]

  /// Throws for what must not be opened; gives the files that are there.
  ///
  /// - Parameter isWritten: they must be the user's own, too.
  static func check(_ database: String, isWritten: Bool) throws(StoreError) -> [FileIdentity] {
    var identities: [FileIdentity] = []
    for suffix in suffixes {
      let path = database + suffix
      guard let file = FileStatus(of: path) else { continue }
      if isWritten { try Trust.check(ownFile: file, path) } else { try Trust.check(regular: file, path) }
      identities.append(file.identity)
    }
    return identities
  }
}
