// The state of a database and its log: how far the log reaches, by SQLite's wal-index, whether it is damaged or that of
// another database, and whether a page is missing in both.
#ifndef KEPT_LOG_INDEX_H
#define KEPT_LOG_INDEX_H

#include "WholePages.h"

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

/// The log; NULL if there is none. A rollback journal, which SQLite opens for a database that is empty, is not wrapped.
static inline sqlite3_file *kept_sqlite_log(sqlite3 *connection) {
  sqlite3_file *file = kept_sqlite_file(connection, SQLITE_FCNTL_JOURNAL_POINTER);
  int has_checksums;
  return file && file->pMethods->xFileControl(file, KEPT_HAS_CHECKSUMS, &has_checksums) == SQLITE_OK ? file : 0;
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

/// How far a log reaches.
struct kept_log_end {
  unsigned char salts[8]; // random, and different ones each time the log begins again
  uint32_t frames;        // all of them verified when the log was recovered, or were written since
};

/// How far the log of a connection reaches that has read in it; zeros if there is none.
static inline struct kept_log_end kept_sqlite_log_end(sqlite3 *connection) {
  sqlite3_file *database = kept_sqlite_database_file(connection);
  const volatile uint32_t *header = 0;
  struct kept_log_end end = { { 0 }, 0 };
  if (!database || !kept_sqlite_log(connection)) return end;
  if (kept_index_block(database, 0, &header) != SQLITE_OK || !header) return end;
  // It is there twice; while they differ, another process is writing it.
  uint32_t words[24];
  for (int i = 0; i < 24; i++) words[i] = header[i];
  if (memcmp(words, words + 12, 48) != 0) return end;
  end.frames = words[4];
  memcpy(end.salts, words + 8, 8);
  return end;
}

/// Whether the header of the log is damaged, so that SQLite takes the log for empty.
static inline int kept_sqlite_log_is_damaged(sqlite3 *connection) {
  sqlite3_file *log = kept_sqlite_log(connection);
  unsigned char header[KEPT_LOG_HEADER_BYTES], zeros[KEPT_LOG_HEADER_BYTES] = { 0 };
  if (!log || log->pMethods->xRead(log, header, sizeof header, 0) != SQLITE_OK) return 0;
  return memcmp(header, zeros, sizeof header) != 0 && !kept_log_header_verifies(header);
}

/// Whether a log with commits is that of another database: its pages have another size or salt. Only the first one is
/// looked at, because no database continues a log that another one has begun.
static inline int kept_sqlite_log_is_foreign(sqlite3 *connection, int *is_foreign) {
  sqlite3_file *database = kept_sqlite_database_file(connection);
  sqlite3_file *log = kept_sqlite_log(connection);
  *is_foreign = 0;
  if (!database || !log || kept_sqlite_log_end(connection).frames == 0) return SQLITE_OK;
  uint32_t page_size = kept_strict(database)->page_size;
  if (page_size == 0) return SQLITE_OK;
  unsigned char header[KEPT_LOG_HEADER_BYTES], reserved[KEPT_RESERVED_BYTES];
  int status = kept_read_bytes(log, header, sizeof header, 0);
  if (status != SQLITE_OK) return status;
  *is_foreign = kept_big_endian(header + 8) != page_size;
  if (*is_foreign) return SQLITE_OK;
  sqlite3_int64 end = KEPT_LOG_HEADER_BYTES + KEPT_FRAME_HEADER_BYTES + (sqlite3_int64)page_size;
  struct kept_salt *salt = &kept_strict(database)->salt;
  status = kept_read_bytes(log, reserved, sizeof reserved, end - KEPT_RESERVED_BYTES);
  if (status == SQLITE_OK) status = kept_learn_salt(database, page_size);
  if (status == SQLITE_OK && salt->is_known) *is_foreign = !kept_is_salt(kept_big_endian(reserved), salt);
  return status;
}

enum kept_pages { KEPT_PAGES_MISSING, KEPT_PAGES_WHOLE, KEPT_PAGES_UNCOUNTED };

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
  if (!kept_sqlite_log(connection)) return kept_file_has_pages(database, size, answer);
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
