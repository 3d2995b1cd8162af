// Detects missing pages, and distinguishes them from pages that cannot be read now. SQLite reads a page beyond the end
// of a truncated database as zeros, and with a log it never compares the file's size with the expected size: that is
// refused here. SQLite also reports some disk errors as corruption: here they stay disk errors.
#ifndef KEPT_WHOLE_PAGES_H
#define KEPT_WHOLE_PAGES_H

#include <errno.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/// The results of reading and writing a file since they were last taken.
struct kept_reading {
  int failure;   // the errno of the last failed call, which is not damage; 0: none
  int found_cut; // whether a page was missing or incomplete,
};

/// A custom file control that takes a kept_reading.
enum { KEPT_TAKE_READING = 0x4B657074 };

/// A file's own methods, wrapped by stricter ones; freed when the file is closed.
struct kept_strict_methods {
  sqlite3_io_methods methods;
  const sqlite3_io_methods *plain;
  int must_be_whole; // a missing or incomplete page is damage
  struct kept_reading reading;
};

static inline struct kept_strict_methods *kept_strict(sqlite3_file *file) {
  return (struct kept_strict_methods *)file->pMethods;
}

static inline const sqlite3_io_methods *kept_plain_methods(sqlite3_file *file) { return kept_strict(file)->plain; }

static inline void kept_note_failure(sqlite3_file *file) {
  int error = 0;
  kept_plain_methods(file)->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &error);
  kept_strict(file)->reading.failure = error ? error : EIO;
}

/// An incomplete page is damage. A read of less than the smallest page is a read of the header, possibly of an empty
/// file. A disk error means that nothing is lost yet; SQLite would report some of these errors as corruption.
static inline int kept_read_whole_page(sqlite3_file *file, void *page, int size, sqlite3_int64 offset) {
  struct kept_strict_methods *strict = kept_strict(file);
  int status = strict->plain->xRead(file, page, size, offset);
  if (status == SQLITE_OK) return status;
  if (status == SQLITE_IOERR_SHORT_READ) {
    if (!strict->must_be_whole || size < 512) return status;
    strict->reading.found_cut = 1;
    return SQLITE_CORRUPT;
  }
  kept_note_failure(file);
  return SQLITE_IOERR_READ;
}

/// SQLite makes further calls to undo a failed write, after which it no longer has the reason.
static inline int kept_write_noting(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset) {
  int status = kept_plain_methods(file)->xWrite(file, bytes, size, offset);
  if (status != SQLITE_OK && status != SQLITE_FULL) kept_note_failure(file);
  return status;
}

static inline int kept_control_strict(sqlite3_file *file, int what, void *argument) {
  struct kept_strict_methods *strict = kept_strict(file);
  if (what != KEPT_TAKE_READING) return strict->plain->xFileControl(file, what, argument);
  struct kept_reading none = { 0, 0 };
  *(struct kept_reading *)argument = strict->reading;
  strict->reading = none;
  return SQLITE_OK;
}

static inline int kept_close_strict(sqlite3_file *file) {
  void *strict = (void *)file->pMethods;
  file->pMethods = kept_plain_methods(file);
  int status = file->pMethods->xClose(file);
  free(strict);
  return status;
}

/// Installs the strict methods above in this file.
static inline int kept_make_strict(sqlite3_file *file, int must_be_whole) {
  struct kept_strict_methods *strict = (struct kept_strict_methods *)malloc(sizeof *strict);
  if (!strict) return SQLITE_NOMEM;
  memset(strict, 0, sizeof *strict);
  strict->plain = file->pMethods;
  strict->must_be_whole = must_be_whole;
  strict->methods = *file->pMethods;
  strict->methods.xRead = kept_read_whole_page;
  strict->methods.xWrite = kept_write_noting;
  strict->methods.xFileControl = kept_control_strict;
  strict->methods.xClose = kept_close_strict;
  file->pMethods = &strict->methods;
  return SQLITE_OK;
}

/// SQLite's VFS with another sleep function, which opens databases and logs with the strict methods.
struct kept_vfs {
  sqlite3_vfs vfs;
  sqlite3_vfs *usual;
};

