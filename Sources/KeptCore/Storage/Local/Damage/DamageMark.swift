// A file that says "SQLite has found this database damaged": whoever opens the store next, alone, mends it.

import CPlatform
import CSQLite

/// The file `damaged` in a store's folder.
enum DamageMark {
  private static let name = "damaged"

  /// What is no regular file is no mark.
  static func isThere(in folder: StoreFolder) -> Bool {
    FileStatus(of: folder.path + "/" + name).map { $0.otherKind == nil } == true
  }

  /// Called when a connection has met damage; what cannot be marked is found again by the next who meets it.
  static func leave(by connection: OpaquePointer) {
    guard let name = sqlite3_db_filename(connection, "main").flatMap({ String(validatingCString: $0) }),
      name.hasSuffix("/values.sqlite")
    else { return }
    guard let folder = try? OpenFolder.own(String(name.dropLast(14))),
      let file = try? folder.openOrMake(Self.name, O_WRONLY)
    else { return }
    close(file)
  }

  static func remove(in folder: StoreFolder) { unlink(folder.path + "/" + name) }
}
