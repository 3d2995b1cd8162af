// A file that says "SQLite has found this database damaged": whoever opens the store next, alone, mends it.

import CPlatform
import CSQLite

/// The file `damaged` in a store's folder.
enum DamageMark {
  static func path(in folder: StoreFolder) -> String { folder.path + "/damaged" }

  static func isThere(in folder: StoreFolder) -> Bool { access(path(in: folder), F_OK) == 0 }

  /// Called when a connection has met damage; what cannot be marked is found again by the next who meets it.
  static func leave(by connection: OpaquePointer) {
    guard let name = sqlite3_db_filename(connection, "main").map({ String(cString: $0) }),
      name.hasSuffix("/values.sqlite")
    else { return }
    let file = kept_open_file(path(in: StoreFolder(path: String(name.dropLast(14)))), O_WRONLY | O_CREAT, 0o600)
    if file >= 0 { close(file) }
  }

  static func remove(in folder: StoreFolder) { unlink(path(in: folder)) }
}
