// What SQLite's result codes mean to a program that uses Kept, and what it can do about them.

import CPlatform
import CSQLite

extension StoreError {
  /// The error for a result code, with SQLite's own words and an advice.
  ///
  /// - Parameter database: where it is, for a connection that could not be opened.
  static func sqlite(
    _ status: Int32, _ connection: OpaquePointer?, at database: String? = nil, doing what: String
  ) -> StoreError {
    let words = connection.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(status))
    let (code, advice) = meaning(of: status) ?? systemMeaning(connection, at: database)
    if code == .corrupt { connection.map(DamageMark.leave) }
    return StoreError(code, "could not \(what): SQLite says \"\(words)\"; \(advice)")
  }

  /// The error for a sync that has failed: what it was about is written, and everybody reads it.
  static func unsynced(errno error: Int32) -> StoreError {
    let (code, _) = meaning(ofSystemError: error)
    return StoreError(
      code,
      "could not sync the store to the disk: \(String(cString: strerror(error))); what was written can be read, but a "
        + "power loss may take it: check the disk, and write durably or flush again")
  }

  /// nil: the system has failed, and knows why.
  ///
  /// Only what SQLite calls corrupt, or no database, is damage (WholePages.h keeps errors of the disk apart): on
  /// anything else a store is as it was, and nothing may be replaced.
  private static func meaning(of status: Int32) -> (Code, advice: String)? {
    if kept_sqlite_lacks_memory(status) != 0 {
      return (.failed, "there is no memory for it; free some, nothing was changed")
    }
    return switch status & 0xFF {
    // The last one: a writer was stopped in the instant in which nobody can begin to read (SQLitePatience).
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL:
      (.busy, "another writer held the store for longer than the time-out; try again")
    case SQLITE_CORRUPT, SQLITE_NOTADB:
      (.corrupt, "the database is damaged; close it everywhere and open it again, and what can be read is salvaged")
    case SQLITE_FULL: meaning(ofSystemError: ENOSPC)
    case SQLITE_PERM, SQLITE_AUTH: meaning(ofSystemError: EACCES)
    case SQLITE_TOOBIG: (.tooLarge, "the value is over SQLite's own limit; store less under one key")
    // Nothing else interrupts it than the limit on its work.
    case SQLITE_INTERRUPT:
      (.unsupported, "reading it takes more work than Kept's own databases do; it was not made by Kept, give another")
    // A file that could not be opened for writing SQLite opens for reading, for whatever reason.
    case SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_READONLY: nil
    default: (.failed, "nothing was changed; try again")
    }
  }

  private static func systemMeaning(_ connection: OpaquePointer?, at database: String?) -> (Code, advice: String) {
    // SQLite forgets why a write has failed while it undoes it, and the file does not know of calls that have no file.
    let errors = connection.map { [kept_sqlite_take_reading($0).failure, sqlite3_system_errno($0)] } ?? []
    let meanings = errors.map { meaning(ofSystemError: $0) }
    if let known = meanings.first(where: { $0.0 != .unavailable }) { return known }
    let known = meanings.last ?? meaning(ofSystemError: 0)
    let opened = connection.flatMap { sqlite3_db_filename($0, "main") }
    let path = database ?? opened.flatMap { String(validatingCString: $0) }
    return path.map { meaning(ofSystemError: OpenFailure.errno(around: $0)) } ?? known
  }

  /// What an errno means, and what can be done.
  static func meaning(ofSystemError error: Int32) -> (Code, advice: String) {
    switch error {
    case ENOSPC, EDQUOT:
      (.noSpace, "the disk or the quota is full; free some space, nothing was changed")
    case EFBIG:
      (.noSpace, "this process may not write so large a file (ulimit -f); raise that limit, nothing was changed")
    case EACCES, EPERM, EROFS:
      (.denied, "check who owns the store's folder, and whether it may be written")
    case ENOMEM:
      (.failed, "there is no memory for it; free some, nothing was changed")
    case EMFILE, ENFILE:
      (.unavailable, "too many files are open; close some or raise the limit, and try again")
    case ENOENT, ENOTDIR:
      (.unavailable, "the store's folder is not there any more; put it back, or open the store again to make a new one")
    default:
      (.unavailable, "the store's folder cannot be reached now; check the disk and the path, and try again")
    }
  }
}
