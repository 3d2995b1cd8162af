// What SQLite's result codes mean to a program that uses Kept, and what the program can do.

import CPlatform
import CSQLite

extension StoreError {
  /// Returns the error for a result code, with SQLite's message and advice.
  ///
  /// - Parameter database: the path, for a connection that could not be opened.
  static func sqlite(
    _ status: Int32, _ connection: OpaquePointer?, at database: String? = nil, doing what: String
  ) -> StoreError {
    let words = connection.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(status))
    let (code, advice) = meaning(of: status) ?? systemMeaning(connection, at: database)
    if code == .corrupt { connection.map(DamageMark.leave) }
    return StoreError(code, "could not \(what): SQLite says \"\(words)\"; \(advice)")
  }

  /// Returns the error for a failed sync: the data is written, and every reader sees it.
  static func unsynced(errno error: Int32) -> StoreError {
    let (code, _) = meaning(ofSystemError: error)
    return StoreError(
      code,
      "could not sync the store to the disk: \(String(cString: strerror(error))); what was written can be read, but a "
        + "power loss may take it: check the disk, and write durably or flush again")
  }

  /// Returns the meaning of a result code; nil if a system call failed, and its errno has the meaning.
  ///
  /// Only SQLITE_CORRUPT and SQLITE_NOTADB are damage (WholePages.h keeps errors of the disk apart). After any other
  /// error the store is unchanged, and nothing may be replaced.
  private static func meaning(of status: Int32) -> (Code, advice: String)? {
    if kept_sqlite_lacks_memory(status) != 0 {
      return (.failed, "there is no memory for it; free some, nothing was changed")
    }
    return switch status & 0xFF {
    // SQLITE_PROTOCOL: a writer was stopped in the instant in which no reader can begin (SQLitePatience).
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL:
      (.busy, "another writer held the store for longer than the time-out; try again")
    case SQLITE_CORRUPT, SQLITE_NOTADB:
      (.corrupt, "the database is damaged; close it everywhere and open it again, and what can be read is salvaged")
    case SQLITE_FULL: meaning(ofSystemError: ENOSPC)
    case SQLITE_PERM, SQLITE_AUTH: meaning(ofSystemError: EACCES)
    case SQLITE_TOOBIG: (.tooLarge, "the value is over SQLite's own limit; store less under one key")
    // Only the limit on its work interrupts a statement.
    case SQLITE_INTERRUPT:
      (.unsupported, "reading it takes more work than Kept's own databases do; it was not made by Kept, give another")
    // SQLite opens a file for reading if it cannot open it for writing, whatever the reason.
    case SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_READONLY: nil
    default: (.failed, "nothing was changed; try again")
    }
  }

  private static func systemMeaning(_ connection: OpaquePointer?, at database: String?) -> (Code, advice: String) {
    // SQLite forgets why a write failed while it rolls back, and the file records no errors of calls without a file.
    let errors = connection.map { [kept_sqlite_take_reading($0).failure, sqlite3_system_errno($0)] } ?? []
    let meanings = errors.map { meaning(ofSystemError: $0) }
    if let known = meanings.first(where: { $0.0 != .unavailable }) { return known }
    let known = meanings.last ?? meaning(ofSystemError: 0)
    let opened = connection.flatMap { sqlite3_db_filename($0, "main") }
    let path = database ?? opened.flatMap { String(validatingCString: $0) }
    return path.map { meaning(ofSystemError: OpenFailure.errno(around: $0)) } ?? known
  }

  /// Returns what an errno means, and what the program can do.
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
