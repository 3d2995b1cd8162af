// Pages that are not there. SQLite reads a page beyond the end of a cut-off database as zeros, and with a log beside it
// never compares the file's size with what it should be: these two refuse instead.
#ifndef KEPT_WHOLE_PAGES_H
#define KEPT_WHOLE_PAGES_H

#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/// A file's own methods with stricter ones in front; it goes when the file is closed.
struct kept_strict_methods {
  sqlite3_io_methods methods;
  const sqlite3_io_methods *plain;
};

static inline const sqlite3_io_methods *kept_plain_methods(sqlite3_file *file) {
  return ((const struct kept_strict_methods *)file->pMethods)->plain;
}

/// A part of a page is damage. What is shorter than the smallest page is a look at the header, also of an empty file.
static inline int kept_read_whole_page(sqlite3_file *file, void *page, int size, sqlite3_int64 offset) {
  int status = kept_plain_methods(file)->xRead(file, page, size, offset);
  return status == SQLITE_IOERR_SHORT_READ && size >= 512 ? SQLITE_CORRUPT : status;
}

static inline int kept_close_strict(sqlite3_file *file) {
  void *strict = (void *)file->pMethods;
  file->pMethods = kept_plain_methods(file);
  int status = file->pMethods->xClose(file);
  free(strict);
  return status;
}

static inline sqlite3_file *kept_sqlite_database_file(sqlite3 *connection) {
  sqlite3_file *file = 0;
  int status = sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  return status == SQLITE_OK && file && file->pMethods ? file : 0;
}

/// Whether the database file begins as SQLite's do; one that is empty does not.
static inline int kept_sqlite_has_header(sqlite3 *connection) {
  sqlite3_file *file = kept_sqlite_database_file(connection);
  char header[16];
  return file && file->pMethods->xRead(file, header, 16, 0) == SQLITE_OK
         && memcmp(header, "SQLite format 3", 16) == 0;
}

/// From now on this connection finds a page corrupt of which the database file has only a part, or nothing.
static inline int kept_sqlite_read_whole_pages(sqlite3 *connection) {
  sqlite3_file *file = kept_sqlite_database_file(connection);
  struct kept_strict_methods *strict = file ? (struct kept_strict_methods *)malloc(sizeof *strict) : 0;
  if (!strict) return SQLITE_NOMEM;
  strict->plain = file->pMethods;
  strict->methods = *file->pMethods;
  strict->methods.xRead = kept_read_whole_page;
  strict->methods.xClose = kept_close_strict;
  file->pMethods = &strict->methods;
  return SQLITE_OK;
}

// "WAL-Index File Format" in SQLite's documentation: blocks of 32 KiB, each with the page numbers of 4096 frames; in
// the first, the header stands in the place of 34 of them. Frames count from 1.
enum { KEPT_INDEX_BLOCK = 32768, KEPT_BLOCK_FRAMES = 4096, KEPT_INDEX_HEADER_WORDS = 34 };

/// A block of the wal-index that this connection, inside a transaction, has mapped already.
static inline const volatile uint32_t *kept_index_block(sqlite3_file *database, uint32_t block) {
  void volatile *start = 0;
  int status = database->pMethods->xShmMap(database, (int)block, KEPT_INDEX_BLOCK, 0, &start);
  return status == SQLITE_OK ? (const volatile uint32_t *)start : 0;
}

static inline int kept_sqlite_uses_log(sqlite3 *connection) {
  sqlite3_file *log = 0;
  return sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) == SQLITE_OK && log
         && log->pMethods;
}

/// Whether the log has all pages from `first` to `last`. No more is looked at than 4 bytes for each frame.
static inline int kept_log_has_pages(sqlite3_file *database, uint32_t frames, uint32_t page_size, uint32_t first,
                                     uint32_t last) {
  // SQLite locks the byte at 1 GiB, and writes the page around it nowhere.
  uint32_t locked = 0x40000000 / page_size + 1, missing = last - first + 1 - (first <= locked && locked <= last);
  if (missing > frames) return 0;
  unsigned char *found = (unsigned char *)calloc((size_t)missing + 1, 1);
  if (!found) return 1;
  const volatile uint32_t *block = 0;
  for (uint32_t frame = 0; frame < frames && missing > 0; frame++) {
    uint32_t word = frame + KEPT_INDEX_HEADER_WORDS;
    if (!block || word % KEPT_BLOCK_FRAMES == 0) block = kept_index_block(database, word / KEPT_BLOCK_FRAMES);
    if (!block) break;
    uint32_t page = block[word % KEPT_BLOCK_FRAMES];
    if (page < first || page > last || page == locked || found[page - first]) continue;
    found[page - first] = 1;
    missing--;
  }
  free(found);
  return missing == 0;
}

/// The size of a page as two bytes hold it, 1 standing for 64 KiB; 0 where it is none.
static inline uint32_t kept_page_size(uint32_t stored) {
  if (stored == 1) return 65536;
  return stored >= 512 && (stored & (stored - 1)) == 0 ? stored : 0;
}

/// Whether the database file holds `pages` whole pages, or the log those that it lacks. Call it inside a transaction,
/// with the number of pages that this one counts. Without a log there must not be more either: then the count is wrong,
/// and the next new page would go over one in use.
static inline int kept_sqlite_has_pages(sqlite3 *connection, sqlite3_int64 pages) {
  sqlite3_file *database = kept_sqlite_database_file(connection);
  sqlite3_int64 size = 0;
  if (!database || database->pMethods->xFileSize(database, &size) != SQLITE_OK) return 1;
  if (kept_sqlite_uses_log(connection)) {
    const volatile uint32_t *header = kept_index_block(database, 0);
    // None: in a read-only folder SQLite may keep the index of the log to itself.
    if (!header) return 1;
    uint32_t frames = header[4], page_size = kept_page_size(((const volatile uint16_t *)header)[7]);
    if (frames > 0) {
      if (page_size == 0 || pages > UINT32_MAX - 1) return 0;
      sqlite3_int64 whole = size / page_size;
      return whole >= pages || kept_log_has_pages(database, frames, page_size, (uint32_t)whole + 1, (uint32_t)pages);
    }
  }
  unsigned char bytes[2] = {0, 0};
  if (database->pMethods->xRead(database, bytes, 2, 16) != SQLITE_OK) return 0;
  return size == pages * kept_page_size((uint32_t)(bytes[0] << 8 | bytes[1]));
}

#endif