static inline int kept_open_strictly(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out) {
  int status = ((struct kept_vfs *)vfs)->usual->xOpen(vfs, name, file, flags, out);
  if (status != SQLITE_OK || !(flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL))) return status;
  // A database that is being created has pages that were never written.
  int must_be_whole = (flags & SQLITE_OPEN_MAIN_DB) && !(flags & SQLITE_OPEN_CREATE);
  if (kept_make_strict(file, must_be_whole) == SQLITE_OK) return SQLITE_OK;
  file->pMethods->xClose(file);
  file->pMethods = 0;
  return SQLITE_NOMEM;
}

static inline sqlite3_file *kept_sqlite_file(sqlite3 *connection, int which) {
  sqlite3_file *file = 0;
  int status = sqlite3_file_control(connection, "main", which, &file);
  return status == SQLITE_OK && file && file->pMethods ? file : 0;
}

static inline sqlite3_file *kept_sqlite_database_file(sqlite3 *connection) {
  return kept_sqlite_file(connection, SQLITE_FCNTL_FILE_POINTER);
}

/// Whether the database file begins with SQLite's header; an empty file does not.
static inline int kept_sqlite_has_header(sqlite3 *connection) {
  sqlite3_file *file = kept_sqlite_database_file(connection);
  char header[16];
  return file && file->pMethods->xRead(file, header, 16, 0) == SQLITE_OK && memcmp(header, "SQLite format 3", 16) == 0;
}

/// Takes the results of reading and writing the database and its log since they were last taken.
static inline struct kept_reading kept_sqlite_take_reading(sqlite3 *connection) {
  struct kept_reading both = { 0, 0 }, one = { 0, 0 };
  int files[] = { SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER };
  for (int i = 0; i < 2; i++) {
    sqlite3_file *file = kept_sqlite_file(connection, files[i]);
    if (!file || file->pMethods->xFileControl(file, KEPT_TAKE_READING, &one) != SQLITE_OK) continue;
    if (one.failure) both.failure = one.failure;
    both.found_cut |= one.found_cut;
  }
  return both;
}

/// Makes this connection report a page as corrupt if it is missing or incomplete in the database file; for a connection
/// with another VFS.
static inline int kept_sqlite_read_whole_pages(sqlite3 *connection) {
  sqlite3_file *file = kept_sqlite_database_file(connection);
  return file ? kept_make_strict(file, 1) : SQLITE_CANTOPEN;
}

// "WAL-Index File Format" in SQLite's documentation: blocks of 32 KiB, each with the page numbers of 4096 frames; in
// the first block, the header takes the place of 34 of them. Frames are numbered from 1.
enum { KEPT_INDEX_BLOCK = 32768, KEPT_BLOCK_FRAMES = 4096, KEPT_INDEX_HEADER_WORDS = 34 };

/// A block of the wal-index that this connection, inside a transaction, has already mapped; NULL if there is none.
static inline int kept_index_block(sqlite3_file *database, uint32_t block, const volatile uint32_t **start) {
  void volatile *mapped = 0;
  int status = database->pMethods->xShmMap(database, (int)block, KEPT_INDEX_BLOCK, 0, &mapped);
  *start = (const volatile uint32_t *)mapped;
  // In a read-only folder SQLite may keep the wal-index in private memory.
  return (status & 0xFF) == SQLITE_READONLY ? SQLITE_OK : status;
}

static inline int kept_sqlite_uses_log(sqlite3 *connection) {
  return kept_sqlite_file(connection, SQLITE_FCNTL_JOURNAL_POINTER) != 0;
}

