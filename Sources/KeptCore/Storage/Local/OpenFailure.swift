// What is in the way where SQLite does not say: when a call has failed it tries another one, and then knows only the
// errno of that. So its work is done again on a small scale, and the first thing that fails is the reason.

import CPlatform

enum OpenFailure {
  /// More than a new log and its shared memory take at first.
  private static let room: off_t = 64 << 10

  /// The errno that a database in a folder meets now; 0 when everything can be done.
  ///
  /// The database itself is not opened: closing it would give up the locks that SQLite has on it.
  static func errno(around database: String) -> Int32 {
    guard faccessat(AT_FDCWD, database, R_OK | W_OK, AT_EACCESS) == 0 else { return kept_errno() }
    guard let slash = database.lastIndex(of: "/") else { return 0 }
    guard let folder = OpenFolder(holding: String(database[..<slash])) else { return kept_errno() }
    // In a store of another user's nothing is made.
    guard (try? folder.status())?.owner == Trust.user else { return EACCES }
    let draft = StoreFolder.draftName()
    let file = kept_make_at(folder.descriptor, draft)
    guard file >= 0 else { return kept_errno() }
    defer {
      folder.remove(draft)
      close(file)
    }
    let allocated = kept_allocate(file, room)
    if allocated != 0 { return allocated }
    return fsync(file) == 0 ? 0 : kept_errno()
  }
}
