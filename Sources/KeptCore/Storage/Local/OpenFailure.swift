// Finds the cause of a failed open that SQLite does not report: after a failed call SQLite tries another one, and keeps
// only the errno of that. So its steps are repeated here on a small scale, and the first failure is the cause.

import CPlatform
import KeptSystem
import KeptValues

enum OpenFailure {
  /// More than a new log and its shared memory take at first.
  private static let room: off_t = 64 << 10

  /// Returns why the first file of a database cannot be opened, and the remedy; nil if all can be.
  static func file(of database: String) -> (StoreError.Code, advice: String)? {
    guard kept_is_folder(PathWalk.parent(of: database)) == 1 else { return nil }
    for path in DatabaseFiles.suffixes.map({ database + $0 }) {
      guard faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) != 0 else { continue }
      let error = kept_errno()
      if error == ENOENT, path == database {
        return (
          .unavailable,
          "the file was removed from the store's folder; put it back, or close the store everywhere and open it "
            + "again to salvage the contents of its journal"
        )
      }
      // Without the right to search the folder, nothing is known of the file.
      if error == EACCES, FileStatus(of: path) != nil {
        let name = PathWalk.name(of: path)
        return (.denied, "this user cannot read and write the file \(shown: name); check its owner and its mode")
      }
    }
    return nil
  }

  /// Returns the errno that opening the database in a folder meets now; 0 if every step succeeds.
  ///
  /// The database itself is not opened, because closing it would release SQLite's locks on it.
  static func errno(around database: String) -> Int32 {
    guard faccessat(AT_FDCWD, database, R_OK | W_OK, AT_EACCESS) == 0 else { return kept_errno() }
    guard let slash = database.utf8.lastIndex(of: UInt8(ascii: "/")) else { return 0 }
    guard let folder = OpenFolder(holding: String(Substring(database.utf8[..<slash]))) else { return kept_errno() }
    // No file is created in a store of another user.
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
