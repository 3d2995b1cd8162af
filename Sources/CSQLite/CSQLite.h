// The system's SQLite, and the few parts of its API that Swift cannot express: variadic functions and the
// SQLITE_TRANSIENT cast.
#ifndef KEPT_CSQLITE_H
#define KEPT_CSQLITE_H

#include <sqlite3.h>

#include "LogIndex.h"
#include "StrictVFS.h"

/// Switches a SQLITE_DBCONFIG_… option on or off.
static inline int kept_sqlite_configure(sqlite3 *connection, int option, int on) {
  return sqlite3_db_config(connection, option, on, (int *)0);
}

// SQLite treats a NULL address as a NULL value, even if the length is 0, so empty text and bytes need a non-NULL
// address.

/// Binds text; SQLite copies it.
static inline int kept_sqlite_bind_text(sqlite3_stmt *statement, int index, const void *text, sqlite3_uint64 length) {
  return sqlite3_bind_text64(statement, index, text ? (const char *)text : "", length, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/// Binds text that must stay valid while the statement may use it; SQLite does not copy it.
static inline int kept_sqlite_bind_lent_text(
  sqlite3_stmt *statement, int index, const void *text, sqlite3_uint64 length) {
  return sqlite3_bind_text64(statement, index, text ? (const char *)text : "", length, SQLITE_STATIC, SQLITE_UTF8);
}

/// Binds bytes that must stay valid while the statement may use them; SQLite does not copy them.
static inline int kept_sqlite_bind_lent_bytes(
  sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 length) {
  return sqlite3_bind_blob64(statement, index, bytes ? bytes : "", length, SQLITE_STATIC);
}

/// Binds bytes; SQLite copies them.
static inline int kept_sqlite_bind_bytes(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 length) {
  return sqlite3_bind_blob64(statement, index, bytes ? bytes : "", length, SQLITE_TRANSIENT);
}

/// A number that changes with every commit, of this connection or another, that a transaction of this connection sees;
/// 0 if it is not available.
static inline unsigned kept_sqlite_data_version(sqlite3 *connection) {
  unsigned version = 0;
  return sqlite3_file_control(connection, "main", SQLITE_FCNTL_DATA_VERSION, &version) == SQLITE_OK ? version : 0;
}

/// Whether a result code means a lack of memory: some of these are named I/O errors.
static inline int kept_sqlite_lacks_memory(int status) {
  return (status & 0xFF) == SQLITE_NOMEM || status == SQLITE_IOERR_NOMEM;
}

static inline int kept_sqlite_stop(void *unused) {
  (void)unused;
  return 1;
}

/// Limits later statements to a number of virtual machine steps, after which they end with SQLITE_INTERRUPT; 0 for no
/// limit.
static inline void kept_sqlite_limit_work(sqlite3 *connection, int steps) {
  sqlite3_progress_handler(connection, steps, steps > 0 ? kept_sqlite_stop : (int (*)(void *))0, (void *)0);
}

/// Whether the path of the database now leads to another file, or to none.
static inline int kept_sqlite_has_moved(sqlite3 *connection) {
  int moved = 0;
  return sqlite3_file_control(connection, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && moved;
}

/// Syncs the write-ahead log, with everything committed into it so far.
static inline int kept_sqlite_sync_log(sqlite3 *connection) {
  sqlite3_file *log = 0;
  int status = sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (status != SQLITE_OK) return status;
  // No methods: the log was not opened yet, so it is empty.
  if (!log || !log->pMethods) return SQLITE_OK;
  return log->pMethods->xSync(log, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
}

#endif
