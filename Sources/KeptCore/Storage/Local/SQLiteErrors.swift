// The meaning of SQLite's result codes for a program that uses Kept, and the remedies.

import CPlatform
import CSQLite
import KeptSystem
import KeptValues

extension StoreError {
  /// Returns the error for a result code, with SQLite's message and advice.
  ///
  /// - Parameter database: the path, for a connection that could not be opened.
  static func sqlite(
    _ status: Int32, _ connection: OpaquePointer?, at database: String? = nil, doing what: String
  ) -> StoreError {
    let words = connection.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(status))
    let (code, advice) = meaning(of: status) ?? systemMeaning(of: status, connection, at: database)
    if code == .corrupt { connection.map(DamageMark.leave) }
    return StoreError(code, "could not \(what): SQLite says \"\(words)\"; \(advice)")
  }

  /// Returns the error for a failed sync: the data is written, and every reader sees it.
  static func unsynced(errno error: Int32) -> StoreError {
    let (code, _) = meaning(ofSystemError: error)
    return StoreError(
      code,
      "could not sync the store to the disk: \(String(cString: strerror(error))); the changes can be read, but a "
        + "power loss may undo them: check the disk, and write durably or flush again")
  }

  /// Returns the meaning of a result code; nil if a system call failed, and its errno has the meaning.
  ///
  /// Only SQLITE_CORRUPT and SQLITE_NOTADB are damage (WholePages.h keeps errors of the disk apart). After any other
  /// error the store is unchanged, and nothing may be replaced.
  private static func meaning(of status: Int32) -> (Code, advice: String)? {
    if kept_sqlite_lacks_memory(status) != 0 {
      return (.failed, "not enough memory, and nothing was changed; free some memory and try again")
    }
    return switch status & 0xFF {
    // SQLITE_PROTOCOL: a writer was stopped at the instant when no reader can begin (SQLitePatience).
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL:
      (.busy, "another writer held the store until the timeout; try again")
    case SQLITE_CORRUPT, SQLITE_NOTADB:
      (.corrupt, "the database is damaged; close it everywhere and open it again to salvage the readable data")
    case SQLITE_FULL: meaning(ofSystemError: ENOSPC)
    case SQLITE_PERM, SQLITE_AUTH: meaning(ofSystemError: EACCES)
    case SQLITE_TOOBIG: (.tooLarge, "the value exceeds SQLite's own limit; store less under one key")
    // Only the limit on its work interrupts a statement.
    case SQLITE_INTERRUPT:
      (.unsupported, "the database is too complex to be one that Kept created; use another file")
    // SQLite opens a file for reading if it cannot open it for writing, whatever the reason.
    case SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_READONLY: nil
    default: (.failed, "nothing was changed; try again")
    }
  }

  private static func systemMeaning(
    of status: Int32, _ connection: OpaquePointer?, at database: String?
  ) -> (Code, advice: String) {
    // SQLite forgets why a write failed while it rolls back, and the file records no errors of calls without a file.
    let errors = connection.map { [kept_sqlite_take_reading($0).failure, sqlite3_system_errno($0)] } ?? []
    let meanings = errors.map { meaning(ofSystemError: $0) }
    let known = meanings.first { $0.0 != .unavailable }
    if let known, known.0 != .denied { return known }
    let opened = connection.flatMap { sqlite3_db_filename($0, "main") }
    guard let path = database ?? opened.flatMap({ String(validatingCString: $0) }) else {
      return known ?? meanings.last ?? meaning(ofSystemError: 0)
    }
    if let found = OpenFailure.file(of: path) ?? known { return found }
    // SQLITE_IOERR_SHORT_READ: the log ends before a commit that the shared memory names.
    if status == SQLITE_IOERR | 2 << 8 {
      return (
        .unavailable,
        "the file \(shown: PathWalk.name(of: path + "-wal")) was truncated, removed or replaced while the store was "
          + "open; close the store everywhere and open it again to salvage the readable data"
      )
    }
    return meaning(ofSystemError: OpenFailure.errno(around: path))
  }

  /// Returns what an errno means, and what the program can do.
  static func meaning(ofSystemError error: Int32) -> (Code, advice: String) {
    switch error {
    case ENOSPC, EDQUOT:
      (.noSpace, "the disk or the quota is full, and nothing was changed; free some space and try again")
    case EFBIG:
      (
        .noSpace,
        "this process is not allowed to write a file of this size (ulimit -f), and nothing was changed; raise that "
          + "limit and try again"
      )
    case EACCES, EPERM, EROFS:
      (.denied, "check who owns the store's folder, and whether it is writable")
    case ENOMEM:
      (.failed, "not enough memory, and nothing was changed; free some memory and try again")
    case EMFILE, ENFILE:
      (.unavailable, "too many files are open; close some or raise the limit, and try again")
    case ENOENT, ENOTDIR:
      (.unavailable, "the store's folder no longer exists; put it back, or open the store again to create a new one")
    default:
      (.unavailable, "check the disk and the store's path, and try again")
    }
  }
}