/// Whether the log has all pages from `first` to `last`. It reads only 4 bytes for each frame.
static inline int kept_log_has_pages(
  sqlite3_file *database, uint32_t frames, uint32_t page_size, uint32_t first, uint32_t last, int *has) {
  // SQLite locks the byte at 1 GiB, and never writes the page that contains it.
  uint32_t locked = 0x40000000 / page_size + 1, missing = last - first + 1 - (first <= locked && locked <= last);
  *has = 0;
  if (missing > frames) return SQLITE_OK;
  unsigned char *found = (unsigned char *)malloc((size_t)missing + 1);
  if (!found) return SQLITE_NOMEM;
  memset(found, 0, (size_t)missing + 1);
  int status = SQLITE_OK;
  const volatile uint32_t *block = 0;
  for (uint32_t frame = 0; frame < frames && missing > 0; frame++) {
    uint32_t word = frame + KEPT_INDEX_HEADER_WORDS;
    if (!block || word % KEPT_BLOCK_FRAMES == 0) {
      status = kept_index_block(database, word / KEPT_BLOCK_FRAMES, &block);
      if (status == SQLITE_OK && !block) status = SQLITE_IOERR_SHMMAP;
      if (status != SQLITE_OK) break;
    }
    uint32_t page = block[word % KEPT_BLOCK_FRAMES];
    if (page < first || page > last || page == locked || found[page - first]) continue;
    found[page - first] = 1;
    missing--;
  }
  free(found);
  *has = missing == 0;
  return status;
}

/// The page size from its two-byte form, in which 1 stands for 64 KiB; 0 if it is invalid.
static inline uint32_t kept_page_size(uint32_t stored) {
  if (stored == 1) return 65536;
  return stored >= 512 && (stored & (stored - 1)) == 0 ? stored : 0;
}

enum kept_pages { KEPT_PAGES_MISSING, KEPT_PAGES_WHOLE, KEPT_PAGES_UNCOUNTED };

static inline uint32_t kept_big_endian(const unsigned char *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/// Without a log, the file must have the number of pages in its header. With more pages, the next new page would
/// overwrite one in use.
static inline int kept_file_has_pages(sqlite3_file *database, sqlite3_int64 size, enum kept_pages *answer) {
  // "The Database Header" in SQLite's documentation.
  unsigned char header[100];
  int status = database->pMethods->xRead(database, header, sizeof header, 0);
  if (status != SQLITE_OK) return status == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : status;
  uint32_t page_size = kept_page_size((uint32_t)(header[16] << 8 | header[17])), pages = kept_big_endian(header + 28);
  if (page_size == 0) return SQLITE_OK;
  // Some programs do not maintain the number: then the file length determines it.
  int counts = pages > 0 && memcmp(header + 24, header + 92, 4) == 0;
  int is_whole = counts ? size == (sqlite3_int64)pages * page_size : size % page_size == 0;
  if (is_whole) *answer = KEPT_PAGES_WHOLE;
  return SQLITE_OK;
}

/// Whether the database file has `pages` complete pages, or the log has those that are missing. Call it inside a
/// transaction, with the number of pages of that transaction; first with -1, because the number is needed only if there
/// is a log. Returns an SQLite result code if this cannot be determined.
static inline int kept_sqlite_has_pages(sqlite3 *connection, sqlite3_int64 pages, enum kept_pages *answer) {
  sqlite3_file *database = kept_sqlite_database_file(connection);
  sqlite3_int64 size = 0;
  *answer = KEPT_PAGES_MISSING;
  if (!database) return SQLITE_CANTOPEN;
  int status = database->pMethods->xFileSize(database, &size);
  if (status != SQLITE_OK) return status;
  if (!kept_sqlite_uses_log(connection)) return kept_file_has_pages(database, size, answer);
  const volatile uint32_t *header = 0;
  status = kept_index_block(database, 0, &header);
  if (status != SQLITE_OK) return status;
  if (!header) {
    *answer = KEPT_PAGES_WHOLE;
    return SQLITE_OK;
  }
  uint32_t frames = header[4], page_size = kept_page_size(((const volatile uint16_t *)header)[7]);
  if (frames == 0) return kept_file_has_pages(database, size, answer);
  if (pages < 0) {
    *answer = KEPT_PAGES_UNCOUNTED;
    return SQLITE_OK;
  }
  if (page_size == 0 || pages > UINT32_MAX - 1) return SQLITE_OK;
  sqlite3_int64 whole = size / page_size;
  int has = 1;
  if (whole < pages)
    status = kept_log_has_pages(database, frames, page_size, (uint32_t)whole + 1, (uint32_t)pages, &has);
  if (has) *answer = KEPT_PAGES_WHOLE;
  return status;
}

#endif
