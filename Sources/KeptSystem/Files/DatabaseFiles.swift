// The files that SQLite opens by itself for a database. They are checked first, because SQLite waits for FIFOs.

import CPlatform
package import KeptValues

package enum DatabaseFiles {
  /// The database, its log, the shared memory of the log, and the rollback journal of an interrupted transaction.
  package static let suffixes = ["", "-wal", "-shm", "-journal"]

  /// Throws for files that must not be opened; returns those that exist.
  ///
  /// - Parameter isWritten: whether the files must also belong to the user.
  package static func check(_ database: String, isWritten: Bool) throws(StoreError) -> [FileIdentity] {
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
