// What SQLite's result codes mean to a program that uses Kept, and what it can do about them.

import CPlatform
import CSQLite

extension StoreError {
  /// The error for a result code, with SQLite's own words and an advice.
  static func sqlite(_ status: Int32, _ connection: OpaquePointer?, doing what: String) -> StoreError {
    let words = connection.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(status))
    let systemError = connection.map(sqlite3_system_errno) ?? 0
    let (code, advice) = meaning(of: status & 0xFF, systemError: systemError)
    if code == .corrupt { connection.map(DamageMark.leave) }
    return StoreError(code, "could not \(what): SQLite says \"\(words)\"; \(advice)")
  }

  private static func meaning(of status: Int32, systemError: Int32) -> (Code, advice: String) {
    switch status {
    // The last one: a writer was stopped in the instant in which nobody can begin to read (SQLitePatience).
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL:
      (.busy, "another writer held the store for longer than the time-out; try again")
    case SQLITE_FULL:
      (.noSpace, "the disk is full; free some space, nothing was changed")
    case SQLITE_CORRUPT, SQLITE_NOTADB:
      (.corrupt, "the database is damaged; close it everywhere and open it again, and what can be read is salvaged")
    case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH:
      (.denied, "check who owns the store's folder and whether it may be written")
    case SQLITE_TOOBIG:
      (.tooLarge, "the value is over SQLite's own limit")
    case SQLITE_IOERR, SQLITE_CANTOPEN:
      meaning(ofSystemError: systemError)
    default:
      (.failed, "nothing was changed")
    }
  }

  private static func meaning(ofSystemError error: Int32) -> (Code, advice: String) {
    switch error {
    case ENOSPC, EDQUOT: (.noSpace, "the disk or the quota is full; free some space, nothing was changed")
    case EACCES, EPERM, EROFS: (.denied, "check who owns the store's folder and whether it may be written")
    default: (.unavailable, "the store's folder cannot be reached now; check the disk and the path")
    }
  }
}
