// A file that marks a database as damaged, because SQLite has found damage in it. The next process that opens the store
// with exclusive access repairs it.

import CPlatform
import CSQLite
import KeptSystem
import KeptValues

/// The file `damaged` in a store's folder.
enum DamageMark {
  static let name = "damaged"

  /// Whether the mark exists; only a regular file counts.
  static func isThere(in folder: StoreFolder) -> Bool {
    FileStatus(of: folder.path + "/" + name).map { $0.otherKind == nil } == true
  }

  /// Leaves the mark when a connection has met damage; if this fails, the next connection that meets it marks it.
  static func leave(by connection: OpaquePointer) {
    guard let name = sqlite3_db_filename(connection, "main").flatMap({ String(validatingCString: $0) }),
      name.ends(with: "/values.sqlite")
    else { return }
    guard let folder = try? OpenFolder.own(String(Substring(name.utf8.dropLast(14)))),
      let file = try? folder.openOrMake(Self.name, O_WRONLY)
    else { return }
    close(file)
  }

  static func remove(in folder: StoreFolder) { unlink(folder.path + "/" + name) }
}
