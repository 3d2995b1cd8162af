// The system's SQLite, and the few calls of it that Swift cannot spell: variadic functions and the SQLITE_TRANSIENT
// cast.
#ifndef KEPT_CSQLITE_H
#define KEPT_CSQLITE_H

#include <sqlite3.h>

#include "WholePages.h"

/// Switches one of SQLITE_DBCONFIG_… on or off.
static inline int kept_sqlite_configure(sqlite3 *connection, int option, int on) {
  return sqlite3_db_config(connection, option, on, (int *)0);
}

// SQLite takes a NULL address for a NULL value, also where the length is 0: empty text and bytes need some address.

/// Binds text; SQLite copies it.
static inline int kept_sqlite_bind_text(sqlite3_stmt *statement, int index, const void *text, sqlite3_uint64 length) {
  return sqlite3_bind_text64(statement, index, text ? (const char *)text : "", length, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/// Binds text that stays where it is for as long as the statement may use it; SQLite does not copy it.
static inline int kept_sqlite_bind_lent_text(
    sqlite3_stmt *statement, int index, const void *text, sqlite3_uint64 length) {
  return sqlite3_bind_text64(statement, index, text ? (const char *)text : "", length, SQLITE_STATIC, SQLITE_UTF8);
}

/// The same for bytes.
static inline int kept_sqlite_bind_lent_bytes(
    sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 length) {
  return sqlite3_bind_blob64(statement, index, bytes ? bytes : "", length, SQLITE_STATIC);
}

/// Binds bytes; SQLite copies them.
static inline int kept_sqlite_bind_bytes(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 length) {
  return sqlite3_bind_blob64(statement, index, bytes ? bytes : "", length, SQLITE_TRANSIENT);
}

/// A number that moves with every commit, of this connection or another, that a transaction of this one sees; 0 if it
/// cannot be had.
static inline unsigned kept_sqlite_data_version(sqlite3 *connection) {
  unsigned version = 0;
  return sqlite3_file_control(connection, "main", SQLITE_FCNTL_DATA_VERSION, &version) == SQLITE_OK ? version : 0;
}

/// Whether a result code says that there is no memory: some name it an error of input and output.
static inline int kept_sqlite_lacks_memory(int status) {
  return (status & 0xFF) == SQLITE_NOMEM || status == SQLITE_IOERR_NOMEM;
}

static inline int kept_sqlite_stop(void *unused) {
  (void)unused;
  return 1;
}

/// From now on a statement that takes more than so many steps of SQLite's machine ends with SQLITE_INTERRUPT; 0: none.
static inline void kept_sqlite_limit_work(sqlite3 *connection, int steps) {
  sqlite3_progress_handler(connection, steps, steps > 0 ? kept_sqlite_stop : (int (*)(void *))0, (void *)0);
}

/// Whether the path of the database leads to another file by now, or to none.
static inline int kept_sqlite_has_moved(sqlite3 *connection) {
  int moved = 0;
  return sqlite3_file_control(connection, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved;
}

/// Syncs the write-ahead log, with everything committed into it so far.
static inline int kept_sqlite_sync_log(sqlite3 *connection) {
  sqlite3_file *log = 0;
  int status = sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (status != SQLITE_OK) return status;
  // No methods: the log was not opened yet, so there is nothing in it.
  if (!log || !log->pMethods) return SQLITE_OK;
  return log->pMethods->xSync(log, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
}

#endif
